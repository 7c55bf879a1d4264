//! Whoever can write to every file of a home, and has no key: nothing that they change passes for evidence.

use std::path::Path;

use ambit_canonical::encode;
use ambit_evidence::v1::Record;
use ambit_evidence::{head_message, leaf_hash};
use ambit_ids::Digest;
use ambit_ports::signer::{KeyRole, Signer as _};
use ambit_signer_file::FileSigner;
use rusqlite::Connection;
use serde_json::Value;

use crate::elsewhere::Elsewhere;

/// What both commands answer about the run.
struct Answers {
    eligible: (i32, String),
    verify: (i32, String),
}

impl Elsewhere {
    fn judged(&self) -> Answers {
        let ask = |words: &[&str]| {
            let answered = self.ambit(words);
            (answered.code, answered.out + &answered.err)
        };
        Answers {
            eligible: ask(&["revision", "eligible", "rev-1"]),
            verify: ask(&["trace", "verify", "first"]),
        }
    }

    #[track_caller]
    fn assert_untouched(&self) {
        let answers = self.judged();
        assert_eq!(
            (answers.eligible.0, answers.verify.0),
            (0, 0),
            "{}\n{}",
            answers.eligible.1,
            answers.verify.1
        );
    }

    /// Both fail, one of `exits`, and name `link`.
    #[track_caller]
    fn assert_broken(&self, what: &str, exits: &[i32], link: &str) {
        let answers = self.judged();
        for (verb, (code, told)) in [("eligible", answers.eligible), ("verify", answers.verify)] {
            assert!(exits.contains(&code), "{what}: {verb} answers {code}\n{told}");
            assert!(told.contains(link), "{what}: {verb} does not name {link}\n{told}");
        }
    }

    /// Every blob that the evidence of the run rests on.
    fn covered(&self) -> Vec<String> {
        let report = self.ambit(["trace", "verify", "first", "--json"]).well().json();
        report["covered"]
            .as_array()
            .unwrap()
            .iter()
            .map(|digest| digest.as_str().unwrap().to_owned())
            .collect()
    }
}

fn flip(path: &Path, bytes: &[u8]) {
    let mut altered = bytes.to_vec();
    match altered.first_mut() {
        Some(first) => *first ^= 1,
        None => altered.push(b'x'),
    }
    std::fs::write(path, altered).unwrap();
}

// proves E-A15
// break crates/bins/ambit/src/verbs/revision.rs: `EligibilityStanding::Unknown => exit::UNVERIFIED,` -> `EligibilityStanding::Unknown => exit::OK,`
#[test]
fn every_blob_that_is_altered_or_gone_is_named_by_its_digest() {
    let elsewhere = Elsewhere::finished();
    elsewhere.assert_untouched();
    let covered = elsewhere.covered();
    assert!(covered.len() > 15, "documents, trees, requests, patches, observations, receipts: {covered:?}");
    for digest in &covered {
        let file = elsewhere.blob(digest);
        let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{digest}: {error}"));
        flip(&file, &bytes);
        elsewhere.assert_broken("an altered blob", &[10], digest);
        std::fs::remove_file(&file).unwrap();
        elsewhere.assert_broken("a blob that is gone", &[10, 12], digest);
        std::fs::write(&file, &bytes).unwrap();
    }
    elsewhere.assert_untouched();
}

