//! What holds of every tree and every patch.

use std::collections::BTreeMap;

use ambit_revision::{FileKind, MatchedBy, PatchRefusal, diff, parse};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::source::{Refused, Source, patch_a};

type Kinds = BTreeMap<String, (bool, Vec<u8>)>;

/// Text with few different lines, so that places repeat, with every way to end, and without NUL.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        3 => Just(b"x".to_vec()),
        2 => Just(Vec::new()),
        2 => prop::collection::vec(prop_oneof![Just(b'-'), Just(b'+'), Just(b' '), Just(b'@'), Just(b'\r'), 1_u8..=255], 0..6),
        1 => Just(b"-- a/x".to_vec()),
        1 => Just(b"@@ -1 +1 @@".to_vec()),
    ];
    (prop::collection::vec(line, 0..12), any::<bool>()).prop_map(|(lines, ended)| {
        let mut bytes = lines.join(&b'\n');
        if ended && !bytes.is_empty() {
            bytes.push(b'\n');
        }
        bytes
    })
}

fn tree() -> impl Strategy<Value = Kinds> {
    let name = prop_oneof![Just("a"), Just("b c"), Just("d\"q"), Just("é"), Just("x.txt")];
    let path = prop::collection::vec(name, 1..3).prop_map(|names| names.join("/"));
    prop::collection::btree_map(path, (any::<bool>(), content()), 0..5).prop_map(without_conflicts)
}

/// The files of which no path lies below another.
fn without_conflicts(files: Kinds) -> Kinds {
    let paths: Vec<String> = files.keys().cloned().collect();
    let below = |path: &str| paths.iter().any(|other| path.starts_with(&format!("{other}/")));
    files.into_iter().filter(|(path, _)| !below(path)).collect()
}

fn source(files: &Kinds) -> Source {
    Source::new(files.iter().map(|(path, (executable, bytes))| {
        let kind = if *executable { FileKind::Executable } else { FileKind::File };
        (path.parse().unwrap(), kind, bytes.clone())
    }))
}

pub(crate) fn difference(before: &Source, after: &Source) -> Vec<u8> {
    let read = |digest: &_| before.contents.get(digest).or_else(|| after.contents.get(digest));
    diff(&before.tree, &after.tree, &read).unwrap().text
}

/// One change to a text: a byte or a line put in, taken out or repeated.
pub(crate) fn mutate(bytes: &mut Vec<u8>, at: usize, what: u8, byte: u8) {
    if bytes.is_empty() {
        return bytes.push(byte);
    }
    let at = at % bytes.len();
    let end =
        bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |line_feed| at + line_feed + 1);
    match what % 5 {
        0 => bytes[at] = byte,
        1 => bytes.insert(at, byte),
        2 => drop(bytes.drain(at..end)),
        3 => {
            let line = bytes[at..end].to_vec();
            bytes.splice(end..end, line);
        }
        _ => bytes.truncate(at),
    }
}

