//! Every case of the collections of patches: the exact result, or a refusal with a code.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ambit_revision::FileKind;
use serde_json::Value;

use crate::cases::{Files, directory, read_files, source};
use crate::source::{Refused, Source};
use crate::view;

/// Cases that another form of the engine could accept, and that this one refuses as a form that it does not know.
const UNSUPPORTED: &[(&str, &str)] = &[("copy-pure", "PATCH_UNSUPPORTED_COPY")];

/// Cases that may be refused and are, each for a reason of its own.
const REFUSED: &[(&str, &str)] = &[
    ("bad-nonl-append-unmarked", "PATCH_FINAL_NEWLINE"),
    ("bad-plus-without-minus", "PATCH_HEADER"),
    ("bad-same-file-twice", "PATCH_DUPLICATE_PATH"),
    ("binary-literal", "PATCH_BINARY"),
    ("bom-patch", "PATCH_BYTE_ORDER_MARK"),
    ("crlf-patch-lf-file", "PATCH_LINE_ENDING"),
    ("link-create-in", "PATCH_LINK_CREATE"),
    ("mode-world", "PATCH_MODE_PERMISSIONS"),
    ("nul-in-body", "PATCH_NUL"),
    ("path-case-clash", "PATCH_CASE_COLLISION"),
    ("path-double-slash", "PATH_NOT_NORMAL"),
    ("git-binary_and_text_mixed", "PATCH_BINARY"),
    ("git-binary_delta", "PATCH_BINARY"),
    ("git-binary_literal", "PATCH_BINARY"),
    ("git-binary_mixed_delta_literal", "PATCH_BINARY"),
    ("git-path_ambiguous_suffix", "PATCH_HEADER_AMBIGUOUS"),
    ("git-path_custom_prefix", "PATCH_PATHS_DIFFER"),
    ("git-path_mixed_quoted", "PATCH_PATH_UNPRINTABLE"),
    ("git-path_quoted_escapes", "PATCH_PATH_UNPRINTABLE"),
    ("git-path_quoted_named_escape", "PATCH_PATH_UNPRINTABLE"),
    ("git-path_quoted_octal_escape", "PATCH_PATH_UNPRINTABLE"),
    ("gnu_patch-junk_between_hunks", "PATCH_HEADER"),
    ("gnu_patch-missing_minus_header", "PATCH_HEADER"),
    ("gnu_patch-missing_plus_header", "PATCH_HEADER"),
    ("gnu_patch-reversed_header_order", "PATCH_HEADER"),
    ("gnu_patch-preamble_git_headers", "PATCH_HEADER"),
    ("gnu_patch-path_quoted_named_escape", "PATCH_PATH_UNPRINTABLE"),
    ("gnu_patch-path_quoted_octal_escape", "PATCH_PATH_UNPRINTABLE"),
];

/// What the results of some cases have and their folders do not hold: a mode, an empty file, or a file whose name says
/// that it is an ordinary one.
const ALSO_OUT: &[(&str, &str, FileKind, &str)] = &[
    ("mode-exec", "a.sh", FileKind::Executable, "#!/bin/sh\n"),
    ("path-tilde", "~/x.txt", FileKind::File, "pwned\n"),
    ("path-envvar", "$HOME/x.txt", FileKind::File, "pwned\n"),
    ("path-percent", "%2e%2e/escape.txt", FileKind::File, "pwned\n"),
    ("path-proc", "proc/self/x", FileKind::File, "pwned\n"),
    ("gnu_patch-create_empty_file_gitdiff", "empty.txt", FileKind::File, ""),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Accept,
    Reject,
    Either,
}

struct Case {
    id: String,
    want: Want,
    base: Files,
    patch: Vec<u8>,
    out: Files,
    max_files: usize,
}

/// What a case came to, or what is wrong with that.
fn judge(case: &Case) -> Result<String, String> {
    let base = source(&case.base);
    let before = base.tree.digest();
    let outcome = base.apply(&case.patch);
    if base.tree.digest() != before {
        return Err("the base changed".to_owned());
    }
    view::agrees(&base, &case.patch, &outcome)?;
    let allowed = UNSUPPORTED.iter().chain(REFUSED).find(|(id, _)| *id == case.id).map(|(_, code)| *code);
    match outcome {
        Ok(applied) if applied.changes.len() > case.max_files => match case.want {
            Want::Accept => Err("counts too many files".to_owned()),
            Want::Reject | Want::Either => Ok("over the budget of files".to_owned()),
        },
        Ok(applied) => {
            let after = base.after(&applied);
            let exact = after.listing() == source(&case.out).listing();
            match (case.want, allowed, exact) {
                (Want::Reject, _, _) => Err("accepted".to_owned()),
                (_, Some(code), _) => Err(format!("accepted, and listed as {code}")),
                (_, None, false) => Err(format!("wrong result: {:?}", after.listing())),
                (_, None, true) => Ok("applied".to_owned()),
            }
        }
        Err(refused) => judge_refusal(case.want, allowed, &refused),
    }
}

