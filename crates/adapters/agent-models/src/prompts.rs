//! The prompts: files under version control, and a digest of all of them.

use ambit_ids::Digest;

/// The instructions of every request.
pub(crate) const SYSTEM: &str = include_str!("../prompts/system.md");
/// What stands before the notes of a project.
pub(crate) const NOTES: &str = include_str!("../prompts/notes.md");
/// What is told to a model that knows nothing of a run which began before.
pub(crate) const RESUMED: &str = include_str!("../prompts/resumed.md");
/// What is told after an answer without a call.
pub(crate) const WITHOUT_CALL: &str = include_str!("../prompts/without-call.md");
/// What is told after an answer that was cut off.
pub(crate) const CUT_OFF: &str = include_str!("../prompts/cut-off.md");
/// What is told after a refusal.
pub(crate) const REFUSED: &str = include_str!("../prompts/refused.md");
/// What is told of a call of which no result is known.
pub(crate) const NOT_TAKEN: &str = include_str!("../prompts/not-taken.md");

macro_rules! tool {
    ($name:literal) => {
        ($name, include_str!(concat!("../prompts/tools/", $name, ".md")))
    };
}

/// What is told of each tool beyond the sentence that the platform has for it.
const TOOLS: &[(&str, &str)] = &[
    tool!("propose_plan"),
    tool!("read_project_file"),
    tool!("list_project_files"),
    tool!("search_project_text"),
    tool!("apply_project_patch"),
    tool!("run_named_gate"),
    tool!("request_scoped_approval"),
];

/// Every prompt with its name, which is that of its file.
pub fn prompts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let named = [
        ("system", SYSTEM),
        ("notes", NOTES),
        ("resumed", RESUMED),
        ("without-call", WITHOUT_CALL),
        ("cut-off", CUT_OFF),
        ("refused", REFUSED),
        ("not-taken", NOT_TAKEN),
    ];
    named.into_iter().chain(TOOLS.iter().copied())
}

/// The digest of all prompts and their names.
#[must_use]
pub fn prompts_digest() -> Digest {
    let parts: Vec<&[u8]> = prompts().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]).collect();
    Digest::of_parts(&parts)
}

/// What is told of a tool beyond the sentence that the platform has for it; empty for one that is not known.
pub(crate) fn of_tool(name: &str) -> &'static str {
    TOOLS.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text.trim_end())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_is_a_prompt_and_counts_in_the_digest() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts");
        let named = |folder: &Path| -> BTreeSet<String> {
            let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            files
                .filter(|path| path.is_file())
                .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
                .collect()
        };
        let mut files = named(&folder);
        files.extend(named(&folder.join("tools")));
        let known: BTreeSet<String> = prompts().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(files, known);
        let other: Vec<&[u8]> = prompts()
            .flat_map(|(name, text)| [name.as_bytes(), if name == "refused" { b"" } else { text.as_bytes() }])
            .collect();
        assert_ne!(prompts_digest(), Digest::of_parts(&other));
    }
}
