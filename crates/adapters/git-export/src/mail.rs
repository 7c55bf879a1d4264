use std::io::Write;

use ambit_revision::Tree;

use crate::envelope::Envelope;
use crate::heading::heading;
use crate::source::Source;
use crate::step::steps;
use crate::{ExportError, limits, section};

/// A change as one mail, as `git format-patch --full-index --binary` writes it.
///
/// `git am` applies it with its default settings, on any commit where the files that it touches are those of `before`.
/// Files that do not arrive as lines, and those of which a line ends with a carriage return, holds a NUL or is longer than
/// a mail may have it, stand in it as a whole. A file that is the same under another path is a rename.
#[derive(Clone, Copy, Debug)]
pub struct Mail<'a> {
    /// The tree that it is applied to.
    pub before: &'a Tree,
    /// The tree that it makes.
    pub after: &'a Tree,
    /// What is said beside.
    pub envelope: &'a Envelope,
}

/// What was mailed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mailed {
    /// The files that the mail changes; a rename is one, and a file that becomes a link two.
    pub files: usize,
}

impl Mail<'_> {
    /// Writes the mail. Both sides of one file are held at a time.
    ///
    /// # Errors
    /// [`ExportError`] where the trees are the same, a content is gone, git takes no such entry, or the mail becomes too
    /// large; what was written until then is no mail.
    pub fn write(&self, source: &Source<'_>, out: &mut dyn Write) -> Result<Mailed, ExportError> {
        let steps = steps(self.before, self.after);
        if steps.is_empty() {
            return Err(ExportError::NothingChanged);
        }
        let top = format!("{}{}---\n\n", heading(self.envelope), self.envelope.below_subject());
        out.write_all(top.as_bytes())?;
        let (mut text, mut size_bytes) = (Vec::new(), top.len() as u64);
        for step in &steps {
            text.clear();
            section::write(step, source, &mut text)?;
            size_bytes += text.len() as u64;
            if size_bytes > limits::MAIL_BYTES {
                return Err(ExportError::MailTooLarge);
            }
            out.write_all(&text)?;
        }
        Ok(Mailed { files: steps.len() })
    }

    /// The mail in memory.
    ///
    /// # Errors
    /// As [`Mail::write`].
    pub fn bytes(&self, source: &Source<'_>) -> Result<Vec<u8>, ExportError> {
        let mut bytes = Vec::new();
        self.write(source, &mut bytes)?;
        Ok(bytes)
    }
}
