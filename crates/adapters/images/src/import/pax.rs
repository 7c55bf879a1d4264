//! The extended headers of POSIX.1-2001 (pax): records `LENGTH KEY=VALUE\n`, LENGTH in decimal and over all of it.

/// What of an extended header concerns an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extension {
    pub(crate) path: Option<Vec<u8>>,
    pub(crate) link: Option<Vec<u8>>,
    pub(crate) size_bytes: Option<u64>,
    pub(crate) is_sparse: bool,
    pub(crate) has_attributes: bool,
}

impl Extension {
    /// Reads all records; `None` where they are none.
    pub(crate) fn read(mut bytes: &[u8]) -> Option<Self> {
        let mut extension = Self::default();
        while !bytes.is_empty() {
            let space = bytes.iter().position(|byte| *byte == b' ')?;
            let length: usize = number(&bytes[..space])?.try_into().ok()?;
            let (record, rest) = bytes.split_at_checked(length)?;
            let record = record.get(space + 1..)?.strip_suffix(b"\n")?;
            let equals = record.iter().position(|byte| *byte == b'=')?;
            extension.take(&record[..equals], &record[equals + 1..])?;
            bytes = rest;
        }
        Some(extension)
    }

    /// Whether it says something that an archive cannot say of all of its entries.
    pub(crate) fn is_of_one_entry(&self) -> bool {
        self.path.is_some() || self.link.is_some() || self.size_bytes.is_some() || self.is_sparse
    }

    fn take(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        let text = || Some(value.to_vec()).filter(|value| !value.is_empty());
        match key {
            b"path" => self.path = text(),
            b"linkpath" => self.link = text(),
            b"size" => self.size_bytes = Some(number(value)?),
            _ => {
                self.is_sparse |= key.starts_with(b"GNU.sparse.");
                self.has_attributes |= [&b"SCHILY.xattr."[..], b"SCHILY.acl.", b"LIBARCHIVE.xattr."]
                    .iter()
                    .any(|prefix| key.starts_with(prefix));
            }
        }
        Some(())
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    let is_plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    if is_plain { str::from_utf8(digits).ok()?.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_by_their_length_alone() {
        let read = Extension::read(b"20 path=a\n9 size=7\n\n20 SCHILY.xattr.a=b\n").unwrap();
        assert_eq!(read.path.as_deref(), Some(&b"a\n9 size=7\n"[..]), "a line feed ends nothing");
        assert_eq!(read.size_bytes, None);
        assert!(read.has_attributes && !read.is_sparse && read.is_of_one_entry());
        assert_eq!(Extension::read(b"20 SCHILY.acl.defa=\n").map(|read| read.is_of_one_entry()), Some(false));
        assert!(Extension::read(b"22 GNU.sparse.major=1\n").unwrap().is_sparse);
        assert_eq!(Extension::read(b"9 size=7\n").unwrap().size_bytes, Some(7));
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for bad in [
            &b"x"[..],
            b"8 path=a\n",
            b"11 path=a\n",
            b"10 path=ab",
            b"+9 path=a\n",
            b"2 \n",
            b"3 =",
            b"0 path=a\n",
            b"10 size=-\n",
            b"10 size=\n\n",
            b"99999999999999999999999 path=a\n",
        ] {
            assert_eq!(Extension::read(bad), None, "{}", String::from_utf8_lossy(bad));
        }
    }
}
