//! Short texts without an allocator.

use core::ffi::CStr;
use core::fmt;

use rustix::io::Errno;

/// A text of at most `N - 1` bytes that ends with a NUL.
pub(crate) struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    /// Formats a text.
    ///
    /// # Errors
    /// `ENAMETOOLONG` where it is too long.
    pub(crate) fn format(arguments: fmt::Arguments<'_>) -> Result<Self, Errno> {
        let mut text = Self { bytes: [0; N], len: 0 };
        fmt::write(&mut text, arguments).map_err(|_| Errno::NAMETOOLONG)?;
        Ok(text)
    }

    /// The text as bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// The text as the kernel takes it.
    ///
    /// # Errors
    /// `EINVAL` where it holds a NUL.
    pub(crate) fn as_c_str(&self) -> Result<&CStr, Errno> {
        CStr::from_bytes_with_nul(&self.bytes[..=self.len]).map_err(|_| Errno::INVAL)
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // The last byte stays the NUL.
        let room = &mut self.bytes[self.len..N - 1];
        let place = room.get_mut(..text.len()).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

/// A decimal number, as far as it goes.
pub(crate) fn number(text: &[u8]) -> usize {
    let digits = text.iter().map_while(|byte| char::from(*byte).to_digit(10));
    digits.fold(0, |value: usize, digit| value.saturating_mul(10).saturating_add(digit as usize))
}
