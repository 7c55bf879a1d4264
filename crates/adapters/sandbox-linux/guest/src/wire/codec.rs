use core::ffi::CStr;

/// Writes a message into a buffer.
pub struct Writer<'b> {
    buffer: &'b mut [u8],
    len: usize,
    fits: bool,
}

impl<'b> Writer<'b> {
    /// Starts a message in `buffer`.
    pub fn new(buffer: &'b mut [u8]) -> Self {
        Self { buffer, len: 0, fits: true }
    }

    /// The length of the message; `None` where it did not fit.
    #[must_use]
    pub fn finish(self) -> Option<usize> {
        self.fits.then_some(self.len)
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        match self.buffer.get_mut(self.len..).and_then(|rest| rest.get_mut(..bytes.len())) {
            Some(place) => {
                place.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            None => self.fits = false,
        }
        self
    }

    pub(super) fn u8(&mut self, value: u8) -> &mut Self {
        self.raw(&[value])
    }

    pub(super) fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(super) fn i32(&mut self, value: i32) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(super) fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_le_bytes())
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        match u32::try_from(bytes.len()) {
            Ok(len) => {
                self.u32(len);
                self.raw(bytes)
            }
            Err(_) => {
                self.fits = false;
                self
            }
        }
    }

    pub(super) fn c_str(&mut self, text: &CStr) -> &mut Self {
        self.bytes(text.to_bytes_with_nul())
    }
}

/// Reads a message. Every read answers `None` past the end of it.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads `message`.
    #[must_use]
    pub const fn new(message: &'a [u8]) -> Self {
        Self(message)
    }

    pub(super) fn raw(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.raw(N)?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        match self.u8()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.raw(usize::try_from(len).ok()?)
    }

    pub(super) fn c_str(&mut self) -> Option<&'a CStr> {
        CStr::from_bytes_with_nul(self.bytes()?).ok()
    }

    fn end<T>(&self, value: T) -> Option<T> {
        self.0.is_empty().then_some(value)
    }
}

/// A value that travels as one message.
pub trait Message<'a>: Sized {
    /// Writes it.
    fn write(&self, writer: &mut Writer<'_>);

    /// Reads it; `None` where the bytes are not one whole message of this kind.
    fn read(reader: &mut Reader<'a>) -> Option<Self>;

    /// Writes it into `buffer`; `None` where it does not fit.
    fn encode(&self, buffer: &mut [u8]) -> Option<usize> {
        let mut writer = Writer::new(buffer);
        self.write(&mut writer);
        writer.finish()
    }

    /// Reads it from exactly these bytes.
    fn decode(message: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(message);
        let value = Self::read(&mut reader)?;
        reader.end(value)
    }
}
