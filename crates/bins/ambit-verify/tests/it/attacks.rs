//! Every row of the attacks on chains, against the bundle, re-hashed as far as somebody without the key can, with the reason
//! for the refusal. The untouched bundle stands beside each.

use std::fs;

use ambit_ids::Digest;
use serde_json::{Value, json};

use crate::golden::{Golden, judged, kept, program};

fn kinds(records: &[Value]) -> Vec<&str> {
    records.iter().map(|record| record["kind"].as_str().unwrap()).collect()
}

fn at(records: &[Value], kind: &str) -> usize {
    kinds(records).iter().position(|found| *found == kind).unwrap()
}

// untouched
#[test]
fn the_bundle_that_nobody_touched_is_proved_and_says_what_it_does_not_cover() {
    let judged = Golden::new().verify();
    assert_eq!(judged.exit, 0, "{}", judged.json);
    let checks = judged.json["report"]["checks"].as_array().unwrap();
    assert_eq!(checks.len(), 24);
    assert!(checks.iter().all(|check| check["standing"] == "proved"));
    assert_eq!(judged.not_covered(), ["run.json", "trust-root.json"]);
    assert_eq!(judged.json["eligibility"]["standing"], "eligible");
    let mut tar = program();
    tar.arg(kept("completed.tar")).arg("--trust-root").arg(kept("trust-root.json")).arg("--json");
    assert_eq!(
        crate::golden::judged(&tar.output().unwrap()).json,
        judged.json,
        "the tar of it says the same"
    );
}

// reserialise: hashes are over the one canonical form, so another spelling of the same is refused.
#[test]
fn another_spelling_of_the_same_records_is_refuted() {
    let golden = Golden::new();
    let spaced: String = golden
        .records()
        .iter()
        .map(|record| format!("{}\n", record.to_string().replacen(':', ": ", 1)))
        .collect();
    golden.put("trace.jsonl", spaced.as_bytes());
    golden.list_again();
    golden.verify().refuted("white space", "run.chain", "no record of a known version");
}

// flip-bit
#[test]
fn no_flipped_bit_of_what_is_signed_stays_unseen_and_none_is_a_crash() {
    let golden = Golden::new();
    let whole = golden.get("trace.jsonl");
    for sample in 0..40 {
        let at = sample * (whole.len() - 1) / 39;
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (sample % 8);
        golden.put("trace.jsonl", &flipped);
        golden.list_again();
        let judged = golden.verify();
        assert_eq!(judged.exit, 10, "byte {at}: {}", judged.json);
    }
    golden.put("trace.jsonl", &whole);
    golden.list_again();
    assert_eq!(golden.verify().exit, 0, "the control");
}

// drop-first, drop-middle, swap, duplicate, seq-gap, time-back
#[test]
fn records_that_are_dropped_moved_repeated_or_renumbered_are_refuted_where_they_were() {
    let golden = Golden::new();
    let records = golden.records();
    for dropped in 0..records.len() {
        let mut fewer = records.clone();
        fewer.remove(dropped);
        golden.rechain(fewer.clone(), usize::MAX);
        let judged = golden.verify();
        if dropped + 1 < records.len() {
            judged.refuted(&format!("without {dropped}"), "run.chain", &format!("\"seq\":{dropped},"));
        } else {
            judged.refuted("without the last", "run.head", "not signed by the log key");
        }
        if dropped % 8 == 0 && dropped + 1 < records.len() && dropped > 0 {
            // Chained again, it is the key that is missing.
            golden.rechain(fewer, 0);
            golden.verify().refuted("chained again", "run.head", "not signed by the log key");
        }
    }
    let middle = records.len() / 2;
    let mut swapped = records.clone();
    swapped.swap(middle, middle + 1);
    golden.rechain(swapped.clone(), usize::MAX);
    golden.verify().refuted("swapped", "run.chain", &format!("\"seq\":{middle},"));
    golden.rechain(swapped, 0);
    golden.verify().refuted("swapped and chained again", "run.head", "not signed by the log key");
    let mut doubled = records.clone();
    doubled.insert(middle, records[middle].clone());
    golden.rechain(doubled.clone(), usize::MAX);
    golden.verify().refuted("twice", "run.chain", &format!("\"seq\":{},", middle + 1));
    golden.rechain(doubled, 0);
    golden.verify().refuted("twice and chained again", "run.head", "not signed by the log key");
    let mut gap = records.clone();
    for record in &mut gap[middle..] {
        record["seq"] = (record["seq"].as_u64().unwrap() + 1).into();
    }
    golden.rechain(gap, usize::MAX);
    golden.verify().refuted("a gap", "run.chain", &format!("\"seq\":{middle},"));
    let mut back = records.clone();
    back[middle]["ts"] = "2001-01-01T00:00:00.000Z".into();
    golden.rechain(back, 0);
    let judged = golden.verify();
    judged.refuted("an earlier time", "run.head", "not signed by the log key");
    assert!(judged.json["report"]["flags"].to_string().contains("before that of the record before"));
    golden.rechain(records, 0);
    assert_eq!(golden.verify().exit, 0, "the control: chained again without a change");
}

