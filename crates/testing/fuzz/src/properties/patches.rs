use ambit_ids::Digest;
use ambit_revision::{Applied, FileKind, HunkMatch, LineKind, Operation, PatchSet, Tree, TreeFile, diff};

use crate::scene::{Source, sections, source};

/// Bytes are understood as a patch or refused with a line that they have, and always alike.
pub fn parse(input: &[u8]) {
    let lines = input.split_inclusive(|b| *b == b'\n').count();
    match (ambit_revision::parse(input), ambit_revision::parse(input)) {
        (Ok(patch), Ok(again)) => {
            assert_eq!(patch, again);
            assert_eq!(patch.source(), Digest::of(input));
            assert!(!patch.files().is_empty(), "an empty patch was understood");
        }
        (Err(error), Err(again)) => {
            assert_eq!(error, again);
            assert!((1..=lines.max(1)).contains(&error.line), "{error} and {lines} lines");
        }
        _ => panic!("understood once, and refused once"),
    }
}

/// A patch is applied, and then does exactly what its canonical form does; or refused, and then nothing changed. The
/// sections `b NAME` are the base, the last one is the patch.
pub fn apply(input: &[u8]) {
    let sections = sections(input);
    let Some(((_, patch), files)) = sections.split_last() else { return };
    let Some(base) = source(files, b"b ") else { return };
    let before = base.tree.digest();
    let applied = applied(&base, patch);
    assert_eq!(base.tree.digest(), before, "the base changed");
    let Some(applied) = applied else { return };
    if let (Ok(patch), []) = (ambit_revision::parse(patch), applied.warnings.as_slice()) {
        spliced_by_hand(&base, &patch, &applied);
    }
    assert_ne!(applied.tree.digest(), before, "an accepted patch had no effect");
    assert_eq!(applied.changes, base.tree.diff(&applied.tree));
    let has_link = |file: &Option<TreeFile>| file.is_some_and(|file| file.kind == FileKind::Link);
    let links = applied.changes.iter().any(|change| has_link(&change.before) || has_link(&change.after));
    assert!(!links, "a patch reached a link");
    let again = self::applied(&base, &applied.canonical.text);
    let again = again.map(|again| (again.tree.digest(), again.canonical.digest));
    assert_eq!(again, Some((applied.tree.digest(), applied.canonical.digest)), "the canonical form differs");
}

/// The difference of two trees leads from one to the other: exactly, or it is refused where it holds a link or a binary
/// file. The sections `b NAME` are the one tree, `a NAME` the other.
pub fn difference(input: &[u8]) {
    let sections = sections(input);
    let (Some(before), Some(after)) = (source(&sections, b"b "), source(&sections, b"a ")) else { return };
    let read = |digest: &Digest| before.contents.get(digest).or_else(|| after.contents.get(digest));
    let Ok(found) = diff(&before.tree, &after.tree, &read) else { panic!("a content is missing") };
    if before.tree == after.tree {
        return assert!(found.text.is_empty());
    }
    let can_be_patched = can_be_patched(&before.tree, &after.tree, &read);
    match applied(&before, &found.text) {
        Some(applied) => {
            assert_eq!(applied.tree.digest(), after.tree.digest());
            assert_eq!(applied.canonical.text, found.text);
        }
        None => assert!(!can_be_patched, "refused:\n{}", found.text.escape_ascii()),
    }
}

fn applied(base: &Source, patch: &[u8]) -> Option<Applied> {
    let patch = ambit_revision::parse(patch).ok()?;
    ambit_revision::apply(&base.tree, &base.tree.digest(), &patch, &base.contents).ok()
}

/// Puts the hunks at the lines where they were found, one line after the other, and compares: what was removed and what
/// stands around it is the file's own, byte for byte.
fn spliced_by_hand(base: &Source, patch: &PatchSet, applied: &Applied) {
    for file in patch.files() {
        let from = match file.operation() {
            Operation::Modify { .. } => file.path(),
            Operation::Rename { from, .. } => from,
            Operation::Create { .. } | Operation::Delete { .. } => continue,
        };
        let (Some(before), Some(after)) = (base.tree.get(from), applied.tree.get(file.path())) else {
            panic!("{from} or {} is not there", file.path())
        };
        let before = base.contents.get(&before.content).unwrap_or_default();
        let after = applied.blobs.get(&after.content).or_else(|| base.contents.get(&after.content));
        let lines: Vec<&[u8]> = before.split_inclusive(|b| *b == b'\n').collect();
        let of_file = |found: &&HunkMatch| found.path == *file.path();
        let mut places: Vec<&HunkMatch> = applied.matches.iter().filter(of_file).collect();
        assert_eq!(places.len(), file.hunks().len());
        places.sort_by_key(|found| found.line);
        let (mut spliced, mut at) = (Vec::new(), 0);
        for place in places {
            let Some(hunk) = file.hunks().iter().find(|hunk| hunk.number() == place.hunk) else {
                panic!("a hunk was found that is not there")
            };
            spliced.extend(lines[at..place.line - 1].concat());
            at = place.line - 1;
            for (kind, line) in hunk.lines() {
                if kind != LineKind::Added {
                    assert_eq!(lines.get(at), Some(&line), "a line that stands is not the one of the hunk");
                    at += 1;
                }
                if kind != LineKind::Removed {
                    spliced.extend_from_slice(line);
                }
            }
        }
        spliced.extend(lines[at..].concat());
        assert_eq!(after, Some(spliced.as_slice()), "{} was spliced otherwise", file.path());
    }
}

/// Whether every changed path may stand in a patch, by name and by content.
fn can_be_patched<'c>(before: &Tree, after: &Tree, read: &dyn Fn(&Digest) -> Option<&'c [u8]>) -> bool {
    let changes = before.diff(after);
    let is_text = |file: Option<TreeFile>| {
        file.is_none_or(|file| {
            file.kind != FileKind::Link && read(&file.content).is_some_and(|bytes| !bytes.contains(&0))
        })
    };
    changes.iter().all(|change| {
        let plain = |b: &u8| b.is_ascii_lowercase() || matches!(b, b'/' | b'_');
        // Names that are refused are judged elsewhere; here these letters can spell a device of Windows alone.
        let named = change.path.as_bytes().iter().all(plain) && !spells_a_device(change.path.as_bytes());
        named && is_text(change.before) && is_text(change.after)
    })
}

fn spells_a_device(path: &[u8]) -> bool {
    path.split(|b| *b == b'/').any(|name| matches!(name, b"con" | b"prn" | b"aux" | b"nul"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_is_a_scene_is_applied() {
        let scene = b"%% b a\none\ntwo\n\n%% p\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
        let found = sections(scene);
        assert_eq!(found[1], (&b"b a"[..], &b"one\ntwo\n"[..]));
        let Some(base) = source(&found, b"b ") else { panic!("no tree") };
        assert_eq!(base.tree.file_count(), 1);
        assert!(applied(&base, found[2].1).is_some());
        apply(scene);
    }
}
