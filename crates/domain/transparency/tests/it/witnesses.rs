use ambit_ids::Digest;
use ambit_transparency::key::SignatureKind;
use ambit_transparency::merkle::{consistency_proof, empty_root};
use ambit_transparency::note::Note;
use ambit_transparency::witness::{
    AddCheckpoint, Answer, REQUEST_BYTES, RequestError, Seen, WatchedLog, decide,
};

use crate::naive::{self, Stored, leaves, store};
use crate::signers::{ORIGIN, checkpoint, log, private, witness};

fn watched() -> Vec<WatchedLog> {
    vec![WatchedLog { origin: ORIGIN.parse().unwrap(), keys: vec![log().key] }]
}

fn root(size: u64) -> Digest {
    naive::mth(&leaves(usize::try_from(size).unwrap()))
}

fn seen(size: u64) -> Option<Seen> {
    Some(Seen { size, root: root(size) })
}

fn hashes() -> Stored {
    store(&leaves(50)).1
}

fn request(old: u64, new: u64) -> AddCheckpoint {
    let proof =
        if old == 0 { Vec::new() } else { consistency_proof(old, new, &hashes()).unwrap_or_default() };
    of(old, proof, new, root(new))
}

fn of(old: u64, proof: Vec<Digest>, size: u64, root: Digest) -> AddCheckpoint {
    let checkpoint = checkpoint(size, root);
    // A log that misbehaves signs what ours would not write.
    let text = checkpoint
        .to_text()
        .unwrap_or_else(|_| format!("{ORIGIN}\n0\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"));
    let request = AddCheckpoint { old, proof, note: log().note(&text), checkpoint };
    AddCheckpoint::parse(request.to_text().as_bytes()).unwrap()
}

fn answer(last: Option<Seen>, request: &AddCheckpoint) -> (u16, &'static str) {
    let answer = decide(&watched(), last, request);
    (answer.status(), answer.code())
}

#[test]
fn a_log_that_only_grows_is_cosigned_step_by_step() {
    let mut last = None;
    for (old, new) in [(0, 0), (0, 1), (1, 1), (1, 7), (7, 8), (8, 33), (33, 50)] {
        let request = request(old, new);
        assert_eq!(AddCheckpoint::parse(request.to_text().as_bytes()).unwrap(), request);
        let Answer::Cosign { next } = decide(&watched(), last, &request) else {
            panic!("{old} to {new}: {:?}", decide(&watched(), last, &request))
        };
        assert_eq!(Some(next), seen(new));
        last = Some(next);
        let cosigned = request.note.and(witness(4).cosign(request.note.text(), 77)).unwrap();
        let keys = [log().key, witness(4).key];
        assert_eq!(cosigned.verify(&keys).unwrap().signed.len(), 2);
    }
}

#[test]
fn every_answer_of_the_protocol_is_given() {
    let zero = Digest::from_bytes([0; 32]);
    let forked = of(7, request(7, 8).proof, 8, naive::leaf(1));
    let conflict = (409, "WITNESS_CONFLICT");
    let inconsistent = (422, "WITNESS_INCONSISTENT");
    let beyond = (400, "WITNESS_OLD_SIZE_BEYOND");
    let table = [
        (seen(7), request(7, 8), (200, "WITNESS_COSIGN")),
        (seen(7), forked, inconsistent),
        (seen(8), request(7, 8), conflict),
        (seen(50), request(7, 8), conflict),
        (None, request(7, 8), conflict),
        (seen(7), request(0, 8), conflict),
        (seen(8), of(8, Vec::new(), 7, root(7)), beyond),
        (None, of(8, Vec::new(), 7, root(7)), beyond),
        (None, of(u64::MAX, Vec::new(), 0, empty_root()), beyond),
        (None, of(0, Vec::new(), 0, zero), inconsistent),
        (None, of(0, vec![root(1)], 1, root(1)), inconsistent),
        (seen(7), of(7, Vec::new(), 8, root(8)), inconsistent),
        (seen(7), of(7, Vec::new(), 7, root(8)), inconsistent),
        (seen(7), of(7, vec![root(7)], 7, root(7)), inconsistent),
        (seen(7), of(7, vec![zero; 63], u64::MAX, zero), inconsistent),
        (Some(Seen { size: 7, root: zero }), request(7, 8), inconsistent),
    ];
    for (at, (last, request, expected)) in table.iter().enumerate() {
        assert_eq!(answer(*last, request), *expected, "line {at}");
    }
    assert_eq!(decide(&watched(), seen(8), &request(7, 8)), Answer::Conflict { seen: 8 });
}