// insert, other-tenant
// proves E-A15 E-M02
// break crates/control-plane/verify/src/log_keys.rs: `match checked_end(name, links, head, &trusted.key) {` -> `match links.last().ok_or(HeadFault::Missing) {`
#[test]
fn a_forged_record_and_another_tenant_with_right_hashes_are_refuted_for_want_of_the_key() {
    let golden = Golden::new();
    let records = golden.records();
    let passed = at(&records, "gate.finished");
    let mut forged = records.clone();
    forged.insert(passed, records[passed].clone());
    golden.rechain(forged, 0);
    golden.verify().refuted("a gate that passed", "run.head", "not signed by the log key");
    let mut other = records.clone();
    for record in &mut other {
        record["organization"] = "mallory".into();
    }
    golden.rechain(other, 0);
    let judged = golden.verify();
    judged.refuted("another tenant", "run.chain", "\"seq\":0,");
    golden.rechain(records, 0);
    // And where the list says so too, there is no stream of that name behind the head.
    let mut manifest = golden.manifest();
    manifest.organization = "mallory".parse().unwrap();
    golden.put("bundle.json", &manifest.to_bytes().unwrap());
    let judged = golden.verify();
    assert_eq!(judged.exit, 10, "{}", judged.json);
    assert_eq!(judged.standing("run.chain"), "refuted");
}

// artifact-swap, artifact-missing, artifact-extra, unicode-norm
// proves E-A14 E-M08
// break crates/control-plane/verify/src/bundle.rs: `Some(found) if *found == made.digest() => {` -> `Some(_) if true => {`
#[test]
fn artifacts_that_are_swapped_missing_or_added_are_told_apart() {
    let golden = Golden::new();
    let blob = golden
        .manifest()
        .members
        .iter()
        .find(|member| member.name.starts_with("blobs/"))
        .unwrap()
        .name
        .clone();
    let whole = golden.get(&blob);
    golden.put(&blob, b"something else");
    golden.verify().refuted("swapped", "bundle.members", &blob);
    golden.list_again();
    let judged = golden.verify();
    assert_eq!(judged.exit, 10, "swapped and listed: {}", judged.json);
    assert!(judged.json["report"]["checks"].to_string().contains("BLOB_CORRUPT"), "{}", judged.json);
    golden.remove(&blob);
    golden.list_again();
    let judged = golden.verify();
    assert_eq!(judged.exit, 12, "missing: {}", judged.json);
    assert!(judged.json["report"]["checks"].to_string().contains("BLOB_NOT_FOUND"), "{}", judged.json);
    golden.put(&blob, &whole);
    golden.list_again();
    // What people read counts as well.
    let patch = golden.get("patches/01.patch");
    golden.put("patches/01.patch", b"another patch");
    golden.list_again();
    golden.verify().refuted("another patch for people", "bundle.readable", "patches/01.patch");
    golden.remove("patches/01.patch");
    golden.list_again();
    let judged = golden.verify();
    assert_eq!((judged.exit, judged.standing("bundle.readable")), (12, "not-checked"), "{}", judged.json);
    golden.put("patches/01.patch", &patch);
    golden.put("cafe\u{301}.txt", b"");
    golden.list_again();
    let judged = golden.verify();
    assert_eq!(judged.exit, 0, "{}", judged.json);
    assert_eq!(judged.not_covered(), ["cafe\u{301}.txt", "run.json", "trust-root.json"]);
    // The same name in another form is another member: one is missing, one is not listed.
    fs::rename(golden.dir().join("cafe\u{301}.txt"), golden.dir().join("caf\u{e9}.txt")).unwrap();
    let judged = golden.verify();
    assert_eq!(judged.exit, 12, "{}", judged.json);
    assert!(judged.found("bundle.members").contains("does not have it"));
}

// big-number, truncated-file
#[test]
fn numbers_past_what_json_holds_and_cut_files_are_refuted_and_never_rounded() {
    let golden = Golden::new();
    let whole = golden.get("trace.jsonl");
    let text = String::from_utf8(whole.clone()).unwrap();
    golden.put("trace.jsonl", text.replacen("\"seq\":3,", "\"seq\":9007199254740993,", 1).as_bytes());
    golden.list_again();
    golden.verify().refuted("a large number", "run.chain", "\"seq\":3");
    golden.put("trace.jsonl", &whole);
    let head = String::from_utf8(golden.get("trace-head.json")).unwrap();
    let seq = format!("\"seq\":{}", text.lines().count() - 1);
    golden.put("trace-head.json", head.replacen(&seq, "\"seq\":9007199254740993", 1).as_bytes());
    golden.list_again();
    golden.verify().refuted("a large number in the head", "run.head", "altered");
    golden.put("trace-head.json", head.as_bytes());
    golden.put("trace.jsonl", &whole[..whole.len() - 40]);
    golden.list_again();
    golden.verify().refuted("cut in a line", "run.chain", "cut off");
}

