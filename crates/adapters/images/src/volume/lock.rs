//! Reads a `Cargo.lock`.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::copy::read_whole;
use super::error::VolumeCaptureError;
use crate::limits;

/// The names of crates.io as a source.
const CRATES_IO: [&str; 2] =
    ["registry+https://github.com/rust-lang/crates.io-index", "sparse+https://index.crates.io/"];

/// A crate of crates.io, as a lock names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LockedCrate {
    /// Name and version, joined by `-`: the name of its archive and of its directory.
    pub(super) name: String,
    /// SHA-256 of its archive, as 64 hexadecimal digits.
    pub(super) checksum: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lock {
    #[serde(default)]
    version: Option<u32>,
    #[serde(default)]
    package: Vec<Package>,
    #[serde(default, rename = "patch")]
    _patch: Option<IgnoredAny>,
    #[serde(default, rename = "root")]
    _root: Option<IgnoredAny>,
    #[serde(default, rename = "metadata")]
    _metadata: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Package {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
    #[serde(default, rename = "dependencies")]
    _dependencies: Option<IgnoredAny>,
    #[serde(default, rename = "replace")]
    _replace: Option<IgnoredAny>,
}

/// The crates of a lock that come from crates.io, sorted. A package without a source is of the workspace itself.
pub(super) fn read(path: &Path) -> Result<Vec<LockedCrate>, VolumeCaptureError> {
    let bytes = read_whole(path, limits::LOCK_BYTES)?;
    let malformed = |why: String| VolumeCaptureError::LockMalformed { path: path.to_path_buf(), why };
    let text = str::from_utf8(&bytes).map_err(|error| malformed(error.to_string()))?;
    parse(text).map_err(|refused| match refused {
        Refused::Malformed(why) => malformed(why),
        Refused::Elsewhere(names) => VolumeCaptureError::SourceUnsupported(names),
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Refused {
    Malformed(String),
    Elsewhere(Vec<String>),
}

fn parse(text: &str) -> Result<Vec<LockedCrate>, Refused> {
    let malformed = |why: String| Err(Refused::Malformed(why));
    let lock: Lock = toml::from_str(text).map_err(|error| Refused::Malformed(error.message().to_owned()))?;
    if let Some(version) = lock.version.filter(|version| !(1..=4).contains(version)) {
        return malformed(format!("its version is {version}, and 4 is the latest that is known"));
    }
    if lock.package.len() > limits::LOCKED_CRATES {
        return malformed(format!("it names more than {} packages", limits::LOCKED_CRATES));
    }
    let (mut crates, mut elsewhere) = (BTreeSet::new(), Vec::new());
    for package in lock.package {
        let Package { name, version, source, checksum, .. } = package;
        if !is_plain(&name, "_-") || !is_plain(&version, ".+-_") {
            return malformed(format!("{name:?} {version:?} names no crate"));
        }
        let Some(source) = source else { continue };
        let name = format!("{name}-{version}");
        if !CRATES_IO.contains(&source.as_str()) {
            elsewhere.push(format!("{name} ({source:?})"));
            continue;
        }
        let Some(checksum) = checksum.filter(|text| is_checksum(text)) else {
            return malformed(format!("{name} has no checksum of 64 digits"));
        };
        if !crates.insert(LockedCrate { name: name.clone(), checksum }) {
            return malformed(format!("{name} stands in it twice"));
        }
    }
    let crates: Vec<LockedCrate> = crates.into_iter().collect();
    if let Some([one, _]) = crates.array_windows::<2>().find(|[one, other]| one.name == other.name) {
        return malformed(format!("{} stands in it twice", one.name));
    }
    if elsewhere.is_empty() { Ok(crates) } else { Err(Refused::Elsewhere(elsewhere)) }
}

/// Letters, digits and these others, a letter or digit or `_` first: nothing that could lead anywhere as a file name.
fn is_plain(text: &str, others: &str) -> bool {
    text.len() <= 128
        && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}

fn is_checksum(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    const SUM: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn package(name: &str, version: &str, source: &str) -> String {
        format!(
            "[[package]]\nname = {name:?}\nversion = {version:?}\nsource = {source:?}\nchecksum = {SUM:?}\n\n"
        )
    }

    #[test]
    fn a_lock_names_its_crates_and_leaves_out_the_workspace_itself() {
        let text = format!(
            "# written by hand\nversion = 4\n\n[[package]]\nname = \"tiny\"\nversion = \"0.1.0\"\ndependencies = [\"itoa\"]\n\n{}{}",
            package("itoa", "1.0.0", CRATES_IO[0]),
            package("a_b", "0.9.34+deprecated", CRATES_IO[1])
        );
        let names: Vec<String> = parse(&text).unwrap().into_iter().map(|locked| locked.name).collect();
        assert_eq!(names, ["a_b-0.9.34+deprecated", "itoa-1.0.0"]);
        assert_eq!(parse("version = 3\n"), Ok(Vec::new()));
    }

    #[test]
    fn what_comes_from_elsewhere_is_named() {
        let git = "git+https://example.com/x?rev=1#abc";
        let other = "registry+https://example.com/index";
        let text = [package("one", "1.0.0", git), package("two", "2.0.0", other)].concat();
        let Err(Refused::Elsewhere(names)) = parse(&text) else { panic!("{text}") };
        assert_eq!(names, [format!("one-1.0.0 ({git:?})"), format!("two-2.0.0 ({other:?})")]);
    }

    #[test]
    fn what_is_no_lock_or_leads_elsewhere_is_refused() {
        let good = package("itoa", "1.0.0", CRATES_IO[0]);
        assert!(parse(&good).is_ok());
        for bad in [
            good.replace("itoa", "../itoa"),
            good.replace("itoa", "/itoa"),
            good.replace("itoa", ".."),
            good.replace("itoa", ""),
            good.replace("itoa", "a\\u0000b"),
            good.replace("itoa", "-x"),
            good.replace("1.0.0", "1/../../x"),
            good.replace("1.0.0", ".."),
            good.replace(SUM, &SUM.to_uppercase()),
            good.replace(SUM, &SUM[1..]),
            good.replace("checksum", "sum"),
            good.replace("name =", "names ="),
            format!("{good}{good}"),
            format!("{good}{}", good.replace("0123", "3210")),
            format!("version = 5\n{good}"),
            "nonsense".to_owned(),
            format!("x = {}", "[".repeat(100_000)),
        ] {
            assert!(matches!(parse(&bad), Err(Refused::Malformed(_))), "{}", &bad[..bad.len().min(200)]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

        #[test]
        fn whatever_is_read_names_a_file_in_one_directory(name in ".{0,12}", version in ".{0,12}") {
            if let Ok(crates) = parse(&package(&name, &version, CRATES_IO[0])) {
                for locked in crates {
                    prop_assert_eq!(Path::new(&locked.name).file_name().and_then(|name| name.to_str()), Some(&*locked.name));
                    prop_assert!(!locked.name.starts_with('.'));
                }
            }
        }
    }
}
