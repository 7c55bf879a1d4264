//! What a program in JavaScript needs beside Node: its package, and the packages that this one names.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::closure::Closure;
use crate::error::CaptureError;
use crate::left_out::LeftOut;
use crate::limits;
use crate::loader::Loaded;
use crate::plan::Node;
use crate::regular::open_regular;

/// Where distributions keep packages for all programs. Their Node looks there last.
const SHARED: [&str; 4] = [
    "/usr/share/nodejs",
    "/usr/lib/nodejs",
    "/usr/lib/x86_64-linux-gnu/nodejs",
    "/usr/lib/aarch64-linux-gnu/nodejs",
];
/// What npm reads instead of the settings of this machine: in a sandbox there is no network, and nobody to tell of news.
const NPM_SETTINGS: &str = "audit=false\nfund=false\noffline=true\nupdate-notifier=false\n";

/// What is read of the manifest of a package.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Manifest {
    name: Option<String>,
    /// A path, or paths by the names of programs.
    bin: serde_json::Value,
    dependencies: BTreeMap<String, serde_json::Value>,
    optional_dependencies: BTreeMap<String, serde_json::Value>,
}

impl Manifest {
    /// The manifest in `directory`; `None` where there is none that can be read.
    fn of(directory: &Path) -> Option<Self> {
        let mut bytes = Vec::new();
        let path = directory.join("package.json").canonicalize().ok()?;
        let file = open_regular(&path).ok()?;
        file.take(limits::DESCRIPTION_BYTES).read_to_end(&mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Whether `script` is a program of the package in `directory`.
    fn has_program(&self, directory: &Path, script: &Path) -> bool {
        let is_it = |path: &str| directory.join(path.trim_start_matches("./")) == script;
        match &self.bin {
            serde_json::Value::String(path) => is_it(path),
            serde_json::Value::Object(programs) => {
                programs.values().any(|path| path.as_str().is_some_and(is_it))
            }
            _ => false,
        }
    }

    /// The packages that it names, and whether it can do without.
    fn wishes(&self) -> impl Iterator<Item = (&str, bool)> {
        let optional = self.optional_dependencies.keys().map(|name| (name.as_str(), true));
        // An optional one stands among the others too.
        let needed = self.dependencies.keys().filter(|name| !self.optional_dependencies.contains_key(*name));
        optional.chain(needed.map(|name| (name.as_str(), false))).filter(|(name, _)| is_package(name))
    }
}

/// Whether `directory` lies where packages are installed.
fn is_installed(directory: &Path) -> bool {
    let above = directory.parent().and_then(Path::file_name).and_then(OsStr::to_str).unwrap_or_default();
    above == "node_modules" || above == "nodejs" || above.starts_with('@')
}

/// Whether a text can name a package: `name` or `@scope/name`.
fn is_package(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let is_part = |part: &&str| !part.is_empty() && !part.starts_with('.') && !part.contains('\0');
    parts.iter().all(is_part) && parts.len() == if name.starts_with('@') { 2 } else { 1 }
}

/// Takes the package of the script at `script`, and all that it names, in turn. Modules in machine code are for `node`.
pub(crate) fn take(closure: &mut Closure<'_>, script: &Path, node: &Loaded) -> Result<(), CaptureError> {
    let Some((root, manifest)) = package_of(script) else { return Ok(()) };
    refuse_link_of_corepack(script, manifest.name.as_deref())?;
    if manifest.name.as_deref() == Some("npm") {
        let settings = Node::Made(NPM_SETTINGS.as_bytes().to_vec());
        closure.plan.add(&root.join("npmrc"), settings)?;
    }
    let mut taking = Taking { roots: BTreeSet::new(), pending: vec![root] };
    while let Some(package) = taking.pending.pop() {
        taking.package(closure, &package, node)?;
    }
    Ok(())
}

/// The nearest directory above `script` whose manifest has a name, where that is a package with this program. What lies
/// around a script in somebody's home is no package of it.
fn package_of(script: &Path) -> Option<(PathBuf, Manifest)> {
    let (directory, manifest) = script.ancestors().skip(1).find_map(|directory| {
        let manifest = Manifest::of(directory).filter(|manifest| manifest.name.is_some())?;
        Some((directory.to_path_buf(), manifest))
    })?;
    (is_installed(&directory) || manifest.has_program(&directory, script)).then_some((directory, manifest))
}

/// Corepack puts links into `PATH` that bring the package manager from a network.
fn refuse_link_of_corepack(script: &Path, package: Option<&str>) -> Result<(), CaptureError> {
    let name = script.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    if package != Some("corepack") || name == "corepack" {
        return Ok(());
    }
    let why = format!(
        "it is Corepack's, which brings {name} from a network when it is called, and a sandbox has none. Install {name} \
         itself, as with `npm install --global {name}`"
    );
    Err(CaptureError::NotAProgram { path: script.to_path_buf(), why })
}

struct Taking {
    /// The directories that were taken with everything in them.
    roots: BTreeSet<PathBuf>,
    pending: Vec<PathBuf>,
}

impl Taking {
    fn package(
        &mut self,
        closure: &mut Closure<'_>,
        package: &Path,
        node: &Loaded,
    ) -> Result<(), CaptureError> {
        let real = closure.plan.take(package)?;
        if real.ancestors().any(|above| self.roots.contains(above)) {
            return Ok(());
        }
        self.roots.insert(real.clone());
        let taken = closure.plan.take_tree(&real, |child, _| {
            let is_its_own = child.path().parent() == Some(&real);
            let name = child.file_name();
            // Hidden files are of those who made it, or hold what only they may know.
            let is_unread = ["docs", "man", "npmrc"].iter().any(|unread| name == *unread)
                || name.as_encoded_bytes().starts_with(b".");
            !(is_its_own && is_unread)
        })?;
        for file in &taken.files {
            if file.extension() == Some(OsStr::new("node")) {
                closure.module(file, node)?;
            }
            if file.file_name() == Some(OsStr::new("package.json"))
                && let Some(directory) = file.parent()
            {
                self.wishes(closure, directory);
            }
        }
        for link in taken.loose_links {
            // A package may stand in for another one by a link to its directory.
            match fs::canonicalize(&link).ok().filter(|target| Manifest::of(target).is_some()) {
                Some(_) => self.pending.push(link),
                None => {
                    let why = "it is a link that leads to no file and to no package".to_owned();
                    closure.left_out.insert(LeftOut { what: link, why });
                }
            }
        }
        Ok(())
    }

    /// Puts off the packages that the one in `directory` names.
    fn wishes(&mut self, closure: &mut Closure<'_>, directory: &Path) {
        let Some(manifest) = Manifest::of(directory) else { return };
        // Other manifests only say of which kind the modules beside them are, or are templates.
        if !self.roots.contains(directory) && !is_installed(directory) {
            return;
        }
        for (name, is_optional) in manifest.wishes() {
            match resolve(directory, name) {
                Some(package) => self.pending.push(package),
                None if is_optional => {}
                None => {
                    let why = format!("{} names this package, and it is not here", directory.display());
                    closure.left_out.insert(LeftOut { what: name.into(), why });
                }
            }
        }
    }
}

/// Where Node finds the package `name` for a module in `directory`.
fn resolve(directory: &Path, name: &str) -> Option<PathBuf> {
    let near = directory
        .ancestors()
        .filter(|above| above.file_name() != Some(OsStr::new("node_modules")))
        .map(|above| above.join("node_modules"));
    near.chain(SHARED.iter().map(PathBuf::from)).map(|home| home.join(name)).find(|path| path.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_named_without_a_way_out() {
        for good in ["npm", "@npmcli/config", "lodash.merge", "a-b_c"] {
            assert!(is_package(good), "{good}");
        }
        for bad in
            ["", ".", "..", "../npm", "a/b", "/etc", "@scope", "@scope/", "@scope/..", "@a/b/c", ".bin"]
        {
            assert!(!is_package(bad), "{bad}");
        }
    }

    #[test]
    fn a_package_is_found_as_node_finds_it() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        for path in ["node_modules/a/node_modules/b", "node_modules/b", "node_modules/@s/c/lib"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        assert_eq!(resolve(&at("node_modules/a"), "b"), Some(at("node_modules/a/node_modules/b")));
        assert_eq!(resolve(&at("node_modules/@s/c/lib"), "b"), Some(at("node_modules/b")));
        assert_eq!(resolve(&at("node_modules/b"), "@s/c"), Some(at("node_modules/@s/c")));
        assert_eq!(resolve(&at("node_modules/b"), "no-such-package-here"), None);
    }

    #[test]
    fn a_manifest_without_a_name_marks_no_package() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        fs::create_dir_all(at("p/dist")).unwrap();
        fs::write(at("p/dist/package.json"), r#"{"type": "module"}"#).unwrap();
        fs::write(at("p/package.json"), r#"{"name": "p", "dependencies": {"q": "1"}}"#).unwrap();
        assert!(
            package_of(&at("p/dist/main.js")).is_none(),
            "a script beside a manifest is not yet its program"
        );
        let with_program = r#"{"name": "p", "bin": {"p": "./dist/main.js"}, "dependencies": {"q": "1"}}"#;
        fs::write(at("p/package.json"), with_program).unwrap();
        assert!(package_of(&at("p/dist/other.js")).is_none());
        let (root, manifest) = package_of(&at("p/dist/main.js")).unwrap();
        assert_eq!(root, at("p"));
        assert_eq!(manifest.wishes().collect::<Vec<_>>(), [("q", false)]);
        for broken in ["", "3", "{", r#"{"dependencies": 3}"#] {
            fs::write(at("p/dist/package.json"), broken).unwrap();
            assert!(Manifest::of(&at("p/dist")).is_none(), "{broken}");
        }
    }

    #[test]
    fn what_corepack_would_bring_from_a_network_is_refused() {
        let link = Path::new("/usr/lib/node_modules/corepack/dist/pnpm.js");
        let error = refuse_link_of_corepack(link, Some("corepack")).unwrap_err();
        assert!(error.to_string().contains("npm install --global pnpm"), "{error}");
        assert!(refuse_link_of_corepack(&link.with_file_name("corepack.js"), Some("corepack")).is_ok());
        assert!(
            refuse_link_of_corepack(Path::new("/usr/lib/node_modules/pnpm/bin/pnpm.cjs"), Some("pnpm"))
                .is_ok()
        );
    }
}
