//! The digest of an image: SHA-256 of a manifest of every entry below its root.
//!
//! The manifest is this byte string:
//!
//! ```text
//! ambit image 1\n
//! d MODE LENGTH:PATH\n                  a directory
//! f MODE SIZE SHA256 LENGTH:PATH\n      a file
//! l LENGTH:PATH LENGTH:TARGET\n         a symbolic link
//! o MODE LENGTH:PATH\n                  anything else; never captured, so it only ever spoils a digest
//! ```
//!
//! - Entries are sorted by the bytes of their paths. The root itself is the entry with the empty path.
//! - PATH is relative to the root, without a leading `/`; PATH and TARGET are raw bytes, and LENGTH counts them in
//!   decimal, so that no name can pretend to be a second line.
//! - MODE is `st_mode & 07777` as four octal digits. SIZE is decimal. SHA256 is 64 lower-case hexadecimal digits.
//! - Owners, times and the number of names of an inode are not part of it.
//!
//! The image digest is SHA-256 of these bytes. The manifest of a volume is the same but for its first line,
//! `ambit volume 1`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ambit_ids::{ByteCount, Digest};
use ambit_ports::images::ImageError;

use crate::contents::{self, Unread};
use crate::limits;
use crate::regular::failed_at;

const HEADER: &[u8] = b"ambit image 1\n";
/// The first line of the manifest of a volume, which is the same otherwise.
const VOLUME_HEADER: &[u8] = b"ambit volume 1\n";

/// What one line of the manifest tells.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Directory { mode: u32 },
    File { mode: u32, size_bytes: u64, content: Digest },
    Link { target: Vec<u8> },
    Other { mode: u32 },
}

impl Entry {
    fn write(&self, path: &[u8], manifest: &mut Vec<u8>) {
        match self {
            Self::Directory { mode } => manifest.extend(format!("d {mode:04o} ").bytes()),
            Self::File { mode, size_bytes, content } => {
                manifest.extend(format!("f {mode:04o} {size_bytes} {} ", content.to_hex()).bytes());
            }
            Self::Link { .. } => manifest.extend(b"l "),
            Self::Other { mode } => manifest.extend(format!("o {mode:04o} ").bytes()),
        }
        write_counted(path, manifest);
        if let Self::Link { target } = self {
            manifest.push(b' ');
            write_counted(target, manifest);
        }
        manifest.push(b'\n');
    }
}

fn write_counted(bytes: &[u8], manifest: &mut Vec<u8>) {
    manifest.extend(format!("{}:", bytes.len()).bytes());
    manifest.extend(bytes);
}

/// A directory tree as it lies on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    /// The digest of its manifest.
    pub(crate) digest: Digest,
    /// Files and links.
    pub(crate) entries: u64,
    /// The sum of the file sizes; a file with several names counts once.
    pub(crate) size_bytes: ByteCount,
}

impl Tree {
    /// Reads every byte below `root`. No link is followed.
    pub(crate) fn read(root: &Path) -> Result<Self, ImageError> {
        Self::read_under(HEADER, root, limits::IMAGE_ENTRIES)
    }

    /// Reads every byte of a volume. No link is followed.
    pub(crate) fn read_volume(root: &Path) -> Result<Self, ImageError> {
        Self::read_under(VOLUME_HEADER, root, limits::VOLUME_ENTRIES)
    }

    fn read_under(header: &[u8], root: &Path, most_entries: usize) -> Result<Self, ImageError> {
        let mut reading = Reading {
            root,
            most_entries,
            entries: BTreeMap::new(),
            files: Vec::new(),
            inodes: BTreeMap::new(),
            unread: Vec::new(),
        };
        let mut pending = vec![PathBuf::new()];
        while let Some(directory) = pending.pop() {
            reading.directory(directory, &mut pending)?;
        }
        reading.finish(header)
    }
}

/// A file that was seen, and the place of its content among those that are to be read.
struct Sighted {
    path: Vec<u8>,
    mode: u32,
    size_bytes: u64,
    content: usize,
}

struct Reading<'a> {
    root: &'a Path,
    most_entries: usize,
    entries: BTreeMap<Vec<u8>, Entry>,
    files: Vec<Sighted>,
    /// The content of every inode, so that one with several names is read once.
    inodes: BTreeMap<(u64, u64), usize>,
    unread: Vec<Unread>,
}