// alg-none, wrong-key, old-key
#[test]
fn signatures_of_nobody_of_another_key_and_of_a_revoked_one_are_refuted() {
    let golden = Golden::new();
    let head: Value = serde_json::from_slice(&golden.get("trace-head.json")).unwrap();
    let set = |change: &dyn Fn(&mut Value)| {
        let mut other = head.clone();
        change(&mut other);
        golden.put("trace-head.json", ambit_canonical::encode(&other).unwrap().as_bytes());
        golden.list_again();
        golden.verify()
    };
    set(&|head| head["signature"] = "".into()).refuted("no signature", "run.head", "128");
    set(&|head| head["alg"] = "none".into()).refuted("no algorithm", "run.head", "altered");
    set(&|head| head["signature"] = "00".repeat(64).into()).refuted(
        "zeroes",
        "run.head",
        "not signed by the log key",
    );
    assert_eq!(set(&|_| {}).exit, 0, "the control");
    // The key in the bundle is somebody else's, and the one of the flag decides.
    let root: Value = serde_json::from_slice(&fs::read(golden.root()).unwrap()).unwrap();
    let by = |change: &dyn Fn(&mut Value)| {
        let mut other = root.clone();
        change(&mut other["keys"][0]);
        let path = golden.beside("root.json");
        fs::write(&path, ambit_canonical::encode(&other).unwrap().as_bytes()).unwrap();
        golden.verify_by(&path)
    };
    let other = Digest::of(b"another key").to_hex();
    by(&|key| key["publicKey"] = other.clone().into()).refuted(
        "another key",
        "run.head",
        "not signed by the log key",
    );
    by(&|key| key["revokedMs"] = 1.into()).refuted("revoked before", "run.head", "revoked");
    by(&|key| key["untilMs"] = 1.into()).refuted("ended before", "run.head", "did not count");
    by(&|key| key["fromMs"] = 9_000_000_000_000_000_u64.into()).refuted(
        "not yet",
        "run.head",
        "did not count",
    );
    assert_eq!(by(&|key| key["fromMs"] = 1.into()).exit, 0, "the control");
    golden.put("trust-root.json", b"{}");
    golden.list_again();
    assert_eq!(golden.verify().exit, 0, "the root in the bundle is not read");
}

// A trust root in any other form is none.
#[test]
fn a_trust_root_has_one_form() {
    let golden = Golden::new();
    let root = fs::read_to_string(golden.root()).unwrap();
    let path = golden.beside("root.json");
    for (what, text) in [
        ("white space", format!("{root}\n")),
        ("another version", root.replace("TrustRoot/v1", "TrustRoot/v2")),
        ("another role", root.replace("\"log\"", "\"root\"")),
        ("a field that nobody knows", root.replacen('{', "{\"a\":1,", 1)),
        ("no key", json!({"keys": [], "kind": "TrustRoot/v1"}).to_string()),
        ("a key in capitals", root.to_uppercase()),
        ("nothing", String::new()),
    ] {
        fs::write(&path, text).unwrap();
        let judged = golden.verify_by(&path);
        assert_eq!(
            (judged.exit, &judged.json["error"]["code"]),
            (12, &"TRUST_ROOT_MALFORMED".into()),
            "{what}"
        );
    }
    let judged = golden.verify_by(&golden.beside("none"));
    assert_eq!((judged.exit, &judged.json["error"]["code"]), (12, &"TRUST_ROOT_UNREADABLE".into()));
    let wrong = program().arg(golden.dir()).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2), "no root, no verdict");
}

// huge
#[test]
fn a_million_records_and_a_record_of_a_hundred_megabytes_take_bounded_memory() {
    let golden = Golden::new();
    let limited = || {
        let mut sh = std::process::Command::new("sh");
        sh.env_clear().arg("-c").arg("ulimit -v 393216; exec \"$0\" \"$@\"");
        sh.arg(env!("CARGO_BIN_EXE_ambit-verify")).arg(golden.dir());
        sh.arg("--trust-root").arg(golden.root()).arg("--json");
        judged(&sh.output().unwrap())
    };
    assert_eq!(limited().exit, 0, "the control");
    let whole = golden.get("trace.jsonl");
    golden.put("trace.jsonl", &[vec![b'x'; 100 << 20], b"\n".to_vec()].concat());
    golden.list_again();
    limited().refuted("one record", "run.chain", "longer than a record");
    let line = [b"{\"a\":1}".as_slice(), b"\n"].concat();
    golden.put("trace.jsonl", &line.repeat(1_000_000));
    golden.list_again();
    let many = limited();
    assert!(matches!(many.exit, 10 | 12), "{}", many.json);
    assert!(
        many.found("run.chain").contains("more than 10000") || many.found("run.chain").contains("\"seq\":0")
    );
    golden.put("trace.jsonl", &whole);
    golden.list_again();
    assert_eq!(limited().exit, 0, "the control");
}
