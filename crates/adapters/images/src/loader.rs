//! Finds shared libraries where the dynamic loader would find them, without running the program.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::ask::{ask, question};
use crate::elf::{self, Architecture, ElfError, Linkage};

/// Where the program that writes the index of shared libraries lies; it is rarely in an ordinary user's `PATH`.
const LDCONFIG: [&str; 3] = ["/sbin/ldconfig", "/usr/sbin/ldconfig", "/usr/bin/ldconfig"];

/// The directories that loaders search without being told, on the distributions that there are. A directory is tried
/// for every architecture, since a library of the wrong one is passed over.
const DEFAULT_DIRECTORIES: [&str; 10] = [
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib/i386-linux-gnu",
    "/usr/lib/i386-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// An ELF file as it is loaded into a process.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// The path by which it was found: the origin of its own search.
    pub(crate) path: PathBuf,
    pub(crate) linkage: Linkage,
    /// The directories of the `DT_RPATH`s of everything through which it was loaded, nearest first.
    pub(crate) inherited: Vec<PathBuf>,
}

impl Loaded {
    /// Reads `path`; `None` where it is no ELF file.
    pub(crate) fn read(path: PathBuf, inherited: Vec<PathBuf>) -> Result<Option<Self>, ElfError> {
        Ok(elf::read(&path)?.map(|linkage| Self { path, linkage, inherited }))
    }

    /// What this file's libraries inherit: its own `DT_RPATH` before those of its loaders.
    pub(crate) fn bequest(&self) -> Vec<PathBuf> {
        let mut directories = self.directories(self.linkage.rpath.as_deref());
        directories.extend(self.inherited.iter().cloned());
        directories
    }

    /// Reads a list of directories separated by `:`. Entries that are relative or that name `$LIB` or `$PLATFORM` are
    /// passed over: what they mean depends on the process.
    fn directories(&self, list: Option<&[u8]>) -> Vec<PathBuf> {
        let origin = self.path.parent().unwrap_or(Path::new("/"));
        let entries = list.unwrap_or_default().split(|byte| *byte == b':');
        entries
            .filter_map(|entry| {
                let rest = entry.strip_prefix(b"$ORIGIN").or_else(|| entry.strip_prefix(b"${ORIGIN}"));
                let directory = match rest {
                    Some([]) => origin.to_path_buf(),
                    Some([b'/', below @ ..]) => origin.join(OsStr::from_bytes(below)),
                    Some(_) => return None,
                    None => PathBuf::from(OsStr::from_bytes(entry)),
                };
                (directory.is_absolute() && !entry_is_dynamic(&directory)).then_some(directory)
            })
            .collect()
    }
}

fn entry_is_dynamic(directory: &Path) -> bool {
    directory.as_os_str().as_bytes().contains(&b'$')
}

/// Where a library lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// Set where only the index knows the directory: an image without an index would not find the library.
    pub(crate) needs_index: bool,
}

/// The loader of this machine.
#[derive(Debug, Default)]
pub(crate) struct Loader {
    index: BTreeMap<Vec<u8>, Vec<PathBuf>>,
}

impl Loader {
    /// Reads the index of this machine. Without `ldconfig` it is empty, as it is where there is no index at all.
    pub(crate) fn of_this_machine() -> Self {
        let listing = ldconfig().and_then(|program| ask(question(program).arg("-p")).ok());
        Self::from_listing(&listing.unwrap_or_default())
    }

    /// Reads what `ldconfig -p` prints: lines of a tab, a name, a note in brackets, `=>` and a path.
    pub(crate) fn from_listing(listing: &[u8]) -> Self {
        let mut index: BTreeMap<Vec<u8>, Vec<PathBuf>> = BTreeMap::new();
        for line in listing.split(|byte| *byte == b'\n') {
            let Some(entry) = line.strip_prefix(b"\t") else { continue };
            let Some(arrow) = entry.windows(4).position(|window| window == b" => ") else { continue };
            let name = entry.split(|byte| *byte == b' ').next().unwrap_or_default();
            let path = Path::new(OsStr::from_bytes(&entry[arrow + 4..]));
            // A library for newer processors stands beside one for all of them; an image takes the latter.
            if path.is_absolute() && !path.components().any(|part| part.as_os_str() == "glibc-hwcaps") {
                index.entry(name.to_vec()).or_default().push(path.to_path_buf());
            }
        }
        Self { index }
    }

