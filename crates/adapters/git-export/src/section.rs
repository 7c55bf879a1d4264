use std::io::Write as _;

use ambit_ids::RepoPath;
use ambit_revision::{FileKind, TreeFile, hunks, quote};
use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::admitted::admit;
use crate::base85;
use crate::object::{ObjectKind, ObjectName};
use crate::source::Source;
use crate::step::Step;
use crate::{ExportError, limits};

/// The name of no object.
const NOTHING: &str = "0000000000000000000000000000000000000000";

/// One side of a file: its name in git, and its bytes.
struct Side {
    name: String,
    bytes: bytes::Bytes,
}

/// Appends what git needs to take one step.
pub(crate) fn write(step: &Step, source: &Source<'_>, text: &mut Vec<u8>) -> Result<(), ExportError> {
    match step {
        Step::Removed { path, file } => {
            head(path, path, &format!("deleted file mode {}\n", file.kind.git_mode()), text);
            body(path, &Side::of(path, file, source)?, &Side::nothing(), "", text);
        }
        Step::Created { path, file } => {
            admit(path, file.kind)?;
            head(path, path, &format!("new file mode {}\n", file.kind.git_mode()), text);
            body(path, &Side::nothing(), &Side::of(path, file, source)?, "", text);
        }
        Step::Changed { path, before, after } => {
            admit(path, after.kind)?;
            head(path, path, &modes(before.kind, after.kind), text);
            if before.content != after.content {
                let mode = if before.kind == after.kind {
                    format!(" {}", after.kind.git_mode())
                } else {
                    String::new()
                };
                body(path, &Side::of(path, before, source)?, &Side::of(path, after, source)?, &mode, text);
            }
        }
        Step::Renamed { from, path, before, after } => {
            admit(path, *after)?;
            head(from, path, &modes(*before, *after), text);
            let (from, to) = (quote(from.as_bytes()), quote(path.as_bytes()));
            let lines: [&[u8]; 5] =
                [b"similarity index 100%\nrename from ", &from, b"\nrename to ", &to, b"\n"];
            text.extend(lines.concat());
        }
    }
    Ok(())
}

fn head(old: &RepoPath, new: &RepoPath, lines: &str, text: &mut Vec<u8>) {
    text.extend(
        [b"diff --git ", prefixed(b"a/", old).as_slice(), b" ", &prefixed(b"b/", new), b"\n"].concat(),
    );
    text.extend_from_slice(lines.as_bytes());
}

fn modes(before: FileKind, after: FileKind) -> String {
    if before == after {
        return String::new();
    }
    format!("old mode {}\nnew mode {}\n", before.git_mode(), after.git_mode())
}

fn prefixed(prefix: &[u8], path: &RepoPath) -> Vec<u8> {
    quote(&[prefix, path.as_bytes()].concat())
}

/// The content of one file: as lines where a mail carries them as they are, or else as a whole.
fn body(path: &RepoPath, before: &Side, after: &Side, mode: &str, text: &mut Vec<u8>) {
    text.extend_from_slice(format!("index {}..{}{mode}\n", before.name, after.name).as_bytes());
    if before.bytes == after.bytes {
        return;
    }
    let is_binary = [before, after].iter().any(|side| memchr::memchr(0, &side.bytes).is_some());
    let lines = if is_binary { Vec::new() } else { hunks(&before.bytes, &after.bytes) };
    if is_binary || !is_mailable(&lines) {
        literal(&after.bytes, text);
        return;
    }
    let name = |side: &Side, prefix| {
        if side.name == NOTHING { b"/dev/null".to_vec() } else { prefixed(prefix, path) }
    };
    // A name with a space ends with a tab, so that what follows the space is not taken for a time.
    let ended = |name: Vec<u8>| {
        let end: &[u8] = if name.contains(&b' ') && !name.starts_with(b"\"") { b"\t\n" } else { b"\n" };
        [name.as_slice(), end].concat()
    };
    let (old, new) = (ended(name(before, b"a/")), ended(name(after, b"b/")));
    text.extend([b"--- ", old.as_slice(), b"+++ ", &new, &lines].concat());
}

/// Whether lines arrive as they were sent. Git takes a carriage return at the end of a line of a mail for a part of the
/// line's end, and servers break lines that are too long.
fn is_mailable(lines: &[u8]) -> bool {
    lines
        .split(|byte| *byte == b'\n')
        .all(|line| line.len() <= limits::MAIL_LINE_BYTES && !line.ends_with(b"\r"))
}

fn literal(bytes: &[u8], text: &mut Vec<u8>) {
    text.extend_from_slice(format!("GIT binary patch\nliteral {}\n", bytes.len()).as_bytes());
    base85::write_lines(&deflated(bytes), text);
    text.push(b'\n');
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // INVARIANT: writing to a vector does not fail.
    #[expect(clippy::expect_used, reason = "a vector takes whatever is written to it")]
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("a vector takes it all")
}

impl Side {
    fn nothing() -> Self {
        Self { name: NOTHING.to_owned(), bytes: bytes::Bytes::new() }
    }

    fn of(path: &RepoPath, file: &TreeFile, source: &Source<'_>) -> Result<Self, ExportError> {
        let bytes = source.read(path, &file.content, file.size)?;
        let name = ObjectName::of(ObjectKind::Blob, &bytes)
            .map_err(|_| ExportError::Collision { path: path.clone() })?;
        Ok(Self { name: name.to_string(), bytes })
    }
}
