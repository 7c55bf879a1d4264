use ambit_ids::RepoPath;

use crate::config::kind::Family;
use crate::config::node::{Node, Value};
use crate::manifest::Ecosystem;

/// A dependency as a manifest names it, or a line that says where all of them come from.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) group: &'static str,
    pub(super) name: String,
    /// Whether it is held to one version.
    pub(super) is_exact: bool,
    /// Whether it is held to a digest.
    pub(super) is_hashed: bool,
    /// Where it comes from, if not from the ecosystem's registry.
    pub(super) source: Option<String>,
    /// Whether it says where others come from.
    pub(super) redirects: bool,
    /// Whether the others are less held without it.
    pub(super) must_stay: bool,
    pub(super) line: u32,
    pub(super) text: String,
}

impl Named {
    fn new(group: &'static str, name: String, line: u32, text: &str) -> Self {
        Self {
            group,
            name,
            is_exact: false,
            is_hashed: false,
            source: None,
            redirects: false,
            must_stay: false,
            line,
            text: text.to_owned(),
        }
    }

    fn redirect(name: &str, node: &Node) -> Self {
        Self {
            redirects: true,
            ..Self::new("source", name.to_owned(), node.line, &format!("{name}: {}", node.shown()))
        }
    }
}

/// What a manifest names.
pub(super) fn named(family: Family, path: &RepoPath, node: &Node) -> Vec<Named> {
    match family {
        Family::Python => python(node),
        Family::Node => npm(node),
        Family::Cargo => cargo(node),
        Family::Go => go(node),
        Family::Pipeline | Family::Recipes | Family::Lock | Family::Other => Vec::new(),
    }
    .into_iter()
    .filter(|one| !one.text.is_empty() && !path.as_bytes().is_empty())
    .collect()
}

fn python(node: &Node) -> Vec<Named> {
    let mut found = Vec::new();
    found.extend(node.get("requirements").map(Node::items).unwrap_or_default().iter().map(requirement));
    for path in [
        &["pyproject", "project", "dependencies"][..],
        &["pyproject", "project", "optional-dependencies"],
        &["pyproject", "dependency-groups"],
        &["pyproject", "build-system", "requires"],
        &["setup", "options", "install_requires"],
        &["setup", "options.extras_require"],
    ] {
        if let Some(below) = node.at(path) {
            below.walk("", &mut |_, node| found.extend(node.text().map(|_| requirement(node))));
        }
    }
    for path in [
        &["poetry", "dependencies"][..],
        &["poetry", "dev-dependencies"],
        &["pipfile", "packages"],
        &["pipfile", "dev-packages"],
    ] {
        found.extend(
            node.at(path)
                .map(Node::entries)
                .unwrap_or_default()
                .iter()
                .map(|(name, node)| poetry(name, node)),
        );
    }
    for (_, group) in node.at(&["poetry", "group"]).map(Node::entries).unwrap_or_default() {
        let entries = group.get("dependencies").map(Node::entries).unwrap_or_default();
        found.extend(entries.iter().map(|(name, node)| poetry(name, node)));
    }
    for path in [&["uv", "sources"][..], &["uv", "index"], &["uv", "index-url"], &["uv", "extra-index-url"]] {
        found.extend(node.at(path).map(|node| redirects(path[1], node)).unwrap_or_default());
    }
    for path in [
        &["poetry", "source"][..],
        &["pdm", "source"],
        &["pipfile", "source"],
        &["uv", "override-dependencies"],
    ] {
        found.extend(node.at(path).map(|node| redirects(path[1], node)).unwrap_or_default());
    }
    found
}

/// Each entry by itself, so that a further one does not change the others.
fn redirects(name: &str, node: &Node) -> Vec<Named> {
    let is_local = |node: &Node| node.field("workspace") == Some("true");
    match &node.value {
        Value::Scalar(_) => vec![Named::redirect(name, node)],
        Value::List(items) => items
            .iter()
            .map(|item| {
                Named::redirect(
                    &format!("{name} {}", item.field("name").or(item.text()).unwrap_or_default()),
                    item,
                )
            })
            .collect(),
        Value::Map(entries) => entries
            .iter()
            .filter(|(_, node)| !is_local(node))
            .map(|(key, node)| Named::redirect(&format!("{name} {key}"), node))
            .collect(),
    }
}

