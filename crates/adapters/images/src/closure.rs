//! Everything that a program needs in order to start: its interpreter, its loader, its libraries.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{DirEntry, FileType};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::capture::LeftOut;
use crate::elf::ElfError;
use crate::error::CaptureError;
use crate::loader::{Found, Loaded, Loader};
use crate::manifest::open_regular;
use crate::plan::{Node, Plan, unreadable};
use crate::python::{self, Python};
use crate::tool::Tool;
use crate::{PROGRAM_DIRECTORIES, git, limits, shim};

/// Where a tool gets a link by its name when it lies in none of [`PROGRAM_DIRECTORIES`].
const LINKS: &str = "/usr/local/bin";
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
    search_path: &'a [PathBuf],
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

    /// Takes the tool that is called `name` and was found at `found`. Answers its program, as a path without links.
    pub(crate) fn tool(&mut self, name: &str, found: &Path) -> Result<PathBuf, CaptureError> {
        self.seen.clear();
        self.names.clear();
        self.callable(name, found)
    }

    fn callable(&mut self, name: &str, found: &Path) -> Result<PathBuf, CaptureError> {
        let program = if python::is_called(name) {
            Python::ask(found)?.executable
        } else {
            shim::program_behind(found, name, &head(found)?)?
        };
        // Somewhere else a link by its name is made for it anyway, so the links that lead to it have no use.
        let program = program.canonicalize().map_err(unreadable(&program))?;
        let reachable =
            |path: &Path| PROGRAM_DIRECTORIES.iter().any(|dir| path.parent() == Some(Path::new(dir)));
        let is_same = found.canonicalize().ok().as_ref() == Some(&program);
        let called = if reachable(found) && is_same { found } else { &program };
        let real = self.plan.take(called)?;
        if !reachable(called) || called.file_name() != Some(OsStr::new(name)) {
            self.plan.add(&Path::new(LINKS).join(name), Node::Link(called.to_path_buf()))?;
        }
        self.needs(&real)?;
        Ok(real)
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

    /// Takes what the program at `real`, which is in the plan already, needs.
    pub(crate) fn needs(&mut self, real: &Path) -> Result<(), CaptureError> {
        if !self.seen.insert(real.to_path_buf()) {
            return Ok(());
        }
        let head = head(real)?;
        if let Some(line) = head.strip_prefix(b"#!") {
            return self.script(real, line.split(|byte| *byte == b'\n').next().unwrap_or_default());
        }
        let loaded = load(real.to_path_buf(), Vec::new())?;
        let Some(loaded) = loaded else {
            let why = "it is neither an ELF file nor a script that names its interpreter".to_owned();
            return Err(CaptureError::NotAProgram { path: real.to_path_buf(), why });
        };
        self.program(loaded.clone())?;
        match real.file_name().and_then(OsStr::to_str) {
            Some(name) if python::is_called(name) => Python::ask(real)?.take(self, &loaded),
            Some("git") => git::take(self, real),
            Some(_) | None => Ok(()),
        }
    }

    /// Takes the interpreter that the first line of a script names. `env` stands for the program that it would start.
    fn script(&mut self, script: &Path, line: &[u8]) -> Result<(), CaptureError> {
        let not_a_program =
            |why: &str| CaptureError::NotAProgram { path: script.to_path_buf(), why: why.to_owned() };
        let line = str::from_utf8(line).map_err(|_| not_a_program("its interpreter is no text"))?;
        let mut words = line.split_ascii_whitespace();
        let interpreter = words.next().map(Path::new).filter(|path| path.is_absolute());
        let interpreter = interpreter.ok_or_else(|| not_a_program("its interpreter is no absolute path"))?;
        let real = self.plan.take(interpreter)?;
        self.needs(&real)?;
        if interpreter.file_name() != Some(OsStr::new("env")) {
            return Ok(());
        }
        let name = words.find(|word| !word.starts_with('-') && !word.contains('='));
        let tool: Tool = name
            .and_then(|name| name.parse().ok())
            .ok_or_else(|| not_a_program("its `env` line names no program"))?;
        let found =
            tool.locate(self.search_path).map_err(|missing| CaptureError::ToolsMissing(vec![missing]))?;
        self.callable(tool.name(), &found).map(drop)
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