/// Files of which some get another name and some of those another content: the tree before, the patch, the tree after.
/// A file takes the place of the next one, or goes to a directory of its own.
fn renamed(files: &Kinds, moves: &[(bool, Option<Vec<u8>>)]) -> (Kinds, String, Kinds) {
    let plain = |path: &String| path.replace('"', "q").replace('é', "e");
    let before: Kinds = files.iter().map(|(path, file)| (plain(path), file.clone())).collect();
    let moved: Vec<(&String, &(bool, Vec<u8>))> = before.iter().take(moves.len()).collect();
    let mut after: Kinds =
        before.iter().skip(moves.len()).map(|(path, file)| (path.clone(), file.clone())).collect();
    let rotates = moves.first().is_some_and(|(rotates, _)| *rotates) && moved.len() > 1;
    let mut patch = String::new();
    for (index, (from, (executable, old))) in moved.iter().enumerate() {
        let to =
            if rotates { moved[(index + 1) % moved.len()].0.clone() } else { format!("moved/{index}/n") };
        let new = moves[index].1.as_ref().unwrap_or(old);
        patch += &format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n");
        let one = |bytes: &Vec<u8>| source(&Kinds::from([("x".to_owned(), (false, bytes.clone()))]));
        let text = difference(&one(old), &one(new));
        // Bytes that are not UTF-8 stand in no patch that is written as text here.
        if let Some(hunks) = String::from_utf8(text).ok().filter(|text| !text.is_empty()) {
            let (_, hunks) = hunks.split_once("+++ b/x\n").unwrap();
            patch += &format!("--- a/{from}\t\n+++ b/{to}\t\n{hunks}");
            after.insert(to, (*executable, new.clone()));
        } else {
            after.insert(to, (*executable, old.clone()));
        }
    }
    (before, patch, after)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn the_difference_of_two_trees_leads_from_one_to_the_other((before, after) in (tree(), tree())) {
        let (before, after) = (source(&before), source(&after));
        let patch = difference(&before, &after);
        if before.tree == after.tree {
            prop_assert!(patch.is_empty());
            return Ok(());
        }
        let applied = before.apply(&patch).map_err(|refused| {
            TestCaseError::fail(format!("{refused:?}\n{}", patch.escape_ascii()))
        })?;
        prop_assert_eq!(applied.tree.digest(), after.tree.digest());
        prop_assert_eq!(&applied.canonical.text, &patch);
        prop_assert!(applied.warnings.is_empty());
        prop_assert!(applied.matches.iter().all(|found| found.how == MatchedBy::StatedLine));
        prop_assert_eq!(applied.changes.len(), applied.canonical.comparison.files.len());
        if let Err(Refused::Apply(PatchRefusal::AlreadyApplied(effect))) = after.apply(&patch) {
            let effect = effect.unwrap();
            prop_assert_eq!((effect.before, effect.canonical), (before.tree.digest(), applied.canonical));
            prop_assert_eq!(effect.matches, applied.matches);
        }
    }

    #[test]
    fn a_mutated_patch_is_refused_or_does_what_its_canonical_form_does(
        (before, after) in (tree(), tree()),
        mutations in prop::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 1..4),
    ) {
        let (before, after) = (source(&before), source(&after));
        let mut patch = difference(&before, &after);
        for (at, what, byte) in mutations {
            mutate(&mut patch, at, what, byte);
        }
        let (digest, listing) = (before.tree.digest(), before.listing());
        if let Ok(applied) = before.apply(&patch) {
            prop_assert_ne!(applied.tree.digest(), digest);
            let again = before.apply(&applied.canonical.text).unwrap();
            prop_assert_eq!(again.tree.digest(), applied.tree.digest());
        }
        prop_assert_eq!(before.tree.digest(), digest);
        prop_assert_eq!(before.listing(), listing);
    }

    #[test]
    fn arbitrary_bytes_are_understood_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse(&bytes);
        let _ = parse(&[patch_a("@@ -1 +1 @@\n").as_bytes(), &bytes].concat());
        let _ = parse(&[b"diff --git ", bytes.as_slice()].concat());
    }

    #[test]
    fn arbitrary_lines_of_patches_are_understood_or_refused(
        lines in prop::collection::vec(prop_oneof![
            Just("diff --git a/x b/x"), Just("--- a/x"), Just("+++ b/x"), Just("--- /dev/null"), Just("+++ /dev/null"),
            Just("@@ -1 +1 @@"), Just("@@ -1,2 +1,2 @@"), Just("@@ -0,0 +1 @@"), Just(" x"), Just("-x"), Just("+y"), Just(""),
            Just("\\ No newline at end of file"), Just("-- "), Just("2.47"), Just("From 1"), Just("new file mode 100644"),
            Just("deleted file mode 100644"), Just("old mode 100644"), Just("new mode 100755"), Just("index 1..2 100644"),
            Just("Index: x"), Just("rename from x"), Just("rename to y"), Just("diff --git a/x b/y"), Just("--- a/y"),
            Just("+++ b/y"), Just("@@"), Just("@@ ... @@"),
        ], 0..14),
    ) {
        let base = Source::of(&[("x", "x\nx\n")]);
        if let Ok(applied) = base.apply((lines.join("\n") + "\n").as_bytes()) {
            let again = base.apply(&applied.canonical.text).unwrap();
            prop_assert_eq!(again.tree.digest(), applied.tree.digest());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, rng_seed: RngSeed::Fixed(8), ..ProptestConfig::default() })]

    #[test]
    fn a_patch_of_renames_leads_where_its_canonical_form_does(
        files in tree(), moves in prop::collection::vec((any::<bool>(), prop::option::of(content())), 1..4),
    ) {
        let (before, patch, after) = renamed(&files, &moves);
        prop_assume!(!patch.is_empty());
        let (before, after) = (source(&before), source(&after));
        match before.apply(patch.as_bytes()) {
            Ok(applied) => {
                prop_assert_eq!(applied.tree.digest(), after.tree.digest());
                let again = before.apply(&applied.canonical.text).unwrap();
                prop_assert_eq!(again.tree.digest(), applied.tree.digest());
                prop_assert_eq!(again.canonical.digest, applied.canonical.digest);
            }
            // Files of one content that take each other's places leave things as they were.
            Err(refused) => prop_assert_eq!(refused.code(), "PATCH_NO_EFFECT", "{}", patch),
        }
    }
}
