use crate::patch::fault::{Form, PatchFault};
use crate::patch::lines::is_combined;

/// Starts of lines that some reader of patches takes for a part of one.
const STARTS: [&[u8]; 22] = [
    b"@@",
    b"+++ ",
    b"--- ",
    b"*** ",
    b"<<<<<<<",
    b">>>>>>>",
    b"------- SEARCH",
    b"+++++++ REPLACE",
    b"diff --",
    b"GIT binary patch",
    b"Binary files ",
    b"Only in ",
    b"Submodule ",
    b"new file mode ",
    b"deleted file mode ",
    b"old mode ",
    b"new mode ",
    b"rename from ",
    b"rename to ",
    b"copy from ",
    b"copy to ",
    b"similarity index ",
];

/// What is wrong with a line outside of any file; `None` where it is prose that nobody takes for a part of a patch.
pub(in crate::patch) fn fault(line: &[u8]) -> Option<PatchFault> {
    if line.starts_with(b"@@@") || is_combined(line) {
        return Some(PatchFault::Unsupported(Form::Combined));
    }
    if line.starts_with(b"@@") {
        return Some(PatchFault::Header("a hunk stands apart from the header of a file"));
    }
    if line.starts_with(b"+++ ") || line.starts_with(b"--- ") {
        return Some(PatchFault::Header("`--- NAME` and `+++ NAME` must stand together, in this order"));
    }
    if line.starts_with(b"*** ") {
        return Some(PatchFault::BeginPatch("the line stands outside of any block"));
    }
    if line.starts_with(b"<<<<<<<") || line.starts_with(b">>>>>>>") {
        return Some(PatchFault::SearchReplace("the line stands outside of any block"));
    }
    // Some readers take a patch that is indented or quoted for one.
    let inner = line.trim_ascii_start();
    let quoted =
        inner.iter().position(|b| !matches!(b, b'>' | b' ' | b'\t')).map_or(&[][..], |at| &inner[at..]);
    let is_taken = |text: &[u8]| STARTS.iter().any(|start| text.starts_with(start)) || is_command(text);
    (is_taken(inner) || is_taken(quoted)).then_some(PatchFault::Unsupported(Form::Prose))
}

/// Whether a line is a command of a diff without headers or of the editor `ed`, such as `3,4c3` and `7d`.
fn is_command(line: &[u8]) -> bool {
    let text = line.trim_ascii_end();
    let of_range = |text: &[u8]| text.iter().all(|b| b.is_ascii_digit() || *b == b',');
    match text.iter().position(|b| matches!(b, b'a' | b'c' | b'd')) {
        Some(at) => text[0].is_ascii_digit() && of_range(&text[..at]) && of_range(&text[at + 1..]),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_someone_may_take_for_a_patch_is_no_prose() {
        for (line, code) in [
            ("Here is the change:", "prose"),
            ("- a list", "prose"),
            ("---", "prose"),
            ("=======", "prose"),
            ("> quoted", "prose"),
            ("3 cases, 4 faults", "prose"),
            ("a", "prose"),
            ("3d view", "prose"),
            ("diff of both", "prose"),
            ("@@ -1 +1 @@", "PATCH_HEADER"),
            ("--- a/x", "PATCH_HEADER"),
            ("diff --cc x", "PATCH_UNSUPPORTED_COMBINED"),
            ("*** Update File: x", "PATCH_BEGIN_PATCH"),
            ("<<<<<<< HEAD", "PATCH_SEARCH_REPLACE"),
            ("  <<<<<<< SEARCH", "PATCH_UNSUPPORTED_PROSE"),
            ("> --- a/x", "PATCH_UNSUPPORTED_PROSE"),
            ("    @@ -1 +1 @@", "PATCH_UNSUPPORTED_PROSE"),
            ("------- SEARCH", "PATCH_UNSUPPORTED_PROSE"),
            ("Binary files a/x and b/x differ", "PATCH_UNSUPPORTED_PROSE"),
            ("rename from x", "PATCH_UNSUPPORTED_PROSE"),
            ("3,4c3", "PATCH_UNSUPPORTED_PROSE"),
            ("7d", "PATCH_UNSUPPORTED_PROSE"),
        ] {
            let judged = fault(format!("{line}\n").as_bytes()).map_or("prose", |fault| fault.code());
            assert_eq!(judged, code, "{line}");
        }
    }
}