/// One line of requirements.
fn requirement(node: &Node) -> Named {
    let text = node.text().unwrap_or_default();
    if text.starts_with('-') {
        let (name, _) = text.split_once([' ', '=']).unwrap_or((text, ""));
        let mut named = Named::new("option", text.to_owned(), node.line, text);
        named.redirects = [
            "-i",
            "--index-url",
            "--extra-index-url",
            "-f",
            "--find-links",
            "--trusted-host",
            "--no-index",
            "--pre",
        ]
        .contains(&name);
        named.must_stay = matches!(name, "--require-hashes" | "-c" | "--constraint");
        return named;
    }
    let end =
        text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))).unwrap_or(text.len());
    let bare = text.split(';').next().unwrap_or(text);
    let marker =
        text.split_once(';').map(|(_, marker)| marker.split("--hash").next().unwrap_or_default().trim());
    let name = format!("{} {}", Ecosystem::Python.normal(&text[..end]), marker.unwrap_or_default());
    let mut named = Named::new("python", name.trim().to_owned(), node.line, text);
    named.is_exact = bare.contains("==") && !bare.contains('*') && !bare.contains("!==");
    named.is_hashed = text.contains("--hash");
    named.source =
        text[end..].split_once('@').map(|(_, url)| url.split(';').next().unwrap_or(url).trim().to_owned());
    named
}

fn poetry(name: &str, node: &Node) -> Named {
    let version = node.text().or(node.field("version")).unwrap_or_default();
    let mut named =
        Named::new("python", Ecosystem::Python.normal(name), node.line, &format!("{name} {}", node.shown()));
    let digits = version.trim_start_matches("==").trim_start();
    named.is_exact = digits.starts_with(|c: char| c.is_ascii_digit())
        && !digits.contains(['*', ',', '|', '^', '~', '<', '>']);
    named.source = ["git", "url", "path", "file", "index", "source"]
        .iter()
        .find_map(|key| node.field(key))
        .map(str::to_owned);
    named
}

fn npm(node: &Node) -> Vec<Named> {
    let mut found = Vec::new();
    for section in ["dependencies", "devDependencies", "optionalDependencies"] {
        for (name, node) in node.get(section).map(Node::entries).unwrap_or_default() {
            let version = node.text().unwrap_or_default();
            let mut named = Named::new("npm", name.clone(), node.line, &format!("{name}: {version}"));
            named.is_exact = version.trim_start_matches('=').split('.').count() >= 3
                && version.trim_start_matches('=').starts_with(|c: char| c.is_ascii_digit())
                && !version.contains([' ', 'x', '*', '|']);
            let is_workspace = version.starts_with("workspace:") || version.starts_with("catalog:");
            named.source = version.contains([':', '/']).then(|| version.to_owned()).filter(|_| !is_workspace);
            named.source = named.source.map(|source| source.split('#').next().unwrap_or_default().to_owned());
            found.push(named);
        }
    }
    for path in
        [&["overrides"][..], &["resolutions"], &["pnpm", "overrides"], &["pnpm", "patchedDependencies"]]
    {
        let Some(node) = node.at(path) else { continue };
        node.walk("", &mut |name, node| {
            let elsewhere =
                node.text().is_some_and(|text| text.contains([':', '/']) && !text.starts_with("workspace:"));
            found.extend(elsewhere.then(|| Named::redirect(&format!("{} {name}", path.join(".")), node)));
        });
    }
    for (name, node) in node.get("npmrc").map(Node::entries).unwrap_or_default() {
        let of_scope = name.ends_with(":registry");
        found.extend(of_scope.then(|| Named::redirect(name, node)));
        let no_lock = name == "package-lock" && node.text() == Some("false");
        found.extend(no_lock.then(|| Named::redirect(name, node)));
    }
    found
}

fn cargo(node: &Node) -> Vec<Named> {
    let mut found = Vec::new();
    let mut tables = vec![node];
    tables.extend(node.get("workspace"));
    tables.extend(node.get("target").map(Node::entries).unwrap_or_default().iter().map(|(_, node)| node));
    for table in tables {
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (key, node) in table.get(section).map(Node::entries).unwrap_or_default() {
                let version = node.text().or(node.field("version")).unwrap_or_default();
                let mut named =
                    Named::new(section, key.clone(), node.line, &format!("{key} = {}", node.shown()));
                named.is_exact = version.trim_start().starts_with('=') && version.split('.').count() >= 3;
                let keys = ["git", "registry", "registry-index", "path"];
                let alias = node.field("package").filter(|package| package != key);
                named.source = keys.iter().find_map(|key| node.field(key)).or(alias).map(str::to_owned);
                let is_git = node.get("git").is_some();
                named.is_exact |= is_git && node.get("rev").is_some();
                if is_git && node.get("rev").is_none() && node.get("tag").is_none() {
                    named.is_exact = false;
                }
                found.push(named);
            }
        }
    }
    for (name, node) in node.get("patch").map(Node::entries).unwrap_or_default() {
        found.extend(redirects(&format!("patch {name}"), node));
    }
    found.extend(node.get("replace").map(|node| redirects("replace", node)).unwrap_or_default());
    found
}

fn go(node: &Node) -> Vec<Named> {
    let replaced = node.at(&["gomod", "replace"]).map(Node::items).unwrap_or_default();
    let module = |node: &Node| {
        node.text().unwrap_or_default().split_whitespace().next().unwrap_or_default().to_owned()
    };
    replaced.iter().map(|node| Named::redirect(&format!("replace {}", module(node)), node)).collect()
}
