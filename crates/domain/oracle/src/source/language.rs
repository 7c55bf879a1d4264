use ambit_ids::RepoPath;

/// The families of languages that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// Python.
    Python,
    /// JavaScript and TypeScript. In JSX a quotation mark may stand in text.
    JavaScript {
        /// Whether elements may stand in the source.
        jsx: bool,
    },
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// Java and Kotlin.
    Java,
}

/// Extensions of source that is not read.
const FOREIGN: [&[u8]; 30] = [
    b"rb", b"php", b"cs", b"fs", b"c", b"cc", b"cpp", b"cxx", b"h", b"hpp", b"m", b"mm", b"swift", b"scala",
    b"clj", b"ex", b"exs", b"erl", b"hs", b"ml", b"lua", b"pl", b"r", b"jl", b"dart", b"groovy", b"sh",
    b"bats", b"vue", b"svelte",
];

impl Language {
    /// The language that the name of the file tells.
    pub(crate) fn of(path: &RepoPath) -> Option<Self> {
        match extension(path)? {
            b"py" | b"pyi" | b"pyw" => Some(Self::Python),
            b"js" | b"mjs" | b"cjs" | b"ts" | b"mts" | b"cts" => Some(Self::JavaScript { jsx: false }),
            b"jsx" | b"tsx" => Some(Self::JavaScript { jsx: true }),
            b"rs" => Some(Self::Rust),
            b"go" => Some(Self::Go),
            b"java" | b"kt" | b"kts" => Some(Self::Java),
            _ => None,
        }
    }

    /// Whether the file is source in a language that is not read.
    pub(crate) fn is_foreign(path: &RepoPath) -> bool {
        extension(path).is_some_and(|extension| FOREIGN.contains(&extension))
    }
}

fn extension(path: &RepoPath) -> Option<&[u8]> {
    let name = path.file_name();
    name.iter().rposition(|byte| *byte == b'.').map(|dot| &name[dot + 1..])
}
