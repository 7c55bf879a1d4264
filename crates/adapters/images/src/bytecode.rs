//! Byte code for the sources in an image.
//!
//! Python trusts the byte code beside a source when the time and size in it are those of the source. An image has one
//! time for all files, so byte code as it lies on this machine would never be used, and a read-only image could not
//! keep a new one: every start would compile its imports again. Byte code in an image therefore is of the other kind
//! of PEP 552, the unchecked one: it belongs to the source because both are under one digest.

use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::ask::{ask, question};
use crate::error::CaptureError;
use crate::plan::Node;
use crate::regular::open_regular;

/// The four words of PEP 552: magic, flags, and eight bytes for a time and a size, or for a hash.
const HEADER_BYTES: usize = 16;
const BY_TIME: [u8; 4] = [0, 0, 0, 0];
const UNCHECKED_HASH: [u8; 4] = [1, 0, 0, 0];
/// The largest byte code that is taken from this machine; beyond it is compiled.
const BYTECODE_BYTES: u64 = 16 << 20;

/// Compiles as `py_compile` does, but to standard output: for each source a length of eight bytes, then the code. The
/// variable `module` matters: marshalled bytes tell whether an object has more than one reference.
const COMPILER: &str = "\
import sys
sys.path[:1] = []
import importlib.machinery, marshal
for path in sys.argv[1:]:
    try:
        loader = importlib.machinery.SourceFileLoader('module', path)
        module = loader.source_to_code(loader.get_data(path), path)
        code = marshal.dumps(module)
    except (SyntaxError, ValueError):
        code = b''
    sys.stdout.buffer.write(len(code).to_bytes(8, 'little') + code)";

/// How one interpreter keeps byte code.
pub(crate) struct Bytecode<'a> {
    /// The version of its byte code.
    pub(crate) magic: [u8; 4],
    /// What stands between the name of a module and `.pyc`.
    pub(crate) tag: &'a str,
    pub(crate) interpreter: &'a Path,
}

impl Bytecode<'_> {
    /// The byte code of every source that can be compiled, by the path where the interpreter looks for it. What lies
    /// on this machine is taken where it is valid, and the rest is compiled: the outcome is the same bytes.
    pub(crate) fn of(&self, sources: &[PathBuf]) -> Result<Vec<(PathBuf, Node)>, CaptureError> {
        let mut made = Vec::new();
        let mut uncompiled = Vec::new();
        for source in sources {
            let Some(path) = self.path_of(source) else { continue };
            match self.valid(source, &path) {
                Some(code) => made.push((path, self.node(&code))),
                None => uncompiled.push((source, path)),
            }
        }
        if uncompiled.is_empty() {
            return Ok(made);
        }
        let answer = self.compile(uncompiled.iter().map(|(source, _)| source.as_path()))?;
        let mut rest = answer.as_slice();
        for (_, path) in uncompiled {
            let code =
                next_code(&mut rest).ok_or_else(|| self.unanswered("its byte code is cut off".to_owned()))?;
            if !code.is_empty() {
                made.push((path, self.node(code)));
            }
        }
        Ok(made)
    }

    fn path_of(&self, source: &Path) -> Option<PathBuf> {
        let stem = source.file_stem()?.to_str()?;
        Some(source.parent()?.join("__pycache__").join(format!("{stem}.{}.pyc", self.tag)))
    }

    fn node(&self, code: &[u8]) -> Node {
        Node::Made([&self.magic, &UNCHECKED_HASH, &[0; 8][..], code].concat())
    }

    /// The code in the cache of this machine, where Python itself would use it.
    fn valid(&self, source: &Path, path: &Path) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = open_regular(path).ok()?;
        if file.metadata().ok()?.len() > BYTECODE_BYTES {
            return None;
        }
        file.take(BYTECODE_BYTES).read_to_end(&mut bytes).ok()?;
        let source = fs::metadata(source).ok()?;
        let low_word = |number: u64| number.to_le_bytes().into_iter().take(4);
        let mut expected = [self.magic, BY_TIME].concat();
        expected.extend(low_word(source.mtime().cast_unsigned()));
        expected.extend(low_word(source.len()));
        (bytes.get(..HEADER_BYTES)? == expected).then(|| bytes.split_off(HEADER_BYTES))
    }

    fn compile<'a>(&self, sources: impl Iterator<Item = &'a Path>) -> Result<Vec<u8>, CaptureError> {
        let mut command = question(self.interpreter);
        // Before Python 3.11 the order of constant sets followed the seed.
        command.env("PYTHONHASHSEED", "0").args(["-s", "-S", "-B", "-c", COMPILER]).args(sources);
        ask(&mut command).map_err(|why| self.unanswered(why))
    }

    fn unanswered(&self, why: String) -> CaptureError {
        CaptureError::Unanswered { program: self.interpreter.to_path_buf(), why }
    }
}

fn next_code<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<8>()?;
    let (code, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    *rest = after;
    Some(code)
}

#[cfg(test)]
mod tests {
    use std::fs::FileTimes;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::python::Python;

    #[test]
    fn cached_and_compiled_byte_code_are_the_same_and_stale_one_is_not_taken() {
        let Ok(python) = Python::ask(Path::new("python3")) else {
            println!(
                "skipped: PYTHON_ABSENT cached_and_compiled_byte_code_are_the_same_and_stale_one_is_not_taken"
            );
            return;
        };
        let directory = tempfile::tempdir().unwrap();
        let source = directory.path().join("sums.py");
        fs::write(&source, "def add(a, b):\n    return a + b in {1, 2, 'three'}\n").unwrap();
        let broken = directory.path().join("broken.py");
        fs::write(&broken, "def add(\n").unwrap();
        let sources = [source.clone(), broken];
        let bytecode = python.bytecode();

        let compiled = bytecode.of(&sources).unwrap();
        let [(path, node)] = &compiled[..] else { panic!("one source can be compiled: {compiled:?}") };
        ask(question(&python.executable).args(["-m", "py_compile"]).arg(&source)).unwrap();
        assert!(bytecode.valid(&source, path).is_some(), "py_compile writes where Python looks");
        assert_eq!(bytecode.of(&sources).unwrap(), compiled);

        let mut stale = fs::read(path).unwrap();
        *stale.last_mut().unwrap() ^= 1;
        fs::write(path, &stale).unwrap();
        assert_ne!(bytecode.of(&sources).unwrap(), compiled, "valid by its header, so it is taken");
        let later = SystemTime::now() + Duration::from_secs(100);
        let file = fs::File::options().write(true).open(&source).unwrap();
        file.set_times(FileTimes::new().set_modified(later)).unwrap();
        assert_eq!(bytecode.of(&sources).unwrap(), [(path.clone(), node.clone())]);
    }

    #[test]
    fn a_cut_off_answer_is_told_from_a_short_one() {
        let code = |length: u64, bytes: &[u8]| [&length.to_le_bytes()[..], bytes].concat();
        let whole = [code(2, b"ab"), code(0, b"")].concat();
        let mut rest = whole.as_slice();
        assert_eq!(next_code(&mut rest), Some(&b"ab"[..]));
        assert_eq!(next_code(&mut rest), Some(&b""[..]));
        assert_eq!(next_code(&mut rest), None);
        for cut in [code(3, b"ab"), code(u64::MAX, b"ab"), b"short".to_vec()] {
            assert_eq!(next_code(&mut cut.as_slice()), None);
        }
    }
}
