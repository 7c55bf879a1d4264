//! One change in every form leads to the same tree, and no form that was damaged leads anywhere else.

use ambit_revision::{FilePatch, LineKind, Operation, parse};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::properties::{difference, mutate};
use crate::source::Source;

/// Starts of lines that mean something in one form or another.
const STARTS: [&str; 12] = [
    "x",
    "```",
    "~~~",
    "- item",
    "+ item",
    "  deep",
    "@@",
    "*** End Patch",
    "--- a/x",
    "+++ b/x",
    "diff --git",
    "======",
];

/// The lines of a file, no two alike, and what becomes of each.
fn edits() -> impl Strategy<Value = Vec<(usize, u8)>> {
    prop::collection::vec((0..STARTS.len(), 0_u8..8), 1..20)
}

/// The file before and after the edits.
fn sides(edits: &[(usize, u8)]) -> (String, String) {
    let (mut before, mut after) = (String::new(), String::new());
    for (number, (start, what)) in edits.iter().enumerate() {
        let line = format!("{} {number}\n", STARTS[*start]);
        before.push_str(&line);
        match what {
            0 => {}
            1 => after.push_str(&format!("{} new {number}\n", STARTS[*start])),
            2 => after.push_str(&format!("{line}{} added {number}\n", STARTS[*start])),
            _ => after.push_str(&line),
        }
    }
    (before, after)
}

/// Two trees: a file that changes, and of two others one that is made and one that is removed.
fn trees(edits: &[(usize, u8)]) -> (Source, Source) {
    let (before, after) = sides(edits);
    (
        Source::of(&[("d/a.md", &before), ("gone", &after)]),
        Source::of(&[("d/a.md", &after), ("made.md", &before)]),
    )
}

/// The sections of a patch of unified diffs, written by `write`.
fn rewritten(patch: &[u8], write: fn(&FilePatch) -> String) -> String {
    parse(patch).unwrap().files().iter().map(write).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn as_begin_patch(file: &FilePatch) -> String {
    let mut text = match file.operation() {
        Operation::Create { .. } => format!("*** Add File: {}\n", file.path()),
        Operation::Delete { .. } => return format!("*** Delete File: {}\n", file.path()),
        Operation::Modify { .. } | Operation::Rename { .. } => format!("*** Update File: {}\n", file.path()),
    };
    for hunk in file.hunks() {
        if !matches!(file.operation(), Operation::Create { .. }) {
            text.push_str("@@\n");
        }
        for (kind, line) in hunk.lines() {
            text.push(match kind {
                LineKind::Context => ' ',
                LineKind::Removed => '-',
                LineKind::Added => '+',
            });
            text.push_str(&self::text(line));
        }
    }
    text
}

fn as_blocks(file: &FilePatch) -> String {
    if matches!(file.operation(), Operation::Delete { .. }) {
        return format!("*** Begin Patch\n{}*** End Patch\n", as_begin_patch(file));
    }
    let block = |hunk: &ambit_revision::Hunk| {
        let (search, replace) = (text(&hunk.before()), text(&hunk.after()));
        format!("```\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n```\n\n")
    };
    format!("{}\n{}", file.path(), file.hunks().iter().map(block).collect::<String>())
}

/// A patch in every form.
fn forms(patch: &[u8]) -> Vec<String> {
    let unified = text(patch);
    let placeless: String = unified
        .split_inclusive('\n')
        .map(|line| if line.starts_with("@@ -") { "@@\n" } else { line })
        .collect();
    let begun = format!("*** Begin Patch\n{}*** End Patch\n", rewritten(patch, as_begin_patch));
    let blocks = rewritten(patch, as_blocks);
    let fenced = |patch: &str| format!("This is it:\n\n```diff\n{patch}```\n\n- done\n");
    vec![
        fenced(&unified),
        fenced(&begun),
        format!("{unified}\nThat was it.\n"),
        fenced(&placeless),
        begun,
        blocks,
        unified,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, rng_seed: RngSeed::Fixed(11), ..ProptestConfig::default() })]

    #[test]
    fn every_form_of_a_change_leads_to_the_same_tree(edits in edits()) {
        let (before, after) = trees(&edits);
        for patch in forms(&difference(&before, &after)) {
            let applied = before.apply(patch.as_bytes()).map_err(|refused| {
                TestCaseError::fail(format!("{refused:?}\n{patch}"))
            })?;
            prop_assert_eq!(applied.tree.digest(), after.tree.digest(), "{}", patch);
        }
    }

    #[test]
    fn a_damaged_form_is_refused_or_does_what_its_canonical_form_does(
        edits in edits(),
        damages in prop::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 1..4),
    ) {
        let (before, after) = trees(&edits);
        for patch in forms(&difference(&before, &after)) {
            let mut patch = patch.into_bytes();
            for (at, what, byte) in &damages {
                mutate(&mut patch, *at, *what, *byte);
            }
            if let Ok(applied) = before.apply(&patch) {
                let again = before.apply(&applied.canonical.text).unwrap();
                prop_assert_eq!(again.tree.digest(), applied.tree.digest());
            }
        }
    }

    #[test]
    fn arbitrary_lines_of_all_forms_are_understood_or_refused(
        lines in prop::collection::vec(prop_oneof![
            Just("```"), Just("```diff"), Just("  ```"), Just("~~~"), Just("*** Begin Patch"), Just("*** End Patch"),
            Just("*** Update File: x"), Just("*** Add File: y"), Just("*** Delete File: x"), Just("*** Move to: z"),
            Just("*** End of File"), Just("@@"), Just("@@ x"), Just("@@ -1 +1 @@"), Just("--- a/x"), Just("+++ b/x"),
            Just("<<<<<<< SEARCH"), Just("======="), Just(">>>>>>> REPLACE"), Just("x"), Just("-x"), Just("+y"), Just(" x"),
            Just(""), Just("- item"), Just("+ item"), Just("Words and words"), Just("  --- a/x"),
        ], 0..16),
    ) {
        let base = Source::of(&[("x", "x\ny\nx\n")]);
        if let Ok(applied) = base.apply((lines.join("\n") + "\n").as_bytes()) {
            let again = base.apply(&applied.canonical.text).unwrap();
            prop_assert_eq!(again.tree.digest(), applied.tree.digest());
        }
    }
}
