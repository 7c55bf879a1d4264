//! Packages of Debian, of the release that the machine has and of its backports.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cargo;
use crate::failure::Failure;

/// Where the machine says which release it is.
const RELEASE: &str = "/etc/os-release";
/// Where the machine says where its packages come from.
const LISTS: &str = "/etc/apt/sources.list.d/debian.sources";
const LIST: &str = "/etc/apt/sources.list";

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// Installs packages of the release.
pub(super) fn install(packages: &[&str]) -> Result<(), Failure> {
    cargo::text(apt_get().arg("update"))?;
    cargo::text(apt_get().args(["install", "--yes", "--no-install-recommends"]).args(packages)).map(drop)
}

/// Installs packages of the backports. A list of them is added where the machine has none: from where its other packages
/// come.
pub(super) fn install_backports(packages: &[&str]) -> Result<(), Failure> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let release = read(RELEASE);
    let codename = codename(&release).ok_or_else(|| Failure::new("the machine has no release of Debian"))?;
    let suite = format!("{codename}-backports");
    let lists = read(LISTS) + "\n" + &read(LIST);
    if !lists.contains(&suite) {
        let (uri, keys) = origin(&lists)
            .ok_or_else(|| Failure::new("the machine does not say where its packages come from"))?;
        let text = format!("Types: deb\nURIs: {uri}\nSuites: {suite}\nComponents: main\n{keys}");
        let path = Path::new("/etc/apt/sources.list.d/ambit-backports.sources");
        fs::write(path, text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    }
    cargo::text(apt_get().arg("update"))?;
    let options = ["install", "--yes", "--no-install-recommends", "--target-release", &suite];
    cargo::text(apt_get().args(options).args(packages)).map(drop)
}

fn codename(release: &str) -> Option<&str> {
    let line = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="))?;
    Some(line.trim_matches('"')).filter(|name| !name.is_empty())
}

/// The first place that packages come from, and the line that names its keys, where there is one.
fn origin(lists: &str) -> Option<(&str, String)> {
    if let Some(uri) = lists.lines().find_map(|line| line.strip_prefix("URIs:")) {
        let keys = lists.lines().find(|line| line.starts_with("Signed-By:"));
        return Some((uri.trim(), keys.map_or_else(String::new, |keys| format!("{keys}\n"))));
    }
    let uri = lists.lines().find_map(|line| {
        let words = line.strip_prefix("deb ")?.split_whitespace();
        words.into_iter().find(|word| word.contains("://"))
    })?;
    Some((uri, String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backports_are_those_of_the_release_and_from_where_it_comes() {
        let release = "NAME=\"Debian GNU/Linux\"\nVERSION_CODENAME=bookworm\n";
        assert_eq!(codename(release), Some("bookworm"));
        assert_eq!(codename("NAME=x\nVERSION_CODENAME=\n"), None);
        let modern = "Types: deb\nURIs: http://mirror/debian\nSuites: bookworm\nSigned-By: /keys.gpg\n";
        assert_eq!(origin(modern), Some(("http://mirror/debian", "Signed-By: /keys.gpg\n".to_owned())));
        let old = "# deb http://no/ x\ndeb [arch=amd64] https://mirror/debian bookworm main\n";
        assert_eq!(origin(old), Some(("https://mirror/debian", String::new())));
        assert_eq!(origin(""), None);
    }
}
