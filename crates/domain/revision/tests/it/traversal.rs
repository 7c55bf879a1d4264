//! Paths that lead out, as headers of patches.

use std::fs;

use ambit_ids::RepoPath;

use crate::cases::directory;
use crate::source::Source;

fn header_of(path: &[u8]) -> Vec<u8> {
    [b"--- /dev/null\n+++ b/", path, b"\n@@ -0,0 +1 @@\n+x\n"].concat()
}

/// Whether a component climbs for any reader that takes a backslash for a separator too.
fn climbs(path: &[u8]) -> bool {
    path.split(|b| matches!(b, b'/' | b'\\')).any(|component| component == b"..")
}

// proves E-E08
// break crates/domain/revision/src/patch/policy.rs: `if bytes.contains(&b'\\') {` -> `if false {`
#[test]
fn no_path_that_leads_out_is_ever_written() {
    let Some(file) = directory("paths/traversal.txt") else { return };
    let (mut refused, mut literal) = (0, 0);
    let empty = Source::of(&[]);
    for line in fs::read(file).unwrap().split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        let line = String::from_utf8_lossy(line).replace("{FILE}", "etc/passwd").into_bytes();
        let shown = line.escape_ascii().to_string();
        let dangerous = climbs(&line) || line.starts_with(b"/") || line.contains(&b'\\');
        match empty.apply(&header_of(&line)) {
            Err(_) => refused += 1,
            Ok(applied) => {
                assert!(!dangerous, "{shown}");
                let files: Vec<RepoPath> = applied.tree.files().map(|(path, _)| path).collect();
                assert_eq!(files.len(), 1, "{shown}");
                assert_eq!(files[0].as_bytes(), line, "a path was decoded: {shown}");
                literal += 1;
            }
        }
    }
    assert!(refused > 100 && literal > 0, "{refused} refused, {literal} as they are");
    println!("{refused} refused, {literal} taken as they are");
}
