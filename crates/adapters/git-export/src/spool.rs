use std::io::{self, BufWriter, Seek as _, Write};

use crate::ExportError;

/// Hands `out` what `write` writes, and nothing of it before all of it is there: whoever reads `out`, such as a `git am` at
/// the other end of a pipe, would take a part for the whole. Until then it lies in a file without a name.
///
/// # Errors
/// What `write` answers, and [`ExportError::Unwritable`] where there is no room or `out` takes no more.
pub fn write_whole<T>(
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> Result<T, ExportError>,
) -> Result<T, ExportError> {
    let mut spool = BufWriter::new(tempfile::tempfile()?);
    let made = write(&mut spool)?;
    let mut spool = spool.into_inner().map_err(io::IntoInnerError::into_error)?;
    spool.rewind()?;
    io::copy(&mut spool, out)?;
    out.flush()?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_never_handed_on() {
        let mut out = Vec::new();
        let outcome = write_whole(&mut out, |spool| {
            spool.write_all(&[b'x'; 100_000])?;
            Err::<(), _>(ExportError::NothingChanged)
        });
        assert_eq!((outcome.unwrap_err().code(), out.len()), ("EXPORT_NOTHING_CHANGED", 0));
        let made = write_whole(&mut out, |spool| {
            spool.write_all(&[b'x'; 100_000])?;
            Ok(7)
        });
        assert_eq!((made.unwrap(), out), (7, vec![b'x'; 100_000]));
    }
}
