//! How an answer travels from a backend elsewhere: pieces of both streams, and at the very end how the command ended.
//!
//! A piece is its kind, the number of its bytes (32 bits, most significant first), and the bytes. What comes without its
//! last piece says nothing about the end of the command, whatever the streams say.

use ambit_gates::Ending;

use super::Outcome;

const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const END: u8 = 3;

/// What arrived of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Arrived {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) ending: Option<Ending>,
}

impl Outcome {
    /// The answer, as it travels.
    #[must_use]
    pub fn travelling(&self) -> Vec<u8> {
        let ending = serde_json::to_vec(&self.ending).unwrap();
        let pieces = [(STDOUT, &self.stdout), (STDERR, &self.stderr), (END, &ending)];
        let mut bytes = Vec::new();
        for (kind, content) in pieces {
            bytes.push(kind);
            bytes.extend_from_slice(&u32::try_from(content.len()).unwrap().to_be_bytes());
            bytes.extend_from_slice(content);
        }
        bytes
    }
}

/// Reads as much as arrived. Output counts byte by byte, the end of the command only as a whole.
pub(super) fn read(mut bytes: &[u8]) -> Arrived {
    let mut arrived = Arrived::default();
    while let Some(((kind, length), rest)) = header(bytes) {
        let content = &rest[..rest.len().min(length)];
        match kind {
            STDOUT => arrived.stdout.extend_from_slice(content),
            STDERR => arrived.stderr.extend_from_slice(content),
            END if content.len() == length => arrived.ending = serde_json::from_slice(content).ok(),
            _ => {}
        }
        bytes = &rest[content.len()..];
    }
    arrived
}

fn header(bytes: &[u8]) -> Option<((u8, usize), &[u8])> {
    let (header, rest) = bytes.split_first_chunk::<5>()?;
    let [kind, length @ ..] = *header;
    Some(((kind, usize::try_from(u32::from_be_bytes(length)).ok()?), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_answer_says_how_the_command_ended() {
        let outcome = Outcome { stderr: b"noise".to_vec(), ..Outcome::passes() };
        let bytes = outcome.travelling();
        for cut in 0..bytes.len() {
            let arrived = read(&bytes[..cut]);
            assert_eq!(arrived.ending, None, "{cut} of {} bytes", bytes.len());
            assert!(
                outcome.stdout.starts_with(&arrived.stdout) && outcome.stderr.starts_with(&arrived.stderr)
            );
        }
        let whole = Arrived { stdout: outcome.stdout, stderr: outcome.stderr, ending: Some(outcome.ending) };
        assert_eq!(read(&bytes), whole);
    }
}
