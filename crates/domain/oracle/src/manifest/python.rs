use std::collections::BTreeSet;

use toml::{Table, Value};

use super::dependency::Dependency;
use super::table::at;
use crate::change::Unreadable;
use crate::source::{Language, Source};

/// Keywords of `setup()` that list requirements.
const SETUP_KEYWORDS: [&str; 4] = ["install_requires", "setup_requires", "tests_require", "extras_require"];

/// A name as PEP 503 compares it.
pub(super) fn normal(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '-' | '_' | '.' => normal.push('-'),
            c => normal.extend(c.to_lowercase()),
        }
    }
    normal
}

/// The requirements of a pip requirements file. A line that is no named requirement (an option that names another
/// index, a URL, another file) is told as it stands.
pub(super) fn requirements(text: &str) -> BTreeSet<Dependency> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(|line| match line.find(" #") {
        Some(comment) => line[..comment].trim(),
        None if line.trim_start().starts_with('#') => "",
        None => line.trim(),
    });
    lines.filter(|line| !line.is_empty() && !line.starts_with("--hash")).map(requirement).collect()
}

/// One requirement of PEP 508: `name[extra] >= 1; marker` or `name @ url`.
fn requirement(text: &str) -> Dependency {
    let text = text.trim();
    let length = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(length);
    let rest = rest.trim_start();
    let rest =
        rest.strip_prefix('[').and_then(|extras| extras.split_once(']')).map_or(rest, |(_, rest)| rest);
    let rest = rest.trim_start();
    let named = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if let Some(url) = rest.strip_prefix('@').filter(|_| named) {
        return Dependency::sourced(normal(name), url.split(';').next().unwrap_or(url).trim());
    }
    let versioned = rest.is_empty()
        || rest.starts_with(['=', '<', '>', '~', '!', ';', '(', ','])
        || rest.starts_with("--");
    if named && versioned { Dependency::registered(normal(name)) } else { Dependency::registered(text) }
}

/// The dependencies of a `pyproject.toml`: of the project, of its build, of its groups, and of the tools that keep
/// their own lists.
pub(super) fn pyproject(document: &Table) -> BTreeSet<Dependency> {
    let mut found = BTreeSet::new();
    let dynamic = at(document, &["project", "dynamic"]).and_then(Value::as_array);
    if dynamic.into_iter().flatten().any(|field| field.as_str() == Some("dependencies")) {
        let listed = at(document, &["tool", "setuptools", "dynamic", "dependencies"]);
        let listed = listed.map_or("the build backend".to_owned(), |value| format!("{value:?}"));
        found.insert(Dependency::sourced("dynamic dependencies", listed));
    }
    for path in
        [&["project", "dependencies"][..], &["build-system", "requires"], &["tool", "uv", "dev-dependencies"]]
    {
        found.extend(list(at(document, path)));
    }
    let groups = [
        &["project", "optional-dependencies"][..],
        &["dependency-groups"],
        &["tool", "pdm", "dev-dependencies"],
    ];
    for group in groups.iter().filter_map(|path| at(document, path)?.as_table()).flatten() {
        found.extend(list(Some(group.1)));
    }
    let environments = at(document, &["tool", "hatch", "envs"]).and_then(Value::as_table);
    for environment in environments.into_iter().flatten().filter_map(|(_, value)| value.as_table()) {
        found.extend(list(environment.get("dependencies")));
        found.extend(list(environment.get("extra-dependencies")));
    }
    for path in [&["tool", "poetry", "dependencies"], &["tool", "poetry", "dev-dependencies"]] {
        found.extend(named(at(document, path)));
    }
    let poetry_groups = at(document, &["tool", "poetry", "group"]).and_then(Value::as_table);
    for group in poetry_groups.into_iter().flatten().filter_map(|(_, value)| value.as_table()) {
        found.extend(named(group.get("dependencies")));
    }
    found.extend(named(at(document, &["tool", "uv", "sources"])));
    found
}

/// The packages of a `Pipfile`.
pub(super) fn pipfile(document: &Table) -> BTreeSet<Dependency> {
    let mut found = named(document.get("packages"));
    found.extend(named(document.get("dev-packages")));
    found
}

fn list(value: Option<&Value>) -> Vec<Dependency> {
    let items = value.and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).map(requirement).collect()
}

/// The entries of a table from names to versions or sources.
fn named(value: Option<&Value>) -> BTreeSet<Dependency> {
    let entries = value.and_then(Value::as_table);
    entries
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "python")
        .map(|(name, value)| {
            let source = ["git", "url", "path", "file", "index", "source"]
                .iter()
                .find_map(|key| value.get(key)?.as_str());
            match source {
                Some(source) => Dependency::sourced(normal(name), source),
                None => Dependency::registered(normal(name)),
            }
        })
        .collect()
}

/// The requirements of a `setup.cfg`.
pub(super) fn setup_cfg(text: &str) -> BTreeSet<Dependency> {
    let mut found = BTreeSet::new();
    let mut section = "";
    let mut key = "";
    for line in text.lines().filter(|line| !line.trim_start().starts_with(['#', ';'])) {
        let trimmed = line.trim();
        if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            (section, key) = (name.trim(), "");
            continue;
        }
        let continues = line.starts_with([' ', '\t']) && !key.is_empty();
        let value = if continues {
            trimmed
        } else if let Some((name, value)) = trimmed.split_once(['=', ':']) {
            key = name.trim();
            value.trim()
        } else {
            continue;
        };
        let lists = match section {
            "options" => SETUP_KEYWORDS.contains(&key),
            "options.extras_require" => true,
            _ => false,
        };
        if lists && !value.is_empty() {
            found.extend(value.split(';').next().into_iter().map(requirement));
        }
    }
    found
}

/// The requirements of a `setup.py`, where they stand in it as lists of strings.
pub(super) fn setup_py(text: &str) -> Result<BTreeSet<Dependency>, Unreadable> {
    let source = Source::read(Language::Python, text);
    let mut found = BTreeSet::new();
    for keyword in SETUP_KEYWORDS {
        for (at, _) in source.code.match_indices(keyword) {
            let value = source.code[at + keyword.len()..].trim_start();
            let Some(value) = value.strip_prefix('=').filter(|value| !value.starts_with('=')) else {
                continue;
            };
            let start = source.code.len() - value.trim_start().len();
            found.extend(strings(&source, start)?);
        }
    }
    Ok(found)
}

/// The strings of a literal list, or of the lists within a literal mapping.
fn strings(source: &Source<'_>, start: usize) -> Result<Vec<Dependency>, Unreadable> {
    let literal = source.code[start..].starts_with(['[', '(', '{']);
    let end = closing(&source.code, start).filter(|_| literal).ok_or(Unreadable::Computed)?;
    let code = &source.code[start..end];
    if code.contains(|c: char| c.is_alphanumeric() || matches!(c, '_' | '+' | '*')) {
        return Err(Unreadable::Computed);
    }
    let marks: Vec<usize> = code.match_indices(['"', '\'']).map(|(at, _)| at).collect();
    let texts = marks.chunks_exact(2).filter_map(|pair| {
        let is_key = code[pair[1] + 1..].trim_start().starts_with(':');
        let text = source.text.get(start + pair[0] + 1..start + pair[1])?.trim();
        (!is_key && !text.is_empty()).then_some(text)
    });
    Ok(texts.map(requirement).collect())
}

fn closing(code: &str, start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    code[start..].bytes().enumerate().find_map(|(at, byte)| {
        match byte {
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(start + at)
    })
}
