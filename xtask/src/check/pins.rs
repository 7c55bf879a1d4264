//! Every outside dependency is pinned to one exact version, in the root manifest alone.

use toml::{Table, Value};

use super::finding::Finding;
use crate::failure::Failure;
use crate::workspace::Workspace;

const ROOT: &str = "Cargo.toml";

pub(super) fn findings(workspace: &Workspace) -> Result<Vec<Finding>, Failure> {
    let mut found = Vec::new();
    if let Some(text) = workspace.texts.get(ROOT) {
        found.extend(root_findings(&parse(ROOT, text)?));
    }
    for package in &workspace.packages {
        let path = format!("{}/Cargo.toml", package.folder);
        if let Some(text) = workspace.texts.get(&path) {
            found.extend(member_findings(&path, &parse(&path, text)?));
        }
    }
    Ok(found)
}

fn parse(path: &str, text: &str) -> Result<Table, Failure> {
    text.parse().map_err(|cause: toml::de::Error| Failure::caused(format!("{path} is not TOML"), cause))
}

fn root_findings(manifest: &Table) -> Vec<Finding> {
    let Some(dependencies) = table_at(manifest, &["workspace", "dependencies"]) else {
        return vec![Finding::new(ROOT, "there are no workspace dependencies")];
    };
    let loose =
        dependencies.iter().filter(|(_, value)| !is_path(value) && !version(value).is_some_and(is_exact));
    loose.map(|(name, _)| Finding::new(ROOT, format!("{name} is not pinned: write \"=X.Y.Z\""))).collect()
}

fn member_findings(path: &str, manifest: &Table) -> Vec<Finding> {
    let mut tables: Vec<&Table> = vec![manifest];
    if let Some(targets) = table_at(manifest, &["target"]) {
        tables.extend(targets.values().filter_map(Value::as_table));
    }
    let mut found = Vec::new();
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        for (name, value) in tables.iter().filter_map(|table| table_at(table, &[kind])).flatten() {
            let inherited = value.get("workspace").and_then(Value::as_bool) == Some(true);
            if !inherited {
                found.push(Finding::new(
                    path,
                    format!("{name} must come from the workspace: {name}.workspace = true"),
                ));
            }
        }
    }
    found
}

fn table_at<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Table> {
    path.iter().try_fold(table, |table, name| table.get(*name)?.as_table())
}

fn is_path(value: &Value) -> bool {
    value.get("path").is_some() && value.get("git").is_none() && version(value).is_none()
}

fn version(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("version").and_then(Value::as_str))
}

fn is_exact(requirement: &str) -> bool {
    let Some(version) = requirement.strip_prefix('=') else { return false };
    let numbers = version.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = numbers.split('.').collect();
    parts.len() == 3
        && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        && !requirement.contains([',', '*', ' '])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_version_after_an_equals_sign_is_exact() {
        for good in ["=1.2.3", "=1.2.3-rc.1", "=0.1.0+spec-1.1.0"] {
            assert!(is_exact(good), "{good}");
        }
        for bad in [
            "1.2.3",
            "^1.2.3",
            "=1.2",
            "=1",
            "*",
            "=1.2.*",
            ">=1.2.3",
            "=1.2.3, <2",
            "= 1.2.3",
            "==1.2.3",
            "",
        ] {
            assert!(!is_exact(bad), "{bad}");
        }
    }

    #[test]
    fn the_root_names_exact_versions_and_paths() {
        let manifest = parse(
            ROOT,
            "[workspace.dependencies]\na = \"=1.2.3\"\nb = { version = \"=1.0.0\" }\nc = { path = \"c\" }\n\
             d = \"1\"\ne = { git = \"x\" }\nf = { path = \"f\", version = \"2\" }",
        );
        let says: Vec<String> =
            root_findings(&manifest.unwrap()).into_iter().map(|finding| finding.says).collect();
        assert_eq!(says.len(), 3);
        for (name, says) in ["d ", "e ", "f "].iter().zip(says) {
            assert!(says.starts_with(name), "{says}");
        }
    }

    #[test]
    fn a_member_inherits_whatever_the_kind() {
        let manifest = parse(
            "m",
            "[dependencies]\na.workspace = true\nb = \"=1.0.0\"\n[dev-dependencies]\nc = { path = \"c\" }\n\
             [target.'cfg(unix)'.build-dependencies]\nd = \"1\"",
        );
        assert_eq!(member_findings("m", &manifest.unwrap()).len(), 3);
    }
}
