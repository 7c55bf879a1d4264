//! Which configuration a file is, as its name tells, and what it says in the names that its tool gives it everywhere.

use ambit_ids::RepoPath;

use super::node::{Node, Value};
use super::read;
use crate::change::Unreadable;
use crate::manifest::Manifest;

/// Which tools read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Family {
    Python,
    Node,
    Cargo,
    Go,
    Pipeline,
    Recipes,
    Lock,
    Other,
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Toml,
    Json,
    JsonOrYaml,
    Yaml,
    Ini,
    Lines,
    Requirements,
    GoMod,
    GoSum,
    Yarn,
    Recipes,
}

/// A kind of configuration file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) family: Family,
    form: Form,
    /// Where in the names of its family what it says stands.
    root: &'static str,
}

/// Kinds by the whole name of the file.
const NAMES: [(&str, Family, Form, &str); 58] = [
    ("pyproject.toml", Family::Python, Form::Toml, ""),
    ("setup.cfg", Family::Python, Form::Ini, ""),
    ("tox.ini", Family::Python, Form::Ini, ""),
    ("pytest.ini", Family::Python, Form::Ini, ""),
    (".pytest.ini", Family::Python, Form::Ini, ""),
    ("pytest.toml", Family::Python, Form::Toml, ""),
    (".coveragerc", Family::Python, Form::Ini, "coverage"),
    (".flake8", Family::Python, Form::Ini, ""),
    ("mypy.ini", Family::Python, Form::Ini, ""),
    (".mypy.ini", Family::Python, Form::Ini, ""),
    ("ruff.toml", Family::Python, Form::Toml, "ruff"),
    (".ruff.toml", Family::Python, Form::Toml, "ruff"),
    (".pylintrc", Family::Python, Form::Ini, "pylint"),
    ("pylintrc", Family::Python, Form::Ini, "pylint"),
    ("pyrightconfig.json", Family::Python, Form::Json, "pyright"),
    ("Pipfile", Family::Python, Form::Toml, "pipfile"),
    ("pip.conf", Family::Python, Form::Ini, "pip"),
    ("package.json", Family::Node, Form::Json, ""),
    ("jest.config.json", Family::Node, Form::Json, "jest"),
    (".mocharc.json", Family::Node, Form::Json, "mocha"),
    (".mocharc.jsonc", Family::Node, Form::Json, "mocha"),
    (".mocharc.yml", Family::Node, Form::Yaml, "mocha"),
    (".mocharc.yaml", Family::Node, Form::Yaml, "mocha"),
    (".nycrc", Family::Node, Form::JsonOrYaml, "nyc"),
    (".nycrc.json", Family::Node, Form::Json, "nyc"),
    (".c8rc.json", Family::Node, Form::Json, "nyc"),
    (".taprc", Family::Node, Form::JsonOrYaml, "tap"),
    (".eslintrc", Family::Node, Form::JsonOrYaml, "eslintConfig"),
    (".eslintrc.json", Family::Node, Form::Json, "eslintConfig"),
    (".eslintrc.yml", Family::Node, Form::Yaml, "eslintConfig"),
    (".eslintrc.yaml", Family::Node, Form::Yaml, "eslintConfig"),
    (".eslintignore", Family::Node, Form::Lines, "eslintIgnore"),
    ("biome.json", Family::Node, Form::Json, "biome"),
    ("biome.jsonc", Family::Node, Form::Json, "biome"),
    (".npmrc", Family::Node, Form::Ini, "npmrc"),
    (".yarnrc", Family::Node, Form::Lines, "yarnrc"),
    (".yarnrc.yml", Family::Node, Form::Yaml, "npmrc"),
    ("pnpm-workspace.yaml", Family::Node, Form::Yaml, "pnpm"),
    ("Cargo.toml", Family::Cargo, Form::Toml, ""),
    ("nextest.toml", Family::Cargo, Form::Toml, "nextest"),
    ("clippy.toml", Family::Cargo, Form::Toml, "clippy"),
    (".clippy.toml", Family::Cargo, Form::Toml, "clippy"),
    ("go.mod", Family::Go, Form::GoMod, "gomod"),
    (".golangci.yml", Family::Go, Form::Yaml, "golangci"),
    (".golangci.yaml", Family::Go, Form::Yaml, "golangci"),
    (".golangci.toml", Family::Go, Form::Toml, "golangci"),
    (".golangci.json", Family::Go, Form::Json, "golangci"),
    ("package-lock.json", Family::Lock, Form::Json, "npm"),
    ("npm-shrinkwrap.json", Family::Lock, Form::Json, "npm"),
    ("yarn.lock", Family::Lock, Form::Yarn, "yarn"),
    ("pnpm-lock.yaml", Family::Lock, Form::Yaml, "pnpm"),
    ("poetry.lock", Family::Lock, Form::Toml, "tables"),
    ("pdm.lock", Family::Lock, Form::Toml, "tables"),
    ("uv.lock", Family::Lock, Form::Toml, "tables"),
    ("Cargo.lock", Family::Lock, Form::Toml, "tables"),
    ("Pipfile.lock", Family::Lock, Form::Json, "pipfile"),
    ("go.sum", Family::Lock, Form::GoSum, "gosum"),
    ("CODEOWNERS", Family::Other, Form::Lines, "codeowners"),
];

/// Pipelines by the whole name of the file.
const PIPELINES: [&str; 9] = [
    ".gitlab-ci.yml",
    ".gitlab-ci.yaml",
    ".travis.yml",
    ".drone.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "buildspec.yml",
    ".cirrus.yml",
    ".pre-commit-config.yaml",
];