impl Reading<'_> {
    fn directory(&mut self, path: PathBuf, pending: &mut Vec<PathBuf>) -> Result<(), ImageError> {
        let full = self.root.join(&path);
        let at = failed_at(&full);
        let mode = fs::symlink_metadata(&full).map_err(&at)?.mode() & 0o7777;
        for child in fs::read_dir(&full).map_err(&at)? {
            let name = child.map_err(&at)?.file_name();
            let path = path.join(name);
            let full = self.root.join(&path);
            let metadata = fs::symlink_metadata(&full).map_err(failed_at(&full))?;
            if metadata.is_dir() {
                pending.push(path);
            } else {
                self.leaf(path.into_os_string(), full, &metadata)?;
            }
        }
        self.insert(path.into_os_string(), Entry::Directory { mode })
    }

    fn leaf(&mut self, path: OsString, full: PathBuf, metadata: &Metadata) -> Result<(), ImageError> {
        let mode = metadata.mode() & 0o7777;
        if metadata.is_symlink() {
            let target = fs::read_link(&full).map_err(failed_at(&full))?.into_os_string().into_vec();
            return self.insert(path, Entry::Link { target });
        }
        if !metadata.is_file() {
            return self.insert(path, Entry::Other { mode });
        }
        let size_bytes = metadata.len();
        let content = *self.inodes.entry((metadata.dev(), metadata.ino())).or_insert_with(|| {
            self.unread.push(Unread { path: full, size_bytes });
            self.unread.len() - 1
        });
        self.files.push(Sighted { path: path.into_vec(), mode, size_bytes, content });
        self.check_count()
    }

    fn insert(&mut self, path: OsString, entry: Entry) -> Result<(), ImageError> {
        self.entries.insert(path.into_vec(), entry);
        self.check_count()
    }

    fn check_count(&self) -> Result<(), ImageError> {
        // The root is an entry, too.
        if self.entries.len() + self.files.len() > self.most_entries.saturating_add(1) {
            let reason = format!("more than {} entries", self.most_entries);
            return Err(failed_at(self.root)(io::Error::new(io::ErrorKind::InvalidData, reason)));
        }
        Ok(())
    }

    fn finish(mut self, header: &[u8]) -> Result<Tree, ImageError> {
        let contents = contents::digests(&self.unread)?;
        for Sighted { path, mode, size_bytes, content } in self.files {
            self.entries.insert(path, Entry::File { mode, size_bytes, content: contents[content] });
        }
        let mut manifest = header.to_vec();
        let mut entries = 0;
        for (path, entry) in &self.entries {
            entry.write(path, &mut manifest);
            entries += u64::from(!matches!(entry, Entry::Directory { .. }));
        }
        let size_bytes = self.unread.iter().map(|file| file.size_bytes).sum();
        Ok(Tree { digest: Digest::of(&manifest), entries, size_bytes: ByteCount::new(size_bytes) })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    /// Reads a manifest back, so that two trees with one manifest would be one tree.
    fn parse(manifest: &[u8]) -> Option<Vec<(Vec<u8>, Entry)>> {
        let mut rest = manifest.strip_prefix(HEADER)?;
        let mut entries = Vec::new();
        while !rest.is_empty() {
            let kind = word(&mut rest)?;
            let mode = |rest: &mut &[u8]| u32::from_str_radix(std::str::from_utf8(word(rest)?).ok()?, 8).ok();
            let mut entry = match kind {
                b"d" => Entry::Directory { mode: mode(&mut rest)? },
                b"f" => Entry::File {
                    mode: mode(&mut rest)?,
                    size_bytes: number(word(&mut rest)?)?,
                    content: format!("sha256:{}", std::str::from_utf8(word(&mut rest)?).ok()?)
                        .parse()
                        .ok()?,
                },
                b"l" => Entry::Link { target: Vec::new() },
                b"o" => Entry::Other { mode: mode(&mut rest)? },
                _ => return None,
            };
            let path = counted(&mut rest)?;
            if let Entry::Link { target } = &mut entry {
                rest = rest.strip_prefix(b" ")?;
                *target = counted(&mut rest)?;
            }
            rest = rest.strip_prefix(b"\n")?;
            entries.push((path, entry));
        }
        Some(entries)
    }

    fn word<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
        let end = rest.iter().position(|byte| *byte == b' ')?;
        let word = &rest[..end];
        *rest = &rest[end + 1..];
        Some(word)
    }

    fn number(digits: &[u8]) -> Option<u64> {
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    fn counted(rest: &mut &[u8]) -> Option<Vec<u8>> {
        let end = rest.iter().position(|byte| *byte == b':')?;
        let length = usize::try_from(number(&rest[..end])?).ok()?;
        let (bytes, after) = rest[end + 1..].split_at_checked(length)?;
        *rest = after;
        Some(bytes.to_vec())
    }

    /// Bytes that look like manifest lines, more often than chance would have it.
    fn odd_bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            any::<u8>().prop_map(|byte| vec![byte]),
            Just(b"\nd 0555 1:".to_vec()),
            Just(b"l 1:a 1:".to_vec()),
            Just(b" ".to_vec()),
            Just(b"3:".to_vec()),
        ];
        proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
    }

    fn entry() -> impl Strategy<Value = Entry> {
        let mode = 0_u32..0o10000;
        prop_oneof![
            mode.clone().prop_map(|mode| Entry::Directory { mode }),
            (mode.clone(), any::<u64>(), any::<[u8; 32]>()).prop_map(|(mode, size_bytes, content)| {
                Entry::File { mode, size_bytes, content: Digest::from_bytes(content) }
            }),
            odd_bytes().prop_map(|target| Entry::Link { target }),
            mode.prop_map(|mode| Entry::Other { mode }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

        #[test]
        fn a_manifest_tells_its_entries_apart(
            entries in proptest::collection::btree_map(odd_bytes(), entry(), 0..8)
        ) {
            let mut manifest = HEADER.to_vec();
            for (path, entry) in &entries {
                entry.write(path, &mut manifest);
            }
            prop_assert_eq!(parse(&manifest), Some(entries.into_iter().collect::<Vec<_>>()));
        }
    }

    fn private_directory() -> tempfile::TempDir {
        tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir().unwrap()
    }

    #[test]
    fn an_empty_directory_has_the_published_digest() {
        let directory = private_directory();
        let tree = Tree::read(directory.path()).unwrap();
        assert_eq!(tree.digest, Digest::of(b"ambit image 1\nd 0700 0:\n"));
        assert_eq!((tree.entries, tree.size_bytes.get()), (0, 0));
    }

    #[test]
    fn a_pipe_is_neither_waited_for_nor_overlooked() {
        let directory = private_directory();
        let status = std::process::Command::new("mkfifo").arg(directory.path().join("pipe")).status();
        assert!(status.unwrap().success());
        let mode = fs::symlink_metadata(directory.path().join("pipe")).unwrap().mode() & 0o7777;
        let expected = format!("ambit image 1\nd 0700 0:\no {mode:04o} 4:pipe\n");
        assert_eq!(Tree::read(directory.path()).unwrap().digest, Digest::of(expected.as_bytes()));
    }
}
