use ambit_transparency::checkpoint::Checkpoint;

use ambit_transparency::note::Note;
use ambit_transparency::proof::LogProof;
use ambit_transparency::tile::{encode_bundle, parse_bundle};
use ambit_transparency::witness::{AddCheckpoint, decide};

/// Bytes are a note, and then the only spelling of it; or they are refused. Without a known key no note is believed.
pub fn note(input: &[u8]) {
    let Ok(note) = Note::parse(input) else { return };
    assert_eq!(note.to_string().as_bytes(), input, "another spelling was taken");
    assert!(note.verify(&[]).is_err(), "a note was believed without a key");
    let again = Note::new(note.text(), note.signatures().to_vec());
    assert_eq!(again.as_ref(), Ok(&note), "what was read cannot be written");
}

/// Bytes are a checkpoint, or a request to cosign one, and then the only spelling of it; or they are refused. A witness that
/// watches no log cosigns nothing.
pub fn checkpoint(input: &[u8]) {
    if let Some(text) = std::str::from_utf8(input).ok().and_then(rewritten) {
        assert_eq!(text.as_bytes(), input, "another spelling was taken");
    }
    if let Ok(request) = AddCheckpoint::parse(input) {
        assert_eq!(request.to_text().as_bytes(), input, "another spelling was taken");
        assert_eq!(decide(&[], None, &request).status(), 404, "an unknown log was answered otherwise");
    }
}

/// A checkpoint as it would be written, with the lines that we would not write; `None` for what is none of a sound log.
fn rewritten(text: &str) -> Option<String> {
    let read = Checkpoint::read(text).ok()?;
    let written = read.checkpoint.to_text().ok()?;
    Some(read.extension_lines.iter().fold(written, |text, line| text + line + "\n"))
}

/// Bytes are a proof, and then the only spelling of it; or they are refused.
pub fn proof(input: &[u8]) {
    let Ok(proof) = LogProof::parse(input) else { return };
    let text = proof.to_text();
    assert_eq!(text.as_ref().map(String::as_bytes), Ok(input), "another spelling was taken");
}

/// Bytes are a bundle of as many entries as the first of them says, and then the only spelling of those; or they are
/// refused.
pub fn bundle(input: &[u8]) {
    let Some((width, bytes)) = input.split_first() else { return };
    let width = u16::from(*width) + 1;
    let Ok(entries) = parse_bundle(bytes, width) else { return };
    assert_eq!(entries.len(), usize::from(width), "a bundle has another number of entries");
    assert_eq!(encode_bundle(&entries).as_deref(), Ok(bytes), "another spelling was taken");
}
