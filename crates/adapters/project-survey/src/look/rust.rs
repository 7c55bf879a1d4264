//! Rust, by cargo.

use super::{Look, tests_by_name};
use crate::gate::{Ecosystem, GateKind, ImageTool, ProposedGate, VolumeNeed};
use crate::limits;
use crate::listing::Listing;
use crate::name;

pub(super) fn look(listing: &Listing) -> Option<Look> {
    if !listing.has("Cargo.toml") {
        return None;
    }
    let mut look = Look::new(Ecosystem::Rust, "Cargo.toml");
    look.tell_unread(listing, "Cargo.toml");
    let manifest: toml::Table =
        listing.text("Cargo.toml").and_then(|text| text.parse().ok()).unwrap_or_default();
    let is_workspace = manifest.contains_key("workspace");
    if is_workspace {
        look.signs.push("a workspace".to_owned());
    }
    look.parts.tools.extend([ImageTool::Cargo, ImageTool::Rustc, ImageTool::Cc, ImageTool::Sh]);
    look.parts.manifests.insert("**/Cargo.toml".to_owned());
    look.parts.protected.insert("**/benches/**".to_owned());
    tests_by_name::collect(listing, &["tests"], &[], &mut look.parts.tests);
    look.parts.sources_with_tests = sources_with_tests(listing);

    let is_locked = listing.has("Cargo.lock");
    if is_locked {
        // Where the source has none, cargo makes one in every gate.
        look.parts.protected.insert("Cargo.lock".to_owned());
    }
    let needs_packages = needs_packages(&mut look, listing, &manifest, is_locked);
    for (kind, name, summary, verb) in [
        (GateKind::Build, "rust.check", "Everything compiles.", &["check"][..]),
        // Without the tests in documentation, which need a further program.
        (GateKind::Test, "rust.tests", "The tests of the project pass.", &["test", "--tests"][..]),
    ] {
        let mut argv = vec!["cargo"];
        argv.extend(verb);
        argv.push("--offline");
        if is_locked {
            argv.push("--locked");
        }
        if is_workspace {
            argv.push("--workspace");
        }
        let home = if needs_packages { "/volumes/cargo" } else { "/tmp/cargo" };
        let gate = ProposedGate::new(Ecosystem::Rust, kind, name, summary, &argv)
            .with("CARGO_HOME", home)
            .with("CARGO_TARGET_DIR", "/tmp/target")
            .with("CARGO_INCREMENTAL", "0")
            .with("CARGO_TERM_COLOR", "never");
        look.parts.gates.push(if needs_packages { gate.needing(VolumeNeed::Cargo) } else { gate });
    }
    look.remarks.push("tests in the documentation of Rust code are not run".to_owned());
    Some(look)
}

/// The source files that hold tests, or one pattern for all source where there are too many.
fn sources_with_tests(listing: &Listing) -> std::collections::BTreeSet<String> {
    let holds_tests = |path: &&str| {
        let unknown = listing.unread.contains(*path);
        unknown
            || listing.text(path).is_some_and(|text| text.contains("cfg(test)") || text.contains("#[test]"))
    };
    let in_source = |path: &&str| !path.split('/').any(|part| part == "tests");
    let found: Vec<&str> = listing.ending(".rs").filter(in_source).filter(holds_tests).collect();
    if found.len() > limits::PATTERNS / 2 || listing.is_partial {
        return ["**/*.rs".to_owned()].into();
    }
    found.into_iter().filter_map(name::pattern).collect()
}

fn needs_packages(look: &mut Look, listing: &Listing, manifest: &toml::Table, is_locked: bool) -> bool {
    if listing.unread.contains("Cargo.lock") {
        return true;
    }
    if let Some(lock) = listing.text("Cargo.lock") {
        if lock.contains("source = \"git+") {
            look.remarks.push("Cargo.lock takes packages from git, which no offline cache holds".to_owned());
        }
        let needs = lock.contains("source = \"registry+");
        if needs && !is_locked {
            look.remarks.push(
                "a .gitignore leaves Cargo.lock out of the source: cargo chooses anew among the packages that it names"
                    .to_owned(),
            );
        }
        return needs;
    }
    let declares = |table: &toml::Table| {
        ["dependencies", "dev-dependencies", "build-dependencies"]
            .iter()
            .any(|key| table.get(*key).and_then(toml::Value::as_table).is_some_and(|table| !table.is_empty()))
    };
    let workspace = manifest.get("workspace").and_then(toml::Value::as_table);
    let needs = declares(manifest) || workspace.is_some_and(declares);
    if needs && !is_locked {
        look.remarks.push(
            "there is no Cargo.lock, so nothing says which packages belong here: `cargo generate-lockfile` makes one"
                .to_owned(),
        );
    }
    needs
}
