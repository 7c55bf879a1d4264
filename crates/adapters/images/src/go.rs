//! What Go needs beside its program: its own tools, and the standard library, as sources and, where it is there, compiled.

use std::ffi::OsStr;
use std::fs::{DirEntry, FileType};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::ask::{ask, question};
use crate::closure::Closure;
use crate::error::CaptureError;
use crate::left_out::LeftOut;
use crate::plan::Node;

/// The compiler of C that Go calls.
pub(crate) const COMPILER: &str = "gcc";
/// The tools that neither `go build` nor `go test` starts.
const UNWANTED_TOOLS: [&str; 10] =
    ["addr2line", "api", "dist", "distpack", "doc", "fix", "nm", "objdump", "pprof", "trace"];
/// What is read instead of the settings of this machine, from Go 1.21 on: there is no network.
const SETTINGS: &str = "GOPROXY=off\nGOSUMDB=off\nGOTOOLCHAIN=local\n";

/// Where the parts of a Go lie.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
struct Go {
    goroot: PathBuf,
    gotooldir: PathBuf,
    gohostos: String,
    gohostarch: String,
    #[serde(default)]
    goversion: String,
}

/// Takes the parts of the go at `program`. Answers the programs among them, by the paths under which they lie there.
pub(crate) fn take(closure: &mut Closure<'_>, program: &Path) -> Result<Vec<PathBuf>, CaptureError> {
    let go = Go::ask(program)?;
    if go.wants_a_compiler() {
        let why = format!(
            "{} calls it whenever a package can hold C; a command without it needs CGO_ENABLED=0 in its environment",
            go.goversion
        );
        closure.left_out.insert(LeftOut { what: COMPILER.into(), why });
    }
    let within = |below: &str| go.goroot.join(below);
    for file in ["VERSION", "go.env"].map(within).iter().filter(|file| file.is_file()) {
        match file.file_name() == Some(OsStr::new("go.env")) {
            true => closure.plan.add(file, Node::Made(SETTINGS.as_bytes().to_vec()))?,
            false => drop(closure.plan.take(file)?),
        }
    }
    let compiled = format!("pkg/{}_{}", go.gohostos, go.gohostarch);
    for directory in ["src", "pkg/include", "lib/time", &compiled].map(within) {
        if directory.is_dir() {
            closure.tree(&directory, is_wanted)?;
        }
    }
    let mut programs = closure.tree(&go.gotooldir, |child, _| {
        let name = child.file_name();
        !UNWANTED_TOOLS.iter().any(|unwanted| name == *unwanted)
    })?;
    // `go vet` and `go generate` call it; some packages put it elsewhere.
    let format = within("bin/gofmt");
    if format.is_file() {
        programs.push(format);
    }
    let go = within("bin/go");
    if go.is_file() {
        closure.plan.take(&go)?;
    }
    Ok(programs)
}

impl Go {
    fn ask(program: &Path) -> Result<Self, CaptureError> {
        let unanswered = |why| CaptureError::Unanswered { program: program.to_path_buf(), why };
        let mut asked = question(program);
        // Neither this user's settings nor a newer release that some project asks for.
        asked.envs([("GOENV", "off"), ("GOTOOLCHAIN", "local"), ("GOWORK", "off"), ("GOFLAGS", "")]);
        asked.args(["env", "-json", "GOROOT", "GOTOOLDIR", "GOHOSTOS", "GOHOSTARCH", "GOVERSION"]);
        Self::read(&ask(&mut asked).map_err(unanswered)?).map_err(unanswered)
    }

    /// From Go 1.20 on the absence of a compiler of C is noticed.
    fn wants_a_compiler(&self) -> bool {
        let minor = self.goversion.strip_prefix("go1.").and_then(|rest| rest.split('.').next()?.parse().ok());
        minor.is_some_and(|minor: u32| minor < 20)
    }

    fn read(answer: &[u8]) -> Result<Self, String> {
        let go: Self = serde_json::from_slice(answer).map_err(|error| format!("unreadable ({error})"))?;
        if let Some(path) = [&go.goroot, &go.gotooldir].into_iter().find(|path| !path.is_absolute()) {
            return Err(format!("{path:?} is no absolute path"));
        }
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if let Some(text) = [&go.gohostos, &go.gohostarch].into_iter().find(|text| !is_word(text)) {
            return Err(format!("{text:?} is no system"));
        }
        Ok(go)
    }
}

/// The sources and the compiled packages, without those of Go's own tools and of its own tests.
fn is_wanted(child: &DirEntry, kind: FileType) -> bool {
    let name = child.file_name();
    let is_test = name == "testdata" || name.as_bytes().ends_with(b"_test.go");
    let is_tools = kind.is_dir()
        && name == "cmd"
        && child.path().parent().is_some_and(|parent| {
            parent.ends_with("src") || parent.parent().is_some_and(|above| above.ends_with("pkg"))
        });
    !is_test && !is_tools
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_strictly() {
        let whole = br#"{"GOROOT": "/usr/lib/go", "GOTOOLDIR": "/usr/lib/go/pkg/tool/linux_amd64",
            "GOHOSTOS": "linux", "GOHOSTARCH": "amd64", "GOVERSION": "go1.19.8"}"#;
        let go = Go::read(whole).unwrap();
        assert!(go.wants_a_compiler());
        for (version, wants) in
            [("go1.4", true), ("go1.20", false), ("go1.26.1", false), ("devel", false), ("", false)]
        {
            let other = Go { goversion: version.to_owned(), ..Go::read(whole).unwrap() };
            assert_eq!(other.wants_a_compiler(), wants, "{version}");
        }
        assert_eq!((go.goroot.to_str(), go.gohostarch.as_str()), (Some("/usr/lib/go"), "amd64"));
        let with = |from: &str, to: &str| String::from_utf8_lossy(whole).replace(from, to);
        for bad in [
            with("\"/usr/lib/go\"", "\"\""),
            with("\"/usr/lib/go\"", "\"go\""),
            with("/usr/lib/go/pkg", "pkg"),
            with("\"amd64\"", "\"../../etc\""),
            with("\"linux\"", "\"\""),
            with("GOHOSTOS", "HOST"),
            String::new(),
        ] {
            assert!(Go::read(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
