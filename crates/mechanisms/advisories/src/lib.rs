//! Kernels and container runtimes below a version that is known to be bad.
//!
//! The table is short on purpose: defects by which a program got out of a sandbox of this kind, or became root from
//! within one. It is told and refuses nothing. What a version says depends on who built it: a distribution mends defects
//! without changing the number that upstream gave, so of its builds this can only say that they *may* be affected.
//!
//! Versions and fixes are facts of the projects' own advisories and of the stable branches of the kernel.

#![forbid(unsafe_code)]

mod table;
mod version;

use ambit_ports::sandbox::Advisory;

use table::{CRUN, Defect, KERNEL, RUNC, RUNSC_MENDED, UBUNTU};
use version::Version;

/// What is known of a kernel, by `release` and `version` as uname(2) gives them.
#[must_use]
pub fn kernel(release: &str, version: &str) -> Vec<Advisory> {
    let Some(kernel) = upstream_of(release, version) else { return Vec::new() };
    let told = Told { component: format!("Linux {}", clipped(release)), is_plain: is_plain(release) };
    let mut found = told.each(KERNEL, kernel);
    if version.contains("Ubuntu") {
        found.extend(UBUNTU.iter().filter(|defect| is_older_build(release, defect.1)).map(|(defect, _)| {
            told.of(defect.id, defect.what, "a later build of the kernel of this distribution")
        }));
    }
    found
}

/// What is known of a runtime (`runc`, `crun`, `runsc`), by the version that it tells. Nothing is known of others.
#[must_use]
pub fn runtime(name: &str, version: &str) -> Vec<Advisory> {
    let told = Told { component: format!("{name} {}", clipped(version)), is_plain: is_plain(version) };
    match name {
        "runc" => Version::parse(version).map(|it| told.each(RUNC, it)).unwrap_or_default(),
        "crun" => Version::parse(version).map(|it| told.each(CRUN, it)).unwrap_or_default(),
        "runsc" => match version::date(version) {
            Some(date) if date < RUNSC_MENDED.1 => {
                vec![told.of(RUNSC_MENDED.0.id, RUNSC_MENDED.0.what, "a release of the last months")]
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The version of upstream that a kernel was built from. Debian's release holds no last number; its version does.
fn upstream_of(release: &str, version: &str) -> Option<Version> {
    let debian = version.split_once("Debian ").and_then(|(_, rest)| rest.split(['-', ' ', '+']).next());
    debian.and_then(Version::parse).or_else(|| Version::parse(release))
}

/// Whether a version is upstream's own: numbers, and nothing that a distribution adds.
fn is_plain(version: &str) -> bool {
    version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Whether a release of Ubuntu (`6.2.0-25-generic`) is of that base, and of an earlier build than the mended one.
fn is_older_build(release: &str, (base, mended): (&str, u32)) -> bool {
    let build = release.strip_prefix(base).and_then(|rest| rest.strip_prefix('-'));
    let number = build.and_then(|build| build.split('-').next()?.parse::<u32>().ok());
    number.is_some_and(|number| number < mended)
}

/// A version as it is shown: it comes from elsewhere.
fn clipped(version: &str) -> String {
    version.chars().filter(char::is_ascii_graphic).take(64).collect()
}

/// How the defects of a component are told.
struct Told {
    component: String,
    is_plain: bool,
}

impl Told {
    fn each(&self, table: &[Defect], version: Version) -> Vec<Advisory> {
        let affected = table.iter().filter(|defect| defect.affects(version));
        affected.map(|defect| self.of(defect.id, defect.what, &defect.mended_for(version))).collect()
    }

    fn of(&self, id: &str, what: &str, mended: &str) -> Advisory {
        let (standing, ask) = if self.is_plain {
            ("is affected", "")
        } else {
            ("may be affected", "; ask whoever built it, who may have mended it under this number")
        };
        Advisory {
            component: self.component.clone(),
            id: id.to_owned(),
            says: format!("{standing}: {what}"),
            mend: format!("use {mended}{ask}"),
        }
    }
}

#[cfg(test)]
mod tests;