/// The streams of the home: the project's, and the run's.
fn streams(store: &Connection) -> Vec<String> {
    let mut select = store.prepare("SELECT run FROM stream ORDER BY run").unwrap();
    select.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn length(store: &Connection, run: &str) -> u64 {
    store.query_row("SELECT count(*) FROM record WHERE run = ?1", [run], |row| row.get(0)).unwrap()
}

fn bytes_of(store: &Connection, run: &str, seq: u64) -> Vec<u8> {
    let sql = "SELECT bytes FROM record WHERE run = ?1 AND seq = ?2";
    store.query_row(sql, (run, seq), |row| row.get(0)).unwrap()
}

fn put(store: &Connection, run: &str, seq: u64, bytes: &[u8], leaf: Option<Digest>) {
    store.execute("UPDATE record SET bytes = ?3 WHERE run = ?1 AND seq = ?2", (run, seq, bytes)).unwrap();
    if let Some(leaf) = leaf {
        let sql = "UPDATE record SET leaf = ?3 WHERE run = ?1 AND seq = ?2";
        store.execute(sql, (run, seq, leaf.as_bytes().as_slice())).unwrap();
    }
}

/// The record with its clock moved by one minute: as harmless as an alteration can be.
fn a_minute_later(bytes: &[u8]) -> Vec<u8> {
    let mut record: Value = serde_json::from_slice(bytes).unwrap();
    let was = record["ts"].as_str().unwrap().to_owned();
    let minute: u32 = was[14..16].parse().unwrap();
    record["ts"] = format!("{}{:02}{}", &was[..14], (minute + 1) % 60, &was[16..]).into();
    encode(&record).unwrap().into_bytes()
}

// proves E-A15
// break crates/domain/evidence/src/chain.rs: `if leaf != stored {` -> `if false {`
#[test]
fn every_record_that_is_altered_or_gone_is_named_by_its_position() {
    let elsewhere = Elsewhere::finished();
    let pristine = elsewhere.store_bytes();
    let all: Vec<(String, u64)> = elsewhere.with_store(|store| {
        streams(store)
            .into_iter()
            .map(|run| {
                let length = length(store, &run);
                (run, length)
            })
            .collect()
    });
    assert_eq!(all.len(), 2, "{all:?}");
    for (run, length) in &all {
        for seq in 0..*length {
            let link = format!("record {seq}");
            elsewhere.restore(&pristine);
            elsewhere.with_store(|store| {
                put(store, run, seq, &a_minute_later(&bytes_of(store, run, seq)), None);
            });
            elsewhere.assert_broken(&format!("{run} {seq} altered"), &[10], &link);
            elsewhere.restore(&pristine);
            elsewhere.with_store(|store| {
                store.execute("DELETE FROM record WHERE run = ?1 AND seq = ?2", (run, seq)).unwrap();
            });
            // What is gone from the end is missed by the head, which names the last record.
            let link = if seq + 1 == *length { "the head of" } else { &link };
            elsewhere.assert_broken(&format!("{run} {seq} gone"), &[10, 12], link);
        }
    }
    elsewhere.restore(&pristine);
    elsewhere.assert_untouched();
}

/// A change of the records of a run.
type Forgery = fn(&mut Vec<Value>);

/// Changes a record of the run as `change` says and recomputes every hash after it: the chain of the run, its head, and
/// the record by which the project binds its end with everything behind that. Only the signatures stay as they were.
fn rewrite(store: &Connection, run: &str, change: impl FnOnce(&mut Vec<Value>)) {
    let mut records: Vec<Value> = (0..length(store, run))
        .map(|seq| serde_json::from_slice(&bytes_of(store, run, seq)).unwrap())
        .collect();
    change(&mut records);
    let last = rechain(store, run, &mut records);
    let mut project: Vec<Value> = (0..length(store, ""))
        .map(|seq| serde_json::from_slice(&bytes_of(store, "", seq)).unwrap())
        .collect();
    for record in project.iter_mut().filter(|record| record["kind"] == "run.closed") {
        record["body"]["leaf"] = last.to_string().into();
        record["artifact"] = last.to_string().into();
    }
    rechain(store, "", &mut project);
}

fn rechain(store: &Connection, run: &str, records: &mut [Value]) -> Digest {
    let mut leaf: Option<Digest> = None;
    for (seq, record) in records.iter_mut().enumerate() {
        if let Some(before) = leaf {
            record["prev"] = before.to_string().into();
        }
        let typed: Record = serde_json::from_value(record.clone()).expect("a forger writes proper records");
        let bytes = encode(&typed).unwrap().into_bytes();
        leaf = Some(leaf_hash(&bytes));
        put(store, run, seq as u64, &bytes, leaf);
    }
    let leaf = leaf.unwrap();
    let sql = "UPDATE stream SET head_leaf = ?2 WHERE run = ?1";
    store.execute(sql, (run, leaf.as_bytes().as_slice())).unwrap();
    leaf
}

// proves E-A15
// break crates/control-plane/journal/src/load.rs: `verify_head(name, head.seq.0, head.leaf, &head.signature.bytes, key)?;` -> `let _ = key;`
#[test]
fn whoever_rewrites_every_hash_of_the_chain_has_no_signature_for_its_end() {
    let elsewhere = Elsewhere::finished();
    let pristine = elsewhere.store_bytes();
    let run = elsewhere.with_store(|store| streams(store).pop().unwrap());
    // The same rewriting that changes nothing leaves everything as it was: the forger knows the form.
    elsewhere.with_store(|store| rewrite(store, &run, |_| {}));
    elsewhere.assert_untouched();
    let forgeries: [(&str, Forgery); 3] = [
        ("another time", |records| {
            let bytes = serde_json::to_vec(&records[3]).unwrap();
            records[3] = serde_json::from_slice(&a_minute_later(&bytes)).unwrap();
        }),
        ("a cheaper turn", |records| {
            let opened = records.iter_mut().find(|record| record["kind"] == "turn.opened").unwrap();
            opened["body"]["reservedMicroUsd"] = 1.into();
        }),
        ("another agent", |records| records[0]["body"]["pins"]["agent"] = "scripted.other".into()),
    ];
    for (what, forge) in forgeries {
        elsewhere.restore(&pristine);
        elsewhere.with_store(|store| rewrite(store, &run, forge));
        elsewhere.assert_broken(what, &[10], "the head of");
        elsewhere.with_store(|store| sign_heads(store, &elsewhere.project.path("keys")));
        elsewhere.assert_broken(&format!("{what}, signed by the forger"), &[10], "the head of");
    }
}

/// Signs the heads of all streams as the program does, with a key that is made for it.
fn sign_heads(store: &Connection, keys: &Path) {
    let signer = FileSigner::create_if_absent(keys).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for run in streams(store) {
        let last = length(store, &run) - 1;
        let bytes = bytes_of(store, &run, last);
        let record: Record = serde_json::from_slice(&bytes).unwrap();
        let message = head_message(&record.stream(), last, leaf_hash(&bytes));
        let signature = runtime.block_on(signer.sign(KeyRole::Log, &message)).unwrap();
        let sql = "UPDATE stream SET head_key = ?2, head_signature = ?3 WHERE run = ?1";
        let (key, bytes) = (signature.key.as_bytes().as_slice(), signature.bytes.as_slice());
        store.execute(sql, (&run, key, bytes)).unwrap();
    }
}

// proves E-A15
// break crates/control-plane/journal/src/load.rs: `verify_head(name, head.seq.0, head.leaf, &head.signature.bytes, key)?;` -> `let _ = key;`
#[test]
fn a_head_that_is_altered_moved_back_or_gone_is_named() {
    let elsewhere = Elsewhere::finished();
    let pristine = elsewhere.store_bytes();
    let heads: [(&str, &str); 4] = [
        ("another hash", "UPDATE stream SET head_leaf = zeroblob(32)"),
        ("another signature", "UPDATE stream SET head_signature = zeroblob(64)"),
        ("an earlier position", "UPDATE stream SET head_seq = head_seq - 1"),
        ("no head", "DELETE FROM stream"),
    ];
    for (what, sql) in heads {
        for stream in ["run = ''", "run <> ''"] {
            elsewhere.restore(&pristine);
            elsewhere.with_store(|store| store.execute(&format!("{sql} WHERE {stream}"), ()).unwrap());
            let answers = elsewhere.judged();
            for (verb, (code, told)) in [("eligible", answers.eligible), ("verify", answers.verify)] {
                assert!([10, 11, 12].contains(&code), "{what} where {stream}: {verb} answers {code}\n{told}");
                assert!(!told.contains("eligible for preview"), "{told}");
            }
        }
    }
    elsewhere.restore(&pristine);
    elsewhere.assert_untouched();
}

#[test]
fn the_end_of_a_run_cannot_be_cut_off_with_its_head() {
    let elsewhere = Elsewhere::finished();
    let run = elsewhere.with_store(|store| streams(store).pop().unwrap());
    // The last records, and the head moved to what is last then. The project still names the end that there was.
    elsewhere.with_store(|store| {
        let end = length(store, &run) - 2;
        store.execute("DELETE FROM record WHERE run = ?1 AND seq > ?2", (&run, end)).unwrap();
        let leaf = leaf_hash(&bytes_of(store, &run, end));
        let sql = "UPDATE stream SET head_seq = ?2, head_leaf = ?3 WHERE run = ?1";
        store.execute(sql, (&run, end, leaf.as_bytes().as_slice())).unwrap();
    });
    elsewhere.assert_broken("a shorter run", &[10], "the head of");
}

// proves E-A15
// break crates/bins/ambit/src/context.rs: `if pinned.is_some_and(|pinned| pinned.as_str() == name) {` -> `if true {`
#[test]
fn another_run_does_not_pass_under_a_name_that_it_never_had() {
    let elsewhere = Elsewhere::finished();
    elsewhere.assert_untouched();
    elsewhere.with_store(|store| {
        store.execute("UPDATE claim SET key = 'run-name/better' WHERE key = 'run-name/first'", ()).unwrap();
    });
    for words in [["trace", "verify", "better"], ["run", "show", "better"]] {
        let answered = elsewhere.ambit(words);
        assert_eq!(answered.code, 10, "{answered:?}");
        assert!(answered.err.contains("TRACE_REFUTED") && answered.err.contains("better"), "{answered:?}");
    }
}
