//! Everything that the kernel and the loader need in order to start a program: the loader itself, and the libraries.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{DirEntry, FileType};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::elf::ElfError;
use crate::error::CaptureError;
use crate::left_out::LeftOut;
use crate::limits;
use crate::loader::{Found, Loaded, Loader};
use crate::plan::{Plan, unreadable};
use crate::regular::open_regular;

/// How much of a file is read to find out what it is. Kernels read less of a `#!` line; shims are read to their end.
const HEAD_BYTES: u64 = 16 << 10;
/// Libraries that the GNU C library opens by itself, without any `DT_NEEDED`: user names before 2.34, thread exit.
const OPENED_BY_LIBC: [&[u8]; 2] = [b"libnss_files.so.2", b"libgcc_s.so.1"];
/// The one locale of an image, where the C library does not have it built in.
const LOCALES: [&str; 2] = ["/usr/lib/locale/C.utf8", "/usr/lib/locale/C.UTF-8"];

/// What a capture has gathered so far.
pub(crate) struct Closure<'a> {
    pub(crate) plan: Plan,
    pub(crate) left_out: BTreeSet<LeftOut>,
    /// Directories that hold libraries and that only the index of libraries knows.
    pub(crate) index_directories: BTreeSet<PathBuf>,
    loader: &'a Loader,
    pub(crate) search_path: &'a [PathBuf],
    /// Of the tool at hand: the files whose needs are met.
    seen: BTreeSet<PathBuf>,
    /// Of the tool at hand: the names of its libraries. One that is loaded needs not be found again.
    names: BTreeSet<Vec<u8>>,
}

impl<'a> Closure<'a> {
    pub(crate) fn new(plan: Plan, loader: &'a Loader, search_path: &'a [PathBuf]) -> Self {
        Self {
            plan,
            left_out: BTreeSet::new(),
            index_directories: BTreeSet::new(),
            loader,
            search_path,
            seen: BTreeSet::new(),
            names: BTreeSet::new(),
        }
    }

    /// Begins another tool.
    pub(crate) fn begin(&mut self) {
        self.seen.clear();
        self.names.clear();
    }

    /// Whether the needs of the file at `real` are still to be met for the tool at hand.
    pub(crate) fn is_new(&mut self, real: &Path) -> bool {
        self.seen.insert(real.to_path_buf())
    }

    /// Takes a directory with everything in it that `wanted` wants. Answers its files, by the paths under which they lie
    /// in it.
    pub(crate) fn tree(
        &mut self,
        directory: &Path,
        wanted: impl FnMut(&DirEntry, FileType) -> bool,
    ) -> Result<Vec<PathBuf>, CaptureError> {
        let taken = self.plan.take_tree(directory, wanted)?;
        let why = "it is a link that leads to no file";
        self.left_out.extend(taken.loose_links.into_iter().map(|what| LeftOut { what, why: why.to_owned() }));
        Ok(taken.files)
    }

    /// Takes the loader and the libraries of a program.
    pub(crate) fn program(&mut self, program: Loaded) -> Result<(), CaptureError> {
        if let Some(interpreter) = &program.linkage.interpreter {
            self.plan.take(Path::new(OsStr::from_bytes(interpreter)))?;
            if !interpreter.windows(4).any(|window| window == b"musl") {
                self.opened_by_libc(&program)?;
            }
        }
        match self.libraries(program)?.into_iter().next() {
            None => Ok(()),
            Some((library, needed_by)) => {
                let library = String::from_utf8_lossy(&library).into_owned();
                Err(CaptureError::LibraryMissing { library, needed_by })
            }
        }
    }

    /// Takes the libraries of a module that `program` may open while it runs. A module whose libraries are missing
    /// does not work on this machine either, so it is taken as it is, and named.
    pub(crate) fn module(&mut self, module: &Path, program: &Loaded) -> Result<(), CaptureError> {
        let Some(loaded) = load(module.to_path_buf(), program.bequest())? else { return Ok(()) };
        for (library, needed_by) in self.libraries(loaded)? {
            let library = String::from_utf8_lossy(&library);
            let why = format!("{library} is not on this machine, and {} needs it", needed_by.display());
            self.left_out.insert(LeftOut { what: library.into_owned().into(), why });
        }
        Ok(())
    }

    fn opened_by_libc(&mut self, program: &Loaded) -> Result<(), CaptureError> {
        for name in OPENED_BY_LIBC {
            let Some(found) = self.loader.find(name, program) else { continue };
            if self.library(&found)?
                && let Some(library) = load(found.path, Vec::new())?
            {
                // What it lacks it lacks on this machine too.
                self.libraries(library)?;
            }
        }
        for locale in LOCALES.map(Path::new).into_iter().filter(|locale| locale.is_dir()) {
            self.tree(locale, |_, _| true)?;
        }
        Ok(())
    }

    /// Takes every library below `object`; answers those that are nowhere, each with the file that needs it.
    fn libraries(&mut self, object: Loaded) -> Result<Vec<(Vec<u8>, PathBuf)>, CaptureError> {
        let mut absent = Vec::new();
        let mut pending = vec![object];
        while let Some(object) = pending.pop() {
            self.names.extend(object.linkage.soname.clone());
            for name in &object.linkage.needed {
                let Some(found) = self.loader.find(name, &object) else {
                    absent.push((name.clone(), object.path.clone()));
                    continue;
                };
                self.names.insert(name.clone());
                if self.library(&found)? {
                    pending.extend(load(found.path, object.bequest())?);
                }
            }
        }
        absent.retain(|(name, _)| !self.names.contains(name));
        Ok(absent)
    }

    /// Takes one library. Answers whether it is new to the tool at hand.
    fn library(&mut self, found: &Found) -> Result<bool, CaptureError> {
        let real = self.plan.take(&found.path)?;
        if found.needs_index {
            self.index_directories.extend(found.path.parent().map(Path::to_path_buf));
        }
        if self.seen.len() > limits::LINKED_FILES {
            return Err(CaptureError::TooLarge {
                limit: format!("{} linked files of a tool", limits::LINKED_FILES),
            });
        }
        Ok(self.seen.insert(real))
    }
}

/// Reads what an ELF file asks of the loader; `None` where it is no ELF file.
pub(crate) fn load(path: PathBuf, inherited: Vec<PathBuf>) -> Result<Option<Loaded>, CaptureError> {
    Loaded::read(path.clone(), inherited).map_err(|error| match error {
        ElfError::Io(source) => unreadable(&path)(source),
        ElfError::Damaged(_) => CaptureError::NotAProgram { path, why: error.to_string() },
    })
}

/// The first bytes of a file of this machine; links to it are followed.
pub(crate) fn head(path: &Path) -> Result<Vec<u8>, CaptureError> {
    let mut bytes = Vec::new();
    let real = path.canonicalize().map_err(unreadable(path))?;
    let file = open_regular(&real).map_err(unreadable(path))?;
    file.take(HEAD_BYTES).read_to_end(&mut bytes).map_err(unreadable(path))?;
    Ok(bytes)
}
