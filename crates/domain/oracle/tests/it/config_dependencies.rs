//! Where dependencies come from, and what holds them.

use ambit_policy::FactKind::{DependencyMoved, DependencyUnpinned};

use crate::config::{about, assert_free, assert_told};

#[test]
fn a_dependency_that_comes_from_elsewhere_is_told() {
    assert_told(&[
        ("requirements.txt", "a==1\n", "--extra-index-url https://other.example\na==1\n", DependencyMoved, 1),
        ("requirements.txt", "a==1\n", "a @ https://other.example/a.whl\n", DependencyMoved, 1),
        (
            "pyproject.toml",
            "[project]\ndependencies=['a']\n",
            "[project]\ndependencies=['a @ git+https://e/a']\n",
            DependencyMoved,
            2,
        ),
        ("pyproject.toml", "[tool.uv]\n", "[tool.uv.sources]\na={git='https://e/a'}\n", DependencyMoved, 2),
        (
            "pyproject.toml",
            "[tool.poetry.dependencies]\na='1'\n",
            "[tool.poetry.dependencies]\na={path='x'}\n",
            DependencyMoved,
            2,
        ),
        (
            "Pipfile",
            "[packages]\na='==1'\n",
            "[[source]]\nurl='https://e'\nname='e'\n[packages]\na='==1'\n",
            DependencyMoved,
            1,
        ),
        (
            "package.json",
            "{\"dependencies\":{\"a\":\"1.0.0\"}}",
            "{\"dependencies\":{\"a\":\"npm:b@1.0.0\"}}",
            DependencyMoved,
            1,
        ),
        (
            "package.json",
            "{\"dependencies\":{\"a\":\"1.0.0\"}}",
            "{\"dependencies\":{\"a\":\"1.0.0\"},\n\"overrides\":{\"a\":\"git+https://e/a\"}}",
            DependencyMoved,
            2,
        ),
        (".npmrc", "a=b\n", "a=b\nregistry=https://e\n", DependencyMoved, 2),
        (
            "Cargo.toml",
            "[dependencies]\na='1'\n",
            "[dependencies]\na={git='https://e/a'}\n",
            DependencyMoved,
            2,
        ),
        (
            "Cargo.toml",
            "[dependencies]\na='1'\n",
            "[dependencies]\na='1'\n[patch.x]\na={path='a'}\n",
            DependencyMoved,
            4,
        ),
        (".cargo/config.toml", "", "[source.x]\nreplace-with='y'\n", DependencyMoved, 1),
        (
            "go.mod",
            "module m\nrequire a v1\n",
            "module m\nrequire a v1\nreplace a => b v1\n",
            DependencyMoved,
            3,
        ),
    ]);
}

#[test]
fn a_dependency_that_comes_from_where_it_came_from_is_not_told() {
    assert_free(&[
        ("requirements.txt", "a==1\nb==2\n", "# why\nb==2\na==1.1\nc==3\n"),
        ("pyproject.toml", "[tool.uv.sources]\na={git='e'}\n", "[tool.uv]\n"),
        ("pyproject.toml", "[tool.uv]\n", "[tool.uv.sources]\na={workspace=true}\n"),
        (
            "package.json",
            "{\"dependencies\":{\"a\":\"^1.0.0\"}}",
            "{\"dependencies\":{\"a\":\"^2.0.0\",\"b\":\"1.0.0\"}}",
        ),
        ("Cargo.toml", "[dependencies]\na='1'\n", "[dependencies]\na={version='2',features=['x']}\n"),
        ("Cargo.toml", "[dependencies]\na={path='../a',version='1'}\n", "[dependencies]\na='1'\n"),
        ("go.mod", "module m\nrequire a v1\n", "module m\nrequire (\n\ta v2\n\tb v1 // indirect\n)\n"),
    ]);
}

#[test]
fn a_dependency_that_nothing_holds_any_more_is_told() {
    assert_told(&[
        ("requirements.txt", "a==1.0\n", "a>=1.0\n", DependencyUnpinned, 1),
        ("requirements.txt", "a==1 --hash=sha256:00\n", "a==1\n", DependencyUnpinned, 1),
        ("requirements.txt", "--require-hashes\na==1\n", "a==1\n", DependencyUnpinned, 1),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n    a==1\n",
            "[options]\ninstall_requires =\n    a\n",
            DependencyUnpinned,
            3,
        ),
        ("Pipfile", "[packages]\na='==1'\n", "[packages]\na='*'\n", DependencyUnpinned, 2),
        (
            "package.json",
            "{\"dependencies\":{\"a\":\"1.0.0\"}}",
            "{\"dependencies\":{\"a\":\"^1.0.0\"}}",
            DependencyUnpinned,
            1,
        ),
        ("Cargo.toml", "[dependencies]\na='=1.0.0'\n", "[dependencies]\na='1.0.0'\n", DependencyUnpinned, 2),
    ]);
    assert_free(&[
        ("requirements.txt", "a==1.0\n", "a==2.0\n"),
        ("requirements.txt", "A_b==1 \\\n  --hash=sha256:00\n", "a-b==2 --hash=sha256:11\n"),
        ("package.json", "{\"dependencies\":{\"a\":\"1.0.0\"}}", "{\"dependencies\":{\"a\":\"1.0.1\"}}"),
        ("Cargo.toml", "[dependencies]\na='=1.0.0'\n", "[dependencies]\na='=1.0.1'\n"),
    ]);
}

