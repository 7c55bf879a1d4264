use ambit_ids::{GivenPath, RepoPath};

use super::fault::{NameFault, PatchFault};

/// The path that a patch may touch under these bytes, by name alone.
pub(super) fn admit(bytes: &[u8]) -> Result<RepoPath, PatchFault> {
    let refused = |fault| PatchFault::Name(GivenPath::of(bytes), fault);
    if bytes.starts_with(b"//") || bytes.starts_with(b"\\\\") {
        return Err(refused(NameFault::Share));
    }
    if bytes.contains(&b'\\') {
        return Err(refused(NameFault::Backslash));
    }
    let path = RepoPath::from_bytes(bytes).map_err(|why| PatchFault::Path(GivenPath::of(bytes), why))?;
    match name_fault(&path) {
        None => Ok(path),
        Some(fault) => Err(refused(fault)),
    }
}

/// What is wrong with the name of a path that is within the project.
fn name_fault(path: &RepoPath) -> Option<NameFault> {
    if !path.is_printable() {
        return Some(NameFault::Unprintable);
    }
    if matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic()) {
        return Some(NameFault::Drive);
    }
    for component in path.components() {
        if component.ends_with(b".") || component.ends_with(b" ") {
            return Some(NameFault::Trailing);
        }
        if is_windows_device(component) {
            return Some(NameFault::Reserved);
        }
    }
    None
}

/// Whether Windows opens a device under this name. What follows a dot or a colon does not matter to it, nor do spaces
/// before either; superscript digits count as digits.
fn is_windows_device(component: &[u8]) -> bool {
    let stem = component.split(|b| matches!(b, b'.' | b':')).next().unwrap_or_default();
    let stem = stem.trim_ascii_end().to_ascii_lowercase();
    match stem.as_slice() {
        b"con" | b"prn" | b"aux" | b"nul" | b"conin$" | b"conout$" => true,
        [b'c', b'o', b'm', port @ ..] | [b'l', b'p', b't', port @ ..] => {
            matches!(port, [b'0'..=b'9']) || ["¹", "²", "³"].iter().any(|digit| digit.as_bytes() == port)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bytes: &[u8]) -> &'static str {
        admit(bytes).map_or_else(|fault| fault.code(), |_| "admitted")
    }

    #[test]
    fn ordinary_names_are_admitted() {
        for name in [
            "a",
            "src/lib.rs",
            "~/x",
            "$HOME/x",
            "%2e%2e/x",
            "proc/self",
            "a b.txt",
            ".gitignore",
            "console.log",
            "com10",
            "comet.txt",
            "lpt.rs",
            "nulls",
            "x/auxiliary.c",
            "Foo::Bar.3",
            "with\"quote",
            "日本/ファイル",
        ] {
            assert_eq!(code(name.as_bytes()), "admitted", "{name}");
        }
        assert_eq!(code(b"caf\xe9"), "admitted");
    }

    #[test]
    fn a_name_that_is_refused_is_told_as_it_was_given() {
        let long = format!("{}/x", "d".repeat(4000));
        for (name, told) in [
            (&b"../x"[..], "\"../x\": the path has a `..` component"),
            (b"a/..\0b", "\"a/..\\x00b\": the path holds a NUL byte"),
            (b"a\x1b[2J ", "\"a\\x1b[2J \": the path holds a character that does not show"),
            (b"a\\caf\xe9", "\"a\\\\caf\\xe9\": the path holds a backslash"),
            (b"a ", "\"a \": the path has a component that ends with a dot or a space"),
            (b"", "\"\": the path is empty"),
        ] {
            let fault = admit(name).unwrap_err();
            assert_eq!(fault.to_string(), told);
            assert!(told.starts_with(&format!("\"{}\":", fault.path().unwrap())), "{told}");
        }
        let fault = admit(long.as_bytes()).unwrap_err();
        assert!(fault.path().unwrap().ends_with("d/x") && fault.to_string().len() < 400, "{fault}");
    }

    #[test]
    fn names_that_are_something_else_elsewhere_are_refused() {
        for (name, expected) in [
            ("a\\b", "PATCH_PATH_BACKSLASH"),
            ("..\\x", "PATCH_PATH_BACKSLASH"),
            ("C:/x", "PATCH_PATH_DRIVE"),
            ("c:x", "PATCH_PATH_DRIVE"),
            ("aux", "PATCH_PATH_RESERVED"),
            ("src/NUL.txt", "PATCH_PATH_RESERVED"),
            ("con .txt", "PATCH_PATH_RESERVED"),
            ("a/COM1", "PATCH_PATH_RESERVED"),
            ("lpt9:x", "PATCH_PATH_RESERVED"),
            ("com²", "PATCH_PATH_RESERVED"),
            ("a./b", "PATCH_PATH_TRAILING"),
            ("a ", "PATCH_PATH_TRAILING"),
            ("...", "PATCH_PATH_TRAILING"),
            ("a\nb", "PATCH_PATH_UNPRINTABLE"),
            ("a\u{202e}b", "PATCH_PATH_UNPRINTABLE"),
            ("a\u{7f}", "PATCH_PATH_UNPRINTABLE"),
            ("../x", "PATH_PARENT"),
            ("/x", "PATH_ABSOLUTE"),
            ("a/.GIT./x", "PATH_GIT_DIRECTORY"),
            ("a//b", "PATH_NOT_NORMAL"),
            ("a/", "PATH_NOT_NORMAL"),
        ] {
            assert_eq!(code(name.as_bytes()), expected, "{name:?}");
        }
    }
}
