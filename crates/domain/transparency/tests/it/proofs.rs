use std::sync::LazyLock;

use ambit_ids::Digest;
use ambit_transparency::key::{SignatureKind, VerifierKey};
use ambit_transparency::merkle::inclusion_proof;
use ambit_transparency::note::Note;
use ambit_transparency::proof::{EXTRA_BYTES, LogProof, PROOF_BYTES, PolicyError, ProofPolicy};
use proptest::prelude::*;

use crate::naive::{self, leaves, store};
use crate::signers::{ORIGIN, checkpoint, log, private, witness};

const SIZE: u64 = 21;

fn note() -> Note {
    let text = checkpoint(SIZE, naive::mth(&leaves(21))).to_text().unwrap();
    log().note(&text).and(witness(5).cosign(&text, 100)).unwrap().and(witness(6).cosign(&text, 200)).unwrap()
}

fn proof(index: u64) -> LogProof {
    let (_, stored) = store(&leaves(21));
    let hashes = inclusion_proof(index, SIZE, &stored).unwrap();
    LogProof { extra: None, index, hashes, checkpoint: note() }
}

fn policy(witnesses: &[u8], quorum: usize) -> Result<ProofPolicy, PolicyError> {
    let witnesses: Vec<VerifierKey> = witnesses.iter().map(|seed| witness(*seed).key).collect();
    ProofPolicy::new(ORIGIN.parse().unwrap(), &[log().key], &witnesses, quorum)
}

fn judged(proof: &LogProof, leaf: Digest, policy: &ProofPolicy) -> Result<usize, &'static str> {
    proof.verify(leaf, policy).map(|proved| proved.witnesses.len()).map_err(|error| error.code())
}

#[test]
fn a_proof_is_one_file_that_stands_alone() {
    for index in 0..SIZE {
        let written = LogProof { extra: Some(b"more".to_vec()), ..proof(index) };
        let text = written.to_text().unwrap();
        assert!(text.starts_with("c2sp.org/tlog-proof@v1\nextra bW9yZQ==\nindex "));
        let read = LogProof::parse(text.as_bytes()).unwrap();
        assert_eq!(read, written);
        let leaf = naive::leaf(usize::try_from(index).unwrap());
        let proved = read.verify(leaf, &policy(&[5, 6, 7], 2).unwrap()).unwrap();
        assert_eq!((proved.index, proved.checkpoint.size), (index, SIZE));
        let times: Vec<u64> = proved.witnesses.iter().map(|(_, at_seconds)| *at_seconds).collect();
        assert_eq!(times, [100, 200]);
    }
}

#[test]
fn a_policy_is_met_by_the_log_and_by_different_witnesses() {
    let (good, leaf) = (proof(3), naive::leaf(3));
    assert_eq!(judged(&good, leaf, &policy(&[5, 6], 2).unwrap()), Ok(2));
    assert_eq!(judged(&good, leaf, &policy(&[], 0).unwrap()), Ok(0));
    assert_eq!(judged(&good, leaf, &policy(&[5, 7], 2).unwrap()), Err("LOG_PROOF_WITNESSES"));
    assert_eq!(judged(&good, naive::leaf(4), &policy(&[5], 1).unwrap()), Err("LOG_PROOF_ROOT"));
    let text = note().text().to_owned();
    // The same key under a second name, beside one that did not sign.
    let again = private("second.example", SignatureKind::Cosignature, 5);
    let twice =
        Note::new(&text, vec![log().sign(&text), witness(5).cosign(&text, 1), again.cosign(&text, 2)]);
    let twice = LogProof { checkpoint: twice.unwrap(), ..proof(3) };
    let keys = [witness(5).key, again.key, witness(7).key];
    let two = ProofPolicy::new(ORIGIN.parse().unwrap(), &[log().key], &keys, 2).unwrap();
    assert_eq!(judged(&twice, leaf, &two), Err("LOG_PROOF_WITNESSES"));
    let without_log = Note::new(&text, vec![witness(5).cosign(&text, 1)]).unwrap();
    let without_log = LogProof { checkpoint: without_log, ..proof(3) };
    assert_eq!(judged(&without_log, leaf, &policy(&[5], 1).unwrap()), Err("LOG_PROOF_NOT_BY_LOG"));
    let other = ProofPolicy::new("other.example".parse().unwrap(), &[log().key], &[], 0).unwrap();
    assert_eq!(judged(&good, leaf, &other), Err("CHECKPOINT_OTHER_LOG"));
}

