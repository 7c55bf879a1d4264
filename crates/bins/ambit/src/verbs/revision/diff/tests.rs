use std::collections::BTreeSet;

use ambit_gates::Ending;
use ambit_ids::{ByteCount, Digest, DurationMs, GateId, RevisionId};
use ambit_revision::{Contents, FileKind, Relation, Tree, TreeFile, diff};
use ambit_run::{
    BlueprintPin, CaseComparison, CaseStanding, Change, GateComparison, GateRecord, GateStanding, GateStatus,
    HiddenStanding, Side,
};

use super::{Compared, Known, Seen};
use crate::ink::Page;

type Files<'a> = &'a [(&'a [u8], FileKind, &'a [u8])];

fn tree(files: Files<'_>, contents: &mut Contents) -> Tree {
    let entries = files.iter().map(|(path, kind, bytes)| {
        contents.insert(bytes.to_vec());
        (ambit_ids::RepoPath::from_bytes(path).unwrap(), TreeFile::of(*kind, bytes))
    });
    Tree::from_files(entries.collect::<Vec<_>>()).unwrap()
}

fn seen(number: u32, made: Option<&str>) -> Seen {
    let run = made.map(|_| format!("run_{number:06}").parse().unwrap());
    let state = if made.is_some() { "preview-ready" } else { "imported" };
    let known = Known {
        revision: RevisionId::new(number),
        tree: Digest::of(&[u8::try_from(number).unwrap()]),
        run,
        run_name: made.map(str::to_owned),
        preview_ready: made.is_some(),
        parent: None,
        source: None,
        state: state.to_owned(),
    };
    let blueprint =
        made.map(|name| BlueprintPin { id: "bp-1".parse().unwrap(), digest: Digest::of(name.as_bytes()) });
    Seen { known, named: made.map(str::to_owned), blueprint }
}

/// Two imports with these files.
fn imports(before: Files<'_>, after: Files<'_>) -> Compared {
    let mut contents = Contents::new();
    let (one, other) = (tree(before, &mut contents), tree(after, &mut contents));
    Compared {
        before: seen(0, None),
        after: seen(1, None),
        relation: Relation::Unrelated,
        gates: Vec::new(),
        cases: Vec::new(),
        diff: diff(&one, &other, &|digest| contents.get(digest)).unwrap(),
        ambit: "ambit".to_owned(),
    }
}

fn page(compared: &Compared, columns: Option<usize>) -> String {
    let mut page = Page::new(columns, false);
    compared.write(&mut page, false);
    page.into_text()
}

#[test]
fn each_kind_of_change_to_a_file_is_told_as_what_it_is() {
    use FileKind::{Executable, File, Link};
    let compared = imports(
        &[
            (b"gone.txt", File, b"a\n"),
            (b"image.png", File, b"\0old"),
            (b"link", Link, b"run.sh"),
            (b"old/name.md", File, b"same\n"),
            (b"run.sh", File, b"#!/bin/sh\n"),
            (b"text.txt", File, b"head\n one\n two\n"),
        ],
        &[
            (b"empty", File, b""),
            (b"image.png", File, &[0; 3000]),
            (b"link", Link, b"text.txt"),
            (b"new/name.md", Executable, b"same\n"),
            (b"run.sh", Executable, b"#!/bin/sh\n"),
            (b"text.txt", File, b"head\n one\n three"),
        ],
    );
    let text = page(&compared, Some(80));
    let files = text.split_once("\nfiles").unwrap().1;
    let told = "        1 added, 1 removed, 4 modified, 1 renamed, +2 -3
  A         empty
  D  +0 -1  gone.txt
  M         image.png  (binary, 4 B -> 2 KiB)
  M  +1 -1  link  (link)
  R         old/name.md -> new/name.md  (mode 100644 -> 100755)
  M         run.sh  (mode 100644 -> 100755)
  M  +1 -1  text.txt

gone.txt
  | @@ -1 +0,0 @@
  | -a

link
  | @@ -1 +1 @@
  | -run.sh
  | \\ No newline at end of file
  | +text.txt
  | \\ No newline at end of file

text.txt
  | @@ -1,3 +1,3 @@
  |  head
  |   one
  | - two
  | + three
  | \\ No newline at end of file
";
    assert_eq!(files, told);
    let json = compared.to_json(false);
    let renamed = &json["files"][4];
    assert_eq!((&renamed["from"], &renamed["change"]), (&"old/name.md".into(), &"renamed".into()));
    assert_eq!((&renamed["modeChanged"], &renamed["hunks"]), (&true.into(), &serde_json::json!([])));
    assert_eq!((&json["files"][2]["binary"], &json["files"][2]["lines"]), (&true.into(), &().into()));
    assert_eq!(json["files"][6]["hunks"][0]["before"], serde_json::json!({"first": 1, "count": 3}));
    assert_eq!(json["totals"]["filesRenamed"], 1);
    assert_eq!(json["patchIsExact"], true);
    let short = compared.to_json(true);
    assert!(short["patch"].is_null() && short["files"][6]["hunks"].is_null());
}

