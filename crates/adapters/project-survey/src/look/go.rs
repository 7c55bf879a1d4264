//! Go.

use super::tests_by_name::TestFiles;
use super::{Look, tests_by_name};
use crate::gate::{Ecosystem, GateKind, ImageTool, ProposedGate};
use crate::listing::Listing;

const TEST_FILES: [TestFiles; 1] = [("**/*_test.go", |name| name.ends_with("_test.go"))];

pub(super) fn look(listing: &Listing) -> Option<Look> {
    if !listing.has("go.mod") {
        return None;
    }
    let mut look = Look::new(Ecosystem::Go, "go.mod");
    look.tell_unread(listing, "go.mod");
    look.parts.tools.insert(ImageTool::Go);
    look.parts.manifests.insert("go.mod".to_owned());
    look.parts.protected.insert("go.sum".to_owned());
    look.parts.scope.insert("*.go".to_owned());
    tests_by_name::collect(listing, &["testdata"], &TEST_FILES, &mut look.parts.tests);
    let is_vendored = listing.directories.contains("vendor");
    if is_vendored {
        look.signs.push("vendor".to_owned());
        look.parts.protected.insert("vendor/**".to_owned());
    } else if listing.files.get("go.sum").is_some_and(|size| *size > 0) {
        look.remarks.push(
            "go.sum names modules that the sandbox cannot fetch: `go mod vendor` puts them beside the source"
                .to_owned(),
        );
    }
    let has_tests = listing.ending("_test.go").next().is_some();
    let gate = |kind, name, summary, argv: &[&str]| {
        ProposedGate::new(Ecosystem::Go, kind, name, summary, argv)
            .with("GOCACHE", "/tmp/go-build")
            .with("GOPATH", "/tmp/go")
            .with("GOFLAGS", if is_vendored { "-mod=vendor" } else { "-mod=readonly" })
            .with("GOPROXY", "off")
            .with("GOTOOLCHAIN", "local")
            .with("CGO_ENABLED", "0")
    };
    look.parts.gates.push(gate(
        GateKind::Build,
        "go.vet",
        "Everything compiles and passes go vet.",
        &["go", "vet", "./..."],
    ));
    if has_tests {
        let argv = ["go", "test", "./..."];
        look.parts.gates.push(gate(GateKind::Test, "go.tests", "The tests of the project pass.", &argv));
    } else {
        look.remarks.push("no Go test was found: the gate only checks that everything compiles".to_owned());
    }
    Some(look)
}
