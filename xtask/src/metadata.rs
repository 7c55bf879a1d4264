//! The packages of the workspace, as `cargo metadata --no-deps` tells them.

use serde_json::Value;

use crate::failure::Failure;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The folder of its manifest, relative to the root, `/` between components.
    pub(crate) folder: String,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Whether it lies in this workspace.
    pub(crate) ours: bool,
}

/// What a dependency is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

/// Something that cargo compiles on its own: a library, a binary, a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: String,
    /// Its first source file, relative to the root.
    pub(crate) source: String,
}

/// The workspace as cargo sees it.
#[derive(Clone, Debug)]
pub(crate) struct Metadata {
    /// Where what was built is put.
    pub(crate) target_directory: String,
    /// Where what building needs on the way is kept; the same folder unless it was set apart.
    pub(crate) build_directory: String,
    pub(crate) packages: Vec<Package>,
}

impl Metadata {
    pub(crate) fn parse(json: &str) -> Result<Self, Failure> {
        let value: Value = serde_json::from_str(json)
            .map_err(|cause| Failure::caused("the workspace's metadata is not JSON", cause))?;
        let root = text(&value, "workspace_root")?;
        let packages = list(&value, "packages")?
            .iter()
            .map(|package| parse_package(package, &root))
            .collect::<Result<_, _>>()?;
        let target_directory = text(&value, "target_directory")?;
        let build_directory = text(&value, "build_directory").unwrap_or_else(|_| target_directory.clone());
        Ok(Self { target_directory, build_directory, packages })
    }
}

fn parse_package(package: &Value, root: &str) -> Result<Package, Failure> {
    let manifest = relative(&text(package, "manifest_path")?, root)?;
    let folder = manifest.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let dependencies =
        list(package, "dependencies")?.iter().map(parse_dependency).collect::<Result<_, _>>()?;
    let targets = list(package, "targets")?
        .iter()
        .map(|target| {
            let kind = list(target, "kind")?.first().and_then(Value::as_str).unwrap_or_default().to_owned();
            let source = relative(&text(target, "src_path")?, root)?;
            Ok(Target { name: text(target, "name")?, kind, source })
        })
        .collect::<Result<_, Failure>>()?;
    Ok(Package { name: text(package, "name")?, folder, dependencies, targets })
}

fn parse_dependency(dependency: &Value) -> Result<Dependency, Failure> {
    let kind = match dependency.get("kind").and_then(Value::as_str) {
        None => Kind::Normal,
        Some("build") => Kind::Build,
        Some("dev") => Kind::Dev,
        Some(other) => return Err(Failure::new(format!("cargo names a kind of dependency {other:?}"))),
    };
    Ok(Dependency {
        name: text(dependency, "name")?,
        kind,
        ours: dependency.get("path").is_some_and(Value::is_string),
    })
}

fn relative(path: &str, root: &str) -> Result<String, Failure> {
    path.strip_prefix(root)
        .and_then(|rest| rest.strip_prefix('/'))
        .map(str::to_owned)
        .ok_or_else(|| Failure::new(format!("{path} lies outside the workspace")))
}

fn text(value: &Value, member: &str) -> Result<String, Failure> {
    value
        .get(member)
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or_else(|| Failure::new(format!("the workspace's metadata has no text {member:?}")))
}

fn list<'a>(value: &'a Value, member: &str) -> Result<&'a Vec<Value>, Failure> {
    value
        .get(member)
        .and_then(Value::as_array)
        .ok_or_else(|| Failure::new(format!("the workspace's metadata has no list {member:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGE: &str = r#"{"name":"p","manifest_path":"/w/c/p/Cargo.toml","dependencies":[
        {"name":"q","kind":null,"path":"/w/c/q"},{"name":"serde","kind":"dev"},{"name":"cc","kind":"build"}],
        "targets":[{"name":"p","kind":["lib"],"src_path":"/w/c/p/src/lib.rs"}]}"#;

    fn parse(package: &str) -> Result<Metadata, Failure> {
        let json = format!(r#"{{"workspace_root":"/w","target_directory":"/t","packages":[{package}]}}"#);
        Metadata::parse(&json)
    }

    #[test]
    fn packages_are_read_with_paths_below_the_root() {
        let metadata = parse(PACKAGE).unwrap();
        assert_eq!(metadata.build_directory, "/t");
        let package = &metadata.packages[0];
        assert_eq!((package.folder.as_str(), package.targets[0].source.as_str()), ("c/p", "c/p/src/lib.rs"));
        let kinds: Vec<(Kind, bool)> = package.dependencies.iter().map(|it| (it.kind, it.ours)).collect();
        assert_eq!(kinds, [(Kind::Normal, true), (Kind::Dev, false), (Kind::Build, false)]);
    }

    #[test]
    fn what_cargo_never_says_is_refused() {
        assert!(parse(&PACKAGE.replace("/w/c/p/Cargo.toml", "/x/Cargo.toml")).is_err());
        assert!(parse(&PACKAGE.replace("\"dev\"", "\"other\"")).is_err());
        assert!(parse(&PACKAGE.replace("\"targets\"", "\"else\"")).is_err());
        assert!(Metadata::parse("{").is_err());
    }
}
