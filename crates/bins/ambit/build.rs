//! Puts the example application into the binary, so that the lab needs nothing beside it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const EXAMPLE: &str = "../../../examples/workboard";
const PARTS: [&str; 3] = ["ambit", "base", "patches"];

fn main() -> io::Result<()> {
    let root = Path::new(EXAMPLE).canonicalize()?;
    let mut files = Vec::new();
    for part in PARTS {
        println!("cargo:rerun-if-changed={EXAMPLE}/{part}");
        collect(&root.join(part), &mut files)?;
    }
    files.sort();
    let mut code = String::from("/// Every file of the example, by its path from the example's top.\n");
    code.push_str("pub(crate) const EXAMPLE: &[(&str, &[u8])] = &[\n");
    for file in files {
        let name = file.strip_prefix(&root).map_err(io::Error::other)?;
        let _ = writeln!(code, "    ({:?}, include_bytes!({:?})),", name.display(), file.display());
    }
    code.push_str("];\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(PathBuf::from(out).join("example.rs"), code)
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "__pycache__" {
            collect(&path, files)?;
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}