fn judge_refusal(want: Want, allowed: Option<&str>, refused: &Refused) -> Result<String, String> {
    let code = refused.code();
    match (want, allowed) {
        (Want::Reject, _) => Ok(code.to_owned()),
        (Want::Either, Some(allowed)) if allowed == code => Ok(code.to_owned()),
        _ => Err(format!("refused as {code}: {refused:?}")),
    }
}

fn check(cases: &[Case]) {
    let outcomes: Vec<_> = cases.iter().map(|case| (case.id.as_str(), judge(case))).collect();
    let wrong: Vec<_> = outcomes.iter().filter(|(_, outcome)| outcome.is_err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, outcome) in &outcomes {
        *tally.entry(outcome.as_ref().map_or("", String::as_str)).or_default() += 1;
    }
    println!("{} cases: {tally:?}", cases.len());
}

fn index(directory: &Path) -> Vec<Value> {
    serde_json::from_slice(&fs::read(directory.join("index.json")).unwrap()).unwrap()
}

fn read_case(directory: &Path, entry: &Value, want: Want) -> Case {
    let id = entry["id"].as_str().unwrap().to_owned();
    let folder = directory.join(&id);
    let mut base = read_files(&folder.join("in"));
    let mut out = read_files(&folder.join("out"));
    for (path, target) in entry["links"].as_object().into_iter().flatten() {
        let link = (FileKind::Link, target.as_str().unwrap().as_bytes().to_vec());
        base.insert(path.clone().into_bytes(), link.clone());
        out.insert(path.clone().into_bytes(), link);
    }
    for (_, path, kind, text) in ALSO_OUT.iter().filter(|(case, ..)| *case == id) {
        out.insert(path.as_bytes().to_vec(), (*kind, text.as_bytes().to_vec()));
    }
    let patch = fs::read(folder.join("change.patch")).unwrap_or_else(|_| generated(&base));
    let max_files = entry["needs_policy"]["maxChangedFiles"].as_u64().unwrap_or(u64::MAX);
    Case { id, want, base, patch, out, max_files: usize::try_from(max_files).unwrap() }
}

/// The one patch that is too large to lie among the cases: it adds a line of 3,000,000 bytes below the first.
fn generated(base: &Files) -> Vec<u8> {
    let text = &base[&b"a.txt"[..]].1;
    let first = text.split_inclusive(|b| *b == b'\n').next().unwrap();
    let long = vec![b'x'; 3_000_000];
    [b"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n ", first, b"+", &long, b"\n"].concat()
}

#[test]
fn every_case_of_our_own_is_exact_or_refused() {
    let Some(directory) = directory("diffs") else { return };
    let entries = index(&directory);
    let cases: Vec<Case> = entries
        .iter()
        .map(|entry| {
            let want = match entry["expect"].as_str().unwrap() {
                "apply" => Want::Accept,
                "reject" => Want::Reject,
                "reject-or-exact" => Want::Either,
                other => panic!("{other}"),
            };
            read_case(&directory, entry, want)
        })
        .collect();
    assert!(cases.len() > 100, "{}", cases.len());
    check(&cases);
}

#[test]
fn every_case_of_diffy_is_exact_or_refused() {
    let Some(directory) = directory("diffs-diffy") else { return };
    let entries = index(&directory);
    let cases: Vec<Case> = entries
        .iter()
        .map(|entry| {
            let both = ["diffy_success", "reference_tool_success"].iter().all(|key| entry[key] == true);
            // diffy refuses an empty file that git makes.
            let made = entry["id"] == "gnu_patch-create_empty_file_gitdiff";
            let want = if both || made { Want::Either } else { Want::Reject };
            let mut case = read_case(&directory, entry, want);
            if case.id.ends_with("nested_diff_signature") || case.id == "gnu_patch-delete_file" {
                // A deleted file stands there as a stale or empty one.
                case.out.retain(|path, _| !matches!(path.as_slice(), b"mir-test.diff" | b"file.txt"));
            }
            case
        })
        .collect();
    assert!(cases.len() > 40, "{}", cases.len());
    check(&cases);
}

/// The corpus of weakened tests changes real projects: its patches must apply, whatever a guard then says of them.
#[test]
fn every_patch_of_the_weakened_projects_applies() {
    let Some(directory) = directory("weaken") else { return };
    let mut applied = 0;
    for entry in fs::read_dir(directory.join("cases")).unwrap().map(Result::unwrap) {
        let case: Value = serde_json::from_slice(&fs::read(entry.path().join("case.json")).unwrap()).unwrap();
        let language = case["base"].as_str().unwrap();
        let base: Source = source(&read_files(&directory.join("base").join(language)));
        let patch = fs::read(entry.path().join("change.patch")).unwrap();
        if let Err(refused) = base.apply(&patch) {
            panic!("{:?}: {refused:?}", entry.file_name());
        }
        applied += 1;
    }
    assert!(applied > 20, "{applied}");
}