#[test]
fn a_policy_that_no_proof_could_meet_is_refused() {
    assert_eq!(policy(&[5], 2).unwrap_err().code(), "LOG_POLICY_QUORUM");
    assert_eq!(policy(&[5, 5], 2).unwrap_err().code(), "LOG_POLICY_QUORUM");
    let origin = || ORIGIN.parse().unwrap();
    let (note_key, witness_key) = (log().key, witness(5).key);
    let refused = |logs: &[&VerifierKey], witnesses: &[&VerifierKey]| {
        let keys = |keys: &[&VerifierKey]| keys.iter().copied().cloned().collect::<Vec<_>>();
        ProofPolicy::new(origin(), &keys(logs), &keys(witnesses), 0).map_err(|error| error.code())
    };
    assert_eq!(refused(&[], &[]), Err("LOG_POLICY_NO_LOG_KEY"));
    assert_eq!(refused(&[&witness_key], &[]), Err("LOG_POLICY_KIND"));
    assert_eq!(refused(&[&note_key], &[&note_key]), Err("LOG_POLICY_KIND"));
    assert!(refused(&[&note_key], &[&witness_key]).is_ok());
    let name = "w.example".parse().unwrap();
    let subtree = VerifierKey::new(name, SignatureKind::SubtreeCosignature, &[9; 1312]).unwrap();
    let one = ProofPolicy::new(origin(), &[note_key], &[subtree], 1);
    assert_eq!(one, Err(PolicyError::Quorum { wanted: 1, countable: 0 }), "not verified here: never counted");
}

#[test]
fn a_proof_has_one_spelling() {
    let good = LogProof { extra: Some(b"more".to_vec()), ..proof(20) }.to_text().unwrap();
    let first_hash = good.lines().nth(3).unwrap();
    let wrong = [
        String::new(),
        good.replace("@v1", "@v2"),
        good.replacen('\n', "\r\n", 1),
        good.replacen('\n', " \n", 1),
        good.replace("extra bW9yZQ==", "extra "),
        good.replace("extra bW9yZQ==", "extra"),
        good.replace("extra bW9yZQ==", "extra bW9yZQ"),
        good.replace("extra bW9yZQ==", "extra bW9yZR=="),
        good.replace("extra bW9yZQ==", "Extra bW9yZQ=="),
        good.replace("extra bW9yZQ==\n", "extra bW9yZQ==\nextra bW9yZQ==\n"),
        good.replace("index 20\n", ""),
        good.replace("index 20", "index 020"),
        good.replace("index 20", "index -1"),
        good.replace("index 20", "index  20"),
        good.replace("index 20", "index\t20"),
        good.replace("index 20", "index 18446744073709551616"),
        good.replace("index 20\n", "index 20\nindex 20\n"),
        good.replace(first_hash, &first_hash[1..]),
        good.replace(first_hash, &format!("{first_hash} ")),
        good.replace(first_hash, &format!("{first_hash}\n\n")),
        good.replace("\n\n", "\n"),
        format!("{good}\n"),
        format!("\u{feff}{good}"),
    ];
    for wrong in wrong {
        assert!(LogProof::parse(wrong.as_bytes()).is_err(), "{wrong:?}");
    }
    assert!(LogProof::parse(good.replace("extra bW9yZQ==\n", "").as_bytes()).is_ok());
    let not_utf8 = [good.as_bytes(), b"\xff\n"].concat();
    assert!(LogProof::parse(&not_utf8).is_err());
    assert_eq!(LogProof::parse(&vec![b'c'; PROOF_BYTES + 1]).unwrap_err().code(), "LOG_PROOF_TOO_LARGE");
    let many = good.replace(first_hash, &[first_hash; 65].join("\n"));
    assert_eq!(LogProof::parse(many.as_bytes()).unwrap_err().code(), "LOG_PROOF_FORM");
}

#[test]
fn nothing_is_written_that_no_reader_takes() {
    for (extra, good) in
        [(Vec::new(), false), (vec![0; EXTRA_BYTES], true), (vec![0; EXTRA_BYTES + 1], false)]
    {
        let written = LogProof { extra: Some(extra), ..proof(3) }.to_text();
        assert_eq!(written.is_ok(), good);
    }
    let long = LogProof { hashes: vec![naive::leaf(1); 66], ..proof(3) };
    assert_eq!(long.to_text().unwrap_err().code(), "LOG_PROOF_FORM");
    // The longest that a tree of any size can have.
    let longest = LogProof { index: u64::MAX - 1, hashes: vec![naive::leaf(1); 64], ..proof(3) };
    assert!(longest.to_text().is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_changed_byte_of_a_proof_is_never_believed(at in any::<prop::sample::Index>(), flip in 1_u8..=255) {
        static WRITTEN: LazyLock<String> = LazyLock::new(|| proof(13).to_text().unwrap());
        let mut bytes = WRITTEN.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let strict = policy(&[5, 6], 2).unwrap();
        let believed = LogProof::parse(&bytes).is_ok_and(|read| read.verify(naive::leaf(13), &strict).is_ok());
        prop_assert!(!believed, "byte {} by {}", at, flip);
    }
}