    /// Finds the library `name` that `object` needs, in the order of `ld.so(8)`. The environment of this process has no
    /// say, since a sandbox does not inherit it.
    pub(crate) fn find(&self, name: &[u8], object: &Loaded) -> Option<Found> {
        let fits = |path: &PathBuf| fits(path, object.linkage.architecture);
        if name.contains(&b'/') {
            let path = PathBuf::from(OsStr::from_bytes(name));
            return (path.is_absolute() && fits(&path)).then_some(Found { path, needs_index: false });
        }
        let named = match &object.linkage.runpath {
            Some(runpath) => object.directories(Some(runpath)),
            None => object.bequest(),
        };
        let within = |directory: &Path| directory.join(OsStr::from_bytes(name));
        if let Some(path) = named.iter().map(|directory| within(directory)).find(fits) {
            return Some(Found { path, needs_index: false });
        }
        if let Some(path) = self.index.get(name).into_iter().flatten().find(|path| fits(path)) {
            let directory = path.parent().unwrap_or(Path::new("/"));
            let needs_index = !DEFAULT_DIRECTORIES.iter().any(|default| directory == Path::new(default));
            return Some(Found { path: path.clone(), needs_index });
        }
        let path = DEFAULT_DIRECTORIES.iter().map(|directory| within(Path::new(directory))).find(fits)?;
        Some(Found { path, needs_index: false })
    }
}

fn fits(path: &Path, architecture: Architecture) -> bool {
    matches!(elf::read(path), Ok(Some(linkage)) if linkage.architecture == architecture)
}

/// The program that reads and writes the index.
pub(crate) fn ldconfig() -> Option<&'static Path> {
    LDCONFIG.iter().map(Path::new).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_read_line_by_line_and_its_headings_are_not() {
        let listing = b"2 libs found in cache `/etc/ld.so.cache'\n\
            \tlibz.so.1 (libc6,x86-64) => /opt/lib with space/libz.so.1\n\
            \tlibz.so.1 (libc6) => /usr/lib32/libz.so.1\n\
            \tlibnear.so (libc6) => lib/libnear.so\n\
            \tlibfast.so (libc6,x86-64, hwcap: \"x86-64-v3\") => /usr/lib/glibc-hwcaps/x86-64-v3/libfast.so\n\
            Cache generated by: ldconfig => /x\n";
        let loader = Loader::from_listing(listing);
        let expected = ["/opt/lib with space/libz.so.1", "/usr/lib32/libz.so.1"].map(PathBuf::from).to_vec();
        assert_eq!(loader.index, BTreeMap::from([(b"libz.so.1".to_vec(), expected)]));
    }

    fn shell(rpath: Option<&[u8]>, inherited: &[&str]) -> Loaded {
        let inherited = inherited.iter().map(PathBuf::from).collect();
        let mut shell = Loaded::read("/bin/sh".into(), inherited).unwrap().unwrap();
        shell.path = "/opt/tool/bin/sh".into();
        shell.linkage.rpath = rpath.map(<[u8]>::to_vec);
        shell
    }

    #[test]
    fn a_search_path_is_read_as_the_loader_reads_it() {
        let list = b"$ORIGIN/../lib:${ORIGIN}:/a b::relative:/x/$LIB:$ORIGINAL/x:/last";
        let directories = shell(Some(list), &["/inherited"]).bequest();
        let expected = ["/opt/tool/bin/../lib", "/opt/tool/bin", "/a b", "/last", "/inherited"];
        assert_eq!(directories, expected.map(PathBuf::from));
    }

    #[test]
    fn the_order_is_path_then_index_then_default_and_a_stranger_is_passed_over() {
        let directory = tempfile::tempdir().unwrap();
        let library = directory.path().join("libmine.so");
        std::fs::copy("/bin/sh", &library).unwrap();
        let text = directory.path().join("libtext.so");
        std::fs::write(&text, "no library").unwrap();
        let listing = format!(
            "\tlibmine.so (libc6) => {}\n\tlibtext.so (libc6) => {}\n",
            library.display(),
            text.display()
        );
        let loader = Loader::from_listing(listing.as_bytes());

        let by_index = Some(Found { path: library.clone(), needs_index: true });
        assert_eq!(loader.find(b"libmine.so", &shell(None, &[])), by_index);
        assert_eq!(loader.find(b"libtext.so", &shell(None, &[])), None);
        let path = directory.path().as_os_str().as_bytes();
        let by_path = Some(Found { path: library, needs_index: false });
        assert_eq!(loader.find(b"libmine.so", &shell(Some(path), &[])), by_path);
        assert_eq!(loader.find(b"libmine.so", &shell(None, &[directory.path().to_str().unwrap()])), by_path);

        let mut with_runpath = shell(None, &[directory.path().to_str().unwrap()]);
        with_runpath.linkage.runpath = Some(b"/nowhere".to_vec());
        assert_eq!(loader.find(b"libmine.so", &with_runpath), by_index, "a run path voids what is inherited");
    }
}