const RECIPES: [&str; 6] = ["Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", ".justfile"];

/// Directories of files that no tool of the project reads as its configuration.
const ELSEWHERE: [&[u8]; 10] = [
    b"fixtures",
    b"__fixtures__",
    b"fixture",
    b"testdata",
    b"vendor",
    b"third_party",
    b"node_modules",
    b"site-packages",
    b"templates",
    b"cookiecutter",
];

impl Kind {
    pub(super) fn of(path: &RepoPath) -> Option<Self> {
        if path.components().any(|part| ELSEWHERE.contains(&part)) {
            return None;
        }
        let name = std::str::from_utf8(path.file_name()).ok()?;
        let whole = path.as_bytes();
        if let Some((_, family, form, root)) = NAMES.iter().find(|(known, ..)| *known == name) {
            return Some(Self { family: *family, form: *form, root });
        }
        let is_yaml = has_extension(name, &["yml", "yaml"]);
        let in_workflows = whole.starts_with(b".github/workflows/") || whole.starts_with(b".github/actions/");
        let in_circle = whole.starts_with(b".circleci/");
        let kind = if PIPELINES.contains(&name) || (is_yaml && (in_workflows || in_circle)) {
            (Family::Pipeline, Form::Yaml, "")
        } else if RECIPES.contains(&name) || has_extension(name, &["mk"]) {
            (Family::Recipes, Form::Recipes, "")
        } else if name.starts_with("tsconfig") && has_extension(name, &["json"]) {
            (Family::Node, Form::Json, "tsconfig")
        } else if whole.ends_with(b".cargo/config.toml") || whole.ends_with(b".cargo/config") {
            (Family::Cargo, Form::Toml, "config")
        } else if matches!(Manifest::of(path), Some(Manifest::Requirements)) {
            (Family::Python, Form::Requirements, "requirements")
        } else if is_yaml {
            (Family::Other, Form::Yaml, "")
        } else if has_extension(name, &["toml"]) {
            (Family::Other, Form::Toml, "")
        } else if has_extension(name, &["json"]) {
            (Family::Other, Form::Json, "")
        } else if has_extension(name, &["ini", "cfg", "properties", "env"]) {
            (Family::Other, Form::Ini, "")
        } else {
            return None;
        };
        Some(Self { family: kind.0, form: kind.1, root: kind.2 })
    }

    pub(super) const fn root(self) -> &'static str {
        self.root
    }

    pub(super) const fn is_requirements(self) -> bool {
        matches!(self.form, Form::Requirements)
    }

    /// What the file says, where its family has it.
    pub(super) fn read(self, text: &str) -> Result<Node, Unreadable> {
        let node = match self.form {
            Form::Toml => read::toml(text)?,
            Form::Json => read::json(text)?,
            Form::JsonOrYaml if text.trim_start().starts_with(['{', '/']) => read::json(text)?,
            Form::Yaml | Form::JsonOrYaml => read::yaml(text)?,
            Form::Ini => read::ini(text)?,
            Form::Lines => read::lines(text),
            Form::Requirements => read::requirements(text),
            Form::GoMod => read::go_mod(text),
            Form::GoSum => read::go_sum(text),
            Form::Yarn if text.contains("__metadata:") => read::yaml(text)?,
            Form::Yarn => read::yarn_lock(text),
            Form::Recipes => read::recipes(text),
        };
        Ok(match (self.family, self.form) {
            (Family::Python, Form::Ini) if self.root.is_empty() => sections(node),
            (Family::Python, Form::Toml) if self.root.is_empty() => pyproject(node),
            _ if self.root.is_empty() || self.family == Family::Lock => node,
            _ => {
                let mut root = Node { line: node.line, ..Node::default() };
                root.put(&[self.root], node);
                root
            }
        })
    }
}

pub(super) fn has_extension(name: &str, extensions: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(&extension))
}

/// The tables of tools at the top, where the other files of these tools have them, and the project's own beside them.
fn pyproject(node: Node) -> Node {
    let mut root = Node { line: node.line, ..Node::default() };
    let Value::Map(entries) = node.value else { return root };
    for (name, node) in entries {
        match (name.as_str(), node.value) {
            ("tool", Value::Map(tools)) => {
                for (tool, mut said) in tools {
                    if tool == "pytest" {
                        said = said.get("ini_options").cloned().unwrap_or(said);
                    }
                    root.put(&[&tool], said);
                }
            }
            ("pytest", value) => root.put(&["pytest"], Node { line: node.line, value }),
            (_, value) => root.put(&["pyproject", &name], Node { line: node.line, value }),
        }
    }
    root
}

/// The sections of an ini file by the names of their tools.
fn sections(node: Node) -> Node {
    let mut root = Node { line: node.line, ..Node::default() };
    let Value::Map(entries) = node.value else { return root };
    for (name, said) in entries {
        let name = name.strip_prefix("tool:").unwrap_or(&name);
        if let Some(part) = name.strip_prefix("coverage:") {
            root.put(&["coverage", part], said);
        } else if let Some(module) = name.strip_prefix("mypy-") {
            root.put(&["mypy", "overrides", module], said);
        } else if name == "testenv" || name.starts_with("testenv:") {
            root.put(&["tox", "env", name], said);
        } else if name == "options" || name.starts_with("options.") {
            root.put(&["setup", name], said);
        } else {
            root.put(&[name], said);
        }
    }
    root
}
