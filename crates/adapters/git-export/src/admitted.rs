use ambit_ids::{PathError, RepoPath, is_unprintable};
use ambit_revision::FileKind;

use crate::ExportError;

/// What some file system takes for the file in which git reads where submodules come from: its name, and its short ones.
const SUBMODULES: [&str; 3] = [".gitmodules", "gitmod~", "gi7eba"];

/// Refuses an entry that git refuses to check out. Whatever a [`RepoPath`] cannot be needs no look.
pub(crate) fn admit(path: &RepoPath, kind: FileKind) -> Result<(), ExportError> {
    let refused = path.components().any(hides_git_directory)
        || kind == FileKind::Link && may_name_submodules(path.file_name());
    if refused { Err(ExportError::Path { path: path.clone() }) } else { Ok(()) }
}

/// Where a backslash parts components, the parts are components as well.
fn hides_git_directory(name: &[u8]) -> bool {
    name.contains(&b'\\')
        && name
            .split(|byte| *byte == b'\\')
            .any(|part| RepoPath::from_bytes(part) == Err(PathError::GitDirectory))
}

fn may_name_submodules(name: &[u8]) -> bool {
    let shown: String = String::from_utf8_lossy(name).chars().filter(|c| !is_unprintable(*c)).collect();
    let shown = shown.to_ascii_lowercase();
    shown.split('\\').any(|part| SUBMODULES.iter().any(|name| part.starts_with(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_admitted(path: &str, kind: FileKind) -> bool {
        admit(&RepoPath::from_bytes(path.as_bytes()).unwrap(), kind).is_ok()
    }

    #[test]
    fn what_git_checks_out_nowhere_is_refused() {
        for (path, file, link) in [
            ("a\\b", true, true),
            ("x/.gitmodules", true, false),
            ("x/.GITMODULES ", true, false),
            (".git\u{200c}modules", true, false),
            ("gitmod~1", true, false),
            ("GI7EBA~9", true, false),
            ("a\\.git", false, false),
            (".git\\hooks\\x", false, false),
            ("d/a\\GIT~1\\x", false, false),
            (".gitignore", true, true),
        ] {
            assert_eq!(is_admitted(path, FileKind::File), file, "{path:?} as a file");
            assert_eq!(is_admitted(path, FileKind::Link), link, "{path:?} as a link");
        }
    }
}
