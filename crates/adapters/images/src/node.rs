//! What Node needs beside its program and its libraries: the modules and the data that a distribution keeps outside of it.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::ask::{ask, question};
use crate::closure::Closure;
use crate::error::CaptureError;

/// Asks how the program was built. A module that is not built in is named by a definition.
const QUESTION: &str = "\
const { target_defaults: target = {}, variables = {} } = process.config;
process.stdout.write(JSON.stringify({
    definitions: target.defines || [],
    data: variables.icu_default_data || null,
}))";

/// What the definition of a module that lies in a file starts and goes on with.
const OUTSIDE_MODULE: [&str; 2] = ["NODE_SHARED_BUILTIN_", "_PATH"];

#[derive(Debug, Deserialize)]
struct Node {
    definitions: Vec<String>,
    /// The directory of the data for languages.
    data: Option<PathBuf>,
}

/// Whether a program of this name is a Node.
pub(crate) fn is_called(name: &str) -> bool {
    matches!(name, "node" | "nodejs")
}

/// Takes what the node at `program` reads when it starts.
pub(crate) fn take(closure: &mut Closure<'_>, program: &Path) -> Result<(), CaptureError> {
    let unanswered = |why| CaptureError::Unanswered { program: program.to_path_buf(), why };
    let answer = ask(question(program).args(["-e", QUESTION])).map_err(unanswered)?;
    let node: Node =
        serde_json::from_slice(&answer).map_err(|error| unanswered(format!("unreadable ({error})")))?;
    for module in node.definitions.iter().filter_map(|definition| outside_module(definition)) {
        closure.plan.take(module)?;
    }
    if let Some(data) = node.data.filter(|data| data.is_absolute() && data.is_dir()) {
        closure.tree(&data, |_, _| true)?;
    }
    Ok(())
}

/// The file of a module that is not built in, where a definition names one.
fn outside_module(definition: &str) -> Option<&Path> {
    let (name, value) = definition.split_once('=')?;
    let [start, end] = OUTSIDE_MODULE;
    let path = Path::new(value.trim_matches(['"', '\\']));
    (name.starts_with(start) && name.ends_with(end) && path.is_absolute()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_told_by_their_names() {
        assert!(is_called("node") && is_called("nodejs"));
        for other in ["node-gyp", "nodemon", "npm", "nodes"] {
            assert!(!is_called(other), "{other}");
        }
    }

    #[test]
    fn a_definition_tells_of_a_module_outside() {
        for good in [
            "NODE_SHARED_BUILTIN_ACORN_PATH=/usr/share/nodejs/acorn/dist/acorn.js",
            "NODE_SHARED_BUILTIN_ACORN_PATH=\\\"/usr/share/nodejs/acorn/dist/acorn.js\\\"",
        ] {
            assert_eq!(
                outside_module(good),
                Some(Path::new("/usr/share/nodejs/acorn/dist/acorn.js")),
                "{good}"
            );
        }
        for other in [
            "NODE_OPENSSL_CONF_NAME=nodejs_conf",
            "NODE_SHARED_BUILTIN_ACORN_PATH=acorn.js",
            "NODE_SHARED_BUILTIN_ACORN_PATH",
            "NODE_PREFIX_PATH=/usr",
            "",
        ] {
            assert_eq!(outside_module(other), None, "{other}");
        }
    }
}
