use ambit_ids::{Digest, RepoPath};
use ambit_revision::{FileKind, Touch, TouchedFile, diff};

use crate::source::Source;

fn path(bytes: &[u8]) -> RepoPath {
    RepoPath::from_bytes(bytes).unwrap()
}

fn of(files: &[(&[u8], FileKind, &str)]) -> Source {
    Source::new(files.iter().map(|(name, kind, text)| (path(name), *kind, text.as_bytes().to_vec())))
}

fn touched(before: &Source, after: &Source) -> Vec<TouchedFile> {
    let content = |digest: &Digest| before.contents.get(digest).or_else(|| after.contents.get(digest));
    diff(&before.tree, &after.tree, &content).unwrap().comparison.touched()
}

// proves E-S08 D4
// break crates/domain/revision/src/touched.rs: `for file in self.files.iter().filter(|file| !gone.contains(&file.path)) {` -> `for file in &self.files {`
// break crates/domain/revision/src/touched.rs: `touch: if from.is_some() { Touch::Renamed } else { touch(file) },` -> `touch: touch(file),`
#[test]
fn each_touched_file_is_told_once_whatever_its_name() {
    use FileKind::{Executable, File, Link};
    let before = of(&[
        (b"changed \"so\" it is", File, "one"),
        (b"gone\nwith a line feed", File, "gone"),
        (b"kept", File, "kept"),
        (b"mode", File, "mode"),
        (b"moved from here", File, "moved"),
        (b"was a file", File, "target"),
        (b"empty", File, ""),
    ]);
    let after = of(&[
        (b"changed \"so\" it is", File, "two"),
        (b"kept", File, "kept"),
        (b"mode", Executable, "mode"),
        (b"dir/moved to there", File, "moved"),
        (b"new\xff\ttab", File, "new"),
        (b"was a file", Link, "target"),
        (b"empty too", File, ""),
    ]);
    let told: Vec<(RepoPath, Touch, Option<RepoPath>)> =
        touched(&before, &after).into_iter().map(|file| (file.path, file.touch, file.from)).collect();
    let expected = [
        (path(b"changed \"so\" it is"), Touch::Modified, None),
        (path(b"dir/moved to there"), Touch::Renamed, Some(path(b"moved from here"))),
        (path(b"empty"), Touch::Deleted, None),
        (path(b"empty too"), Touch::Added, None),
        (path(b"gone\nwith a line feed"), Touch::Deleted, None),
        (path(b"mode"), Touch::ModeChanged, None),
        (path(b"new\xff\ttab"), Touch::Added, None),
        (path(b"was a file"), Touch::Modified, None),
    ];
    assert_eq!(told, expected);
    assert_eq!(touched(&before, &before), []);
}

#[test]
fn a_renamed_file_has_what_it_was_and_what_it_is() {
    let (before, after) = (Source::of(&[("a", "same")]), Source::of(&[("b", "same")]));
    let told = touched(&before, &after);
    assert_eq!(told.len(), 1);
    assert!(told[0].before.is_some() && told[0].before == told[0].after, "{told:?}");
}