const CARGO: &str = "version = 4\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+https://r.example/i\"\nchecksum = \"00\"\n";
const NPM: &str = "{\"lockfileVersion\":3,\"packages\":{\"\":{},\n\"node_modules/a\":{\"version\":\"1.0.0\",\n\"resolved\":\"https://r.example/a.tgz\",\"integrity\":\"sha512-AA\"}}}";
const YARN: &str =
    "a@^1.0.0:\n  version \"1.0.0\"\n  resolved \"https://r.example/a.tgz#00\"\n  integrity sha512-AA\n";
const PNPM: &str = "lockfileVersion: '9.0'\npackages:\n  a@1.0.0:\n    resolution: {integrity: sha512-AA}\n";
const POETRY: &str = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nfiles = [\n    {file = \"a\", hash = \"sha256:00\"},\n]\n";
const PIPFILE: &str = "{\"default\":{\"a\":{\"hashes\":[\"sha256:00\"],\"version\":\"==1.0\"}}}";
const UV: &str = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = { registry = \"https://r.example/i\" }\nwheels = [\n { url = \"x\", hash = \"sha256:00\" },\n]\n";

// proves E-F05
// break crates/domain/oracle/src/config/locks.rs: `if new.digests.is_empty() {` -> `if new.line == 0 {`
#[test]
fn a_lock_that_means_something_else_is_told() {
    let checksum_gone = CARGO.replace("checksum = \"00\"\n", "");
    assert_told(&[
        ("Cargo.lock", CARGO, &checksum_gone, DependencyUnpinned, 4),
        ("Cargo.lock", CARGO, &CARGO.replace("\"00\"", "\"11\""), DependencyMoved, 4),
        ("Cargo.lock", CARGO, &CARGO.replace("registry+https://r", "git+https://e"), DependencyMoved, 4),
        ("Cargo.lock", CARGO, &CARGO.replace("1.0.0", "1.0.1"), DependencyUnpinned, 4),
        (
            "Cargo.lock",
            CARGO,
            &CARGO.replace("1.0.0", "0.9.9").replace("\"00\"", "\"11\""),
            DependencyUnpinned,
            4,
        ),
        ("Cargo.lock", CARGO, "", DependencyUnpinned, 0),
        ("package-lock.json", NPM, &NPM.replace("https://r", "https://e"), DependencyMoved, 2),
        ("package-lock.json", NPM, &NPM.replace(",\"integrity\":\"sha512-AA\"", ""), DependencyUnpinned, 2),
        ("package-lock.json", NPM, &NPM.replace("sha512-AA", "sha512-BB"), DependencyMoved, 2),
        (
            "yarn.lock",
            YARN,
            &YARN.replace("  integrity sha512-AA\n", "").replace("#00", ""),
            DependencyUnpinned,
            1,
        ),
        ("yarn.lock", YARN, &YARN.replace("https://r", "https://e"), DependencyMoved, 1),
        (
            "pnpm-lock.yaml",
            PNPM,
            &PNPM.replace("{integrity: sha512-AA}", "{tarball: https://e/a}"),
            DependencyUnpinned,
            3,
        ),
        (
            "poetry.lock",
            POETRY,
            &POETRY.replace("    {file = \"a\", hash = \"sha256:00\"},\n", ""),
            DependencyUnpinned,
            3,
        ),
        ("Pipfile.lock", PIPFILE, &PIPFILE.replace("\"sha256:00\"", ""), DependencyUnpinned, 1),
        ("uv.lock", UV, &UV.replace("https://r", "https://e"), DependencyMoved, 3),
        ("go.sum", "a v1.0.0 h1:AA\n", "a v1.0.0 h1:BB\n", DependencyMoved, 1),
    ]);
    let more = format!(
        "{CARGO}[[package]]\nname = \"b\"\nversion = \"1.0.0\"\nsource = \"registry+https://r.example/i\"\nchecksum = \"22\"\n"
    );
    // The project has the name of another package, which goes.
    let namesake = |version: &str| format!("{CARGO}[[package]]\nname = \"a\"\nversion = \"{version}\"\n");
    let alone = "version = 4\n[[package]]\nname = \"a\"\nversion = \"2.1.0\"\n[[package]]\nname = \"b\"\nversion = \"1.0.0\"\n";
    assert_free(&[
        ("Cargo.lock", &namesake("2.0.0"), alone),
        ("Cargo.lock", CARGO, &more),
        ("Cargo.lock", CARGO, &CARGO.replace("1.0.0", "1.0.1").replace("\"00\"", "\"11\"")),
        ("Cargo.lock", &more, CARGO),
        ("yarn.lock", YARN, &YARN.replace("a@^1.0.0", "a@^1.0.0, a@^1.0.1")),
        ("uv.lock", UV, &UV.replace("wheels = [\n", "wheels = [\n { url = \"y\", hash = \"sha256:11\" },\n")),
        ("go.sum", "a v1.0.0 h1:AA\n", "a v1.0.1 h1:BB\n"),
    ]);
}

#[test]
fn a_version_that_rises_in_the_manifest_and_the_lock_is_no_weakening() {
    let raised = [
        ("Cargo.toml", Some("[dependencies]\na='1.0.0'\n"), Some("[dependencies]\na='1.0.1'\n")),
        ("Cargo.lock", Some(CARGO), Some(&*CARGO.replace("1.0.0", "1.0.1").replace("\"00\"", "\"11\""))),
    ];
    assert_eq!(about(&raised), []);
    assert_eq!(about(&raised[1..]), [], "the lock by itself");
    let fallen = [(raised[1].0, raised[1].2, raised[1].1)];
    assert_eq!(about(&fallen)[0].kind(), DependencyUnpinned, "the way back");
}
