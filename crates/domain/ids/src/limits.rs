//! Every limit that more than one crate must agree on, with its unit in the name.

/// The largest document (blueprint, profile, catalog, policy bundle) that is read.
pub const DOCUMENT_BYTES: usize = 1 << 20;
/// The deepest nesting of a document or of canonical JSON.
pub const NESTING_DEPTH: usize = 16;
/// The largest integer in canonical JSON (RFC 7493, I-JSON): 2^53 - 1.
pub const CANONICAL_INTEGER_MAX: u64 = (1 << 53) - 1;
/// The largest canonical record. An entry of a C2SP tile bundle has at most 65,535 bytes; payloads go to blobs.
pub const RECORD_BYTES: usize = 32 << 10;

/// The most records, claims, messages or answers of one commit, each.
pub const COMMIT_ITEMS: usize = 256;
/// The longest label beside a record: its kind, a claim's key or value, the type of a message, the owner of a lease.
pub const LABEL_BYTES: usize = 512;
/// The most commands that may wait for the owner of one stream.
pub const INBOX_ENTRIES: usize = 1024;

/// The longest path of a project file.
pub const PATH_BYTES: usize = 1024;
/// The longest component of such a path.
pub const PATH_COMPONENT_BYTES: usize = 255;
/// The deepest directory nesting of a project.
pub const PATH_COMPONENTS: usize = 64;
/// The most entries of a source tree.
pub const TREE_ENTRIES: usize = 1_000_000;
/// The largest single file of a source tree.
pub const FILE_BYTES: u64 = 64 << 20;

/// The most arguments and variables of one command together.
pub const COMMAND_WORDS: usize = 4096;
/// The most bytes that the arguments and variables of one command take together, each with the byte that ends it and the
/// eight of the pointer to it. Linux takes 128 KiB of them however small the stack may be (`execve(2)`), and no longer
/// word than that; the rest is for the name of the program and for that of an interpreter.
pub const COMMAND_WORD_BYTES: usize = 112 << 10;
/// The most volumes that one command may name.
pub const COMMAND_VOLUMES: usize = 8;
/// The most mounts of volumes, by name and digest, that the commands of one run may name together.
pub const RUN_VOLUMES: usize = 16;

/// The largest patch that an agent may propose.
pub const PATCH_BYTES: usize = 1 << 20;
/// The most files that one patch may touch.
pub const PATCH_FILES: usize = 256;
/// The most bytes, as text, of all paths that one patch may touch: they stand in one record.
pub const PATCH_PATH_BYTES: usize = 8 << 10;
/// The most bytes of all files together that one patch may rename, or remove without repeating their lines. Its
/// canonical form repeats them.
pub const PATCH_WHOLE_BYTES: u64 = 16 << 20;
/// The most hunks of one patch.
pub const PATCH_HUNKS: usize = 4096;

/// The largest answer of an agent to one turn.
pub const AGENT_ANSWER_BYTES: usize = 4 << 20;
/// The longest free text of an agent that is kept (a hypothesis, a reason, a plan step).
pub const AGENT_TEXT_BYTES: usize = 4096;
/// The most calls that may wait in one answer; one is decided at a time.
pub const QUEUED_CALLS: usize = 64;
/// The most steps of a plan.
pub const PLAN_STEPS: usize = 32;
/// The most bytes of all texts of a plan together.
pub const PLAN_BYTES: usize = 12 << 10;
/// The most bytes of facts, as text, that the record of a decision holds.
pub const RECORD_FACT_BYTES: usize = 8 << 10;

/// How much of each end of an output stream an observation carries. The whole lies in the blob store.
pub const OUTPUT_WINDOW_BYTES: usize = 5 << 10;
/// The most bytes of all files that are kept of one declared directory.
pub const OUTPUT_DIRECTORY_BYTES: u64 = 64 << 20;
/// The most files, directories and other entries that a declared directory may have below it.
pub const OUTPUT_DIRECTORY_ENTRIES: u32 = 1024;
/// How many directories deep a declared directory may be, itself counted.
pub const OUTPUT_DIRECTORY_DEPTH: usize = 16;
/// The most files of one hidden check.
pub const HIDDEN_FILES: usize = 1024;
/// The most bytes of all files of one hidden check.
pub const HIDDEN_BYTES: u64 = 16 << 20;
/// The most bytes of a file that one read answers inline.
pub const READ_BYTES: usize = 256 << 10;

const _: () =
    assert!(COMMAND_WORD_BYTES + 16 * 1024 <= 128 << 10, "what is allowed must start under any limit");
const _: () = assert!(RECORD_BYTES < 65_536, "a record must fit an entry of a tile bundle");
const _: () = assert!(AGENT_ANSWER_BYTES > 2 * PATCH_BYTES, "an answer must hold a patch in JSON escapes");
const _: () = assert!(AGENT_TEXT_BYTES * 2 < RECORD_BYTES, "a record must hold an agent's text");
