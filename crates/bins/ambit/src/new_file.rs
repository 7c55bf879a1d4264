//! Files that a person wants made on the command line.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::answer::Answer;
use crate::failure::Failure;

/// Writes a file that was not there, with this mode.
pub(crate) fn write_new(file: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new("USAGE_FILE_UNWRITABLE", format!("{} cannot be made: {error}", file.display()))
            .help("name a file that does not exist, in a directory that you can write to")
    };
    let mut opened =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(file).map_err(failed)?;
    opened.write_all(bytes).and_then(|()| opened.sync_all()).map_err(failed)
}

/// Writes a file that this program makes and may have made before, in a directory that is made where there is none.
pub(crate) fn write_over(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new("USAGE_FILE_UNWRITABLE", format!("{} cannot be written: {error}", file.display()))
            .help("name a directory that you can write to")
    };
    file.parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(file, bytes))
        .map_err(failed)
}

/// Writes a file that belongs to the user alone, in a directory that is made for the user alone where there is none. What
/// was there goes only once the new one is whole.
pub(crate) fn write_own(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    use std::os::unix::fs::DirBuilderExt as _;
    let failed = |error: std::io::Error| {
        Failure::new("USAGE_FILE_UNWRITABLE", format!("{} cannot be written: {error}", file.display()))
    };
    if let Some(above) = file.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(above).map_err(failed)?;
    }
    let staged = file.with_extension(format!("new.{}", std::process::id()));
    write_new(&staged, bytes, 0o600)?;
    std::fs::rename(&staged, file).map_err(failed)
}

/// Answers with a document that was made, or with the new file that it is in.
pub(crate) fn made(text: String, kind: &str, out: Option<&Path>) -> Result<Answer, Failure> {
    let Some(file) = out else {
        let json = json!({kind: text});
        return Ok(Answer::new(text, json).verbatim());
    };
    write_new(file, text.as_bytes(), 0o644)?;
    Ok(Answer::new(format!("the {kind} is in {}\n", file.display()), json!({"file": file})))
}