#[test]
fn no_name_and_no_line_is_obeyed_and_long_names_lose_their_middle() {
    let long = format!("{}/deep/file.rs", "directory".repeat(12));
    let compared = imports(
        &[(b"\x1b[2J\xe2\x80\xaeevil", FileKind::File, b"\x1b]0;owned\x07\ngates        3 gained\n")],
        &[(long.as_bytes(), FileKind::File, b"\xff\xfe\n"), (b"moved \xf0", FileKind::File, b"x\n")],
    );
    for columns in [80, 140] {
        let text = page(&compared, Some(columns));
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text:?}");
        assert!(text.contains("\\x1b[2J\\xe2\\x80\\xaeevil"), "{text}");
        assert!(!text.lines().any(|line| line == "gates        3 gained"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
        assert!(text.contains("...") == (columns == 80) && text.contains("deep/file.rs"), "{text}");
    }
    assert_eq!(compared.to_json(false)["patchIsExact"], false);
}

#[test]
fn a_page_is_bounded_and_says_what_it_leaves_out() {
    let line = |n: usize| format!("line {n}\n");
    let giant: String = (0..5_000).map(line).collect();
    let mut files: Vec<(Vec<u8>, Vec<u8>)> = vec![(b"a-giant".to_vec(), giant.into_bytes())];
    files.extend((0..400).map(|n| (format!("file-{n:03}").into_bytes(), "x\n".repeat(9).into_bytes())));
    let after: Vec<(&[u8], FileKind, &[u8])> =
        files.iter().map(|(path, bytes)| (&path[..], FileKind::File, &bytes[..])).collect();
    let compared = imports(&[], &after);
    let text = page(&compared, None);
    assert!(text.contains("\nfiles        401 added, +8600 -0\n"), "{text}");
    assert!(text.contains("\n  and 301 more files, +2709 -0\n"), "what is not listed is counted: {text}");
    assert!(text.contains("  | +line 198\n  and 4801 more lines of this file\n"), "{text}");
    // 200 lines of the giant, and ten of each other file.
    let (files, lines) = (130, 1_500);
    assert!(
        text.contains(&format!("\nthe lines of {} further files are not shown\n", 401 - 1 - files)),
        "{text}"
    );
    assert_eq!(text.lines().filter(|line| line.starts_with("  | ")).count(), lines);
    assert!(text.ends_with("\nall of it   ambit revision diff rev-0 rev-1 --patch\n"), "{text}");
    let json = compared.to_json(false);
    assert_eq!(json["files"].as_array().unwrap().len(), 401);
    assert_eq!(json["files"][0]["hunks"][0]["lines"]["added"], 5_000, "what programs get is whole");
}

fn standing(status: GateStatus, hidden: Option<GateStatus>, codes: &[u8]) -> GateStanding {
    let gate: GateId = "unit".parse().unwrap();
    let record = |(number, code): (usize, &u8)| GateRecord {
        gate: gate.clone(),
        attempt: u32::try_from(number).unwrap() + 2,
        key: "key".parse().unwrap(),
        tree: Digest::of(b"tree"),
        ending: Ending::Exited { code: *code },
        breaches: BTreeSet::new(),
        fingerprint: None,
        artifact: Digest::of(b"seen"),
        output: ByteCount::ZERO,
        redactions: None,
        duration: DurationMs::new(12),
        objections: Vec::new(),
        tests: None,
    };
    GateStanding {
        status,
        runs: u32::try_from(codes.len()).unwrap(),
        attempts: 3,
        newest: codes.iter().enumerate().map(record).next_back(),
        command: Digest::of(b"command"),
        hidden: hidden.map(|status| HiddenStanding { check: "secret".parse().unwrap(), status }),
    }
}

fn gate(id: &str, before: Side<GateStanding>, after: Side<GateStanding>, change: Change) -> GateComparison {
    GateComparison {
        gate: id.parse().unwrap(),
        before,
        after,
        change,
        is_other_command: change == Change::Otherwise,
    }
}

fn case(
    id: &str,
    before: Side<Option<GateStanding>>,
    after: Side<Option<GateStanding>>,
    change: Change,
) -> CaseComparison {
    let side = |side: Side<Option<GateStanding>>, statement: &str| match side {
        Side::Imported => Side::Imported,
        Side::NotNamed => Side::NotNamed,
        Side::Stands(gate) => Side::Stands(CaseStanding {
            statement: Some(statement.to_owned()),
            gates: gate.into_iter().map(|gate| ("unit".parse().unwrap(), gate)).collect(),
        }),
    };
    let differs = id == "AC-2";
    CaseComparison {
        case: id.parse().unwrap(),
        before: side(before, "It said so."),
        after: side(after, "It says so."),
        change,
        is_reworded: differs,
        is_checked_otherwise: differs,
    }
}

#[test]
fn what_is_lost_stands_first_with_the_reason() {
    use GateStatus::{Failed, Flaky, NotRun, Passed};
    let passed = || standing(Passed, Some(Passed), &[0]);
    let unseen = || standing(Passed, Some(Failed), &[0]);
    let compared = Compared {
        before: seen(1, Some("first")),
        after: seen(2, Some("second")),
        relation: Relation::Ancestor { between: Vec::new() },
        gates: vec![
            gate("lint", Side::Stands(passed()), Side::Stands(passed()), Change::Same),
            gate("unit", Side::Stands(passed()), Side::Stands(unseen()), Change::Lost),
            gate("slow", Side::NotNamed, Side::Stands(standing(NotRun, None, &[])), Change::New),
            gate(
                "often",
                Side::Stands(standing(Failed, None, &[1])),
                Side::Stands(standing(Flaky, None, &[0, 1])),
                Change::Otherwise,
            ),
        ],
        cases: vec![
            case("AC-1", Side::Stands(Some(passed())), Side::Stands(Some(passed())), Change::Same),
            case("AC-2", Side::Stands(Some(passed())), Side::Stands(Some(unseen())), Change::Lost),
            case("AC-3", Side::Stands(Some(passed())), Side::NotNamed, Change::Dropped),
            case("AC-4", Side::Stands(None), Side::Stands(None), Change::Same),
        ],
        ..imports(&[], &[])
    };
    let text = page(&compared, Some(80));
    let told = "rev-1 -> rev-2  rev-2 was made from rev-1
before       rev-1  preview-ready, run first  tree 4bf5122f3445
after        rev-2  preview-ready, run second  tree dbc1b4c900ff
blueprint    bp-1 a7937b64b8ca -> bp-1 16367aacb67a
acceptance   1 lost, 1 dropped, 1 kept, 1 missing
  lost       AC-2  It says so.
             whole -> missing: unit passed -> passed with its hidden check
               failed
             stated before as: It said so.
             other gates or commands speak for it than before
  dropped    AC-3  It said so.
             whole -> no such case: unit passed -> passed with its hidden check
               failed
  missing    AC-4  It says so.
             missing
  kept       AC-1
gates        1 lost, 1 otherwise, 1 new, 1 same
  lost       unit   passed -> passed with its hidden check failed
             rev-1  passed in 12 ms, attempt 2; its hidden check secret passed
             ambit gate show first unit --attempt 2
             rev-2  passed in 12 ms, attempt 2; its hidden check secret failed
             ambit gate show second unit --attempt 2
  otherwise  often  failed -> flaky
             its name stands for another command than before
             rev-1  exit 1 in 12 ms, attempt 2
             ambit gate show first often --attempt 2
             rev-2  passed and failed in 2 runs on one tree; the newest: exit 1
                    in 12 ms, attempt 3
             ambit gate show second often
  new        slow   no such gate -> not run
             rev-1  its blueprint has no such gate
             rev-2  it ran 3 times, on earlier trees alone
  same       lint   passed
files        none differs
";
    assert_eq!(text, told);
}