#[test]
fn an_unknown_log_and_a_wrong_signature_come_first() {
    let good = request(7, 8);
    assert_eq!(decide(&[], seen(7), &good), Answer::UnknownLog);
    let text = good.note.text();
    let stranger = private(ORIGIN, SignatureKind::Ed25519, 9);
    let by_stranger = AddCheckpoint { note: stranger.note(text), ..good.clone() };
    assert_eq!(answer(seen(7), &by_stranger), (403, "WITNESS_NOT_SIGNED"));
    let line = log().sign("another\n");
    let failing = AddCheckpoint { note: good.note.and(line).unwrap(), ..good.clone() };
    assert_eq!(answer(seen(7), &failing), (403, "WITNESS_NOT_SIGNED"), "one of two fails");
    let too_old = AddCheckpoint { old: 9, note: stranger.note(text), ..good.clone() };
    assert_eq!(answer(seen(7), &too_old).0, 403);
    let both = AddCheckpoint { note: good.note.and(stranger.sign(text)).unwrap(), ..good };
    assert_eq!(answer(seen(7), &both).0, 200, "a stranger's is passed over");
}

#[test]
fn a_request_has_one_spelling() {
    let good = request(7, 8).to_text();
    assert!(AddCheckpoint::parse(good.as_bytes()).is_ok());
    let form = |line| RequestError::Form { line };
    for (wrong, error) in [
        (String::new(), form(1)),
        (good.replace("old 7", "old 07"), form(1)),
        (good.replace("old 7", "old  7"), form(1)),
        (good.replace("old 7", "Old 7"), form(1)),
        (good.replace("old 7", "old -7"), form(1)),
        (good.replace("old 7", "old 18446744073709551616"), form(1)),
        (good.replace("old 7\n", "old 7\nAAAA\n"), form(2)),
        (good.replacen('\n', "\r\n", 1), form(1)),
        (good.replacen('\n', " \n", 1), form(1)),
        (format!("\n{good}"), form(1)),
    ] {
        assert_eq!(AddCheckpoint::parse(wrong.as_bytes()), Err(error), "{wrong:?}");
    }
    let hash = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
    let hashes = |count: usize| good.replace("old 7\n", &format!("old 7\n{}", hash.repeat(count)));
    assert!(AddCheckpoint::parse(hashes(59).as_bytes()).is_ok());
    assert_eq!(AddCheckpoint::parse(hashes(64).as_bytes()), Err(RequestError::TooManyHashes));
    assert_eq!(AddCheckpoint::parse(&vec![b'o'; REQUEST_BYTES + 1]), Err(RequestError::TooLarge));
    let no_checkpoint = format!("old 0\n\n{}", log().note("text\n"));
    assert_eq!(AddCheckpoint::parse(no_checkpoint.as_bytes()).unwrap_err().code(), "CHECKPOINT_FORM");
    let no_note = AddCheckpoint::parse(b"old 0\n\ntext\n").unwrap_err();
    assert_eq!(no_note.code(), "NOTE_FORM");
    let extended = format!("{}more\n", request(0, 8).note.text());
    let extended =
        AddCheckpoint { note: Note::new(&extended, vec![log().sign(&extended)]).unwrap(), ..request(0, 8) };
    let read = AddCheckpoint::parse(extended.to_text().as_bytes()).unwrap();
    assert_eq!(answer(None, &read).0, 200, "what is said behind the root is the log's own affair");
}
