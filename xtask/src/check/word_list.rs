//! Words that do not belong in the project, each with its reason. This file alone may spell them.

/// How a word is looked for.
pub(super) enum Spelling {
    /// Anywhere, in code, comments and strings alike, in this exact case.
    Text(&'static str),
    /// As [`Spelling::Text`], in any case.
    AnyCase(&'static str),
    /// As a whole word, in code, comments and strings alike.
    Word(&'static str),
    /// As a whole word of Rust code, outside comments and strings.
    Code(&'static str),
}

/// Where a word is forbidden.
pub(super) enum Place {
    /// In every file of the project.
    Everywhere,
    /// In Rust code outside tests, below this folder.
    Product(&'static str),
}

pub(super) struct Forbidden {
    pub(super) spelling: Spelling,
    pub(super) place: Place,
    pub(super) why: &'static str,
    /// Files or folders (with a trailing slash) in which it may stand all the same.
    pub(super) except: &'static [&'static str],
}

use Place::{Everywhere, Product};
use Spelling::{AnyCase, Code, Text, Word};

const MACHINE_PATH: &str = "a path of one machine; find it at run time";
const REGISTRY: &str = "where packages come from is the affair of whoever builds";
const UNFINISHED: &str = "finish it, or write down elsewhere what is missing";
const TRACER: &str = "what runs every job knows no particular one";
/// The lab plays the tracer job, and the benchmark takes its steps on it. No other part of the product knows it.
const LAB: &[&str] =
    &["crates/bins/ambit/build.rs", "crates/bins/ambit/examples/", "crates/bins/ambit/src/lab/"];

/// A lock of Cargo spells the registry of its packages.
const LOCKS: &[&str] = &[
    "crates/adapters/images/src/volume/lock.rs",
    "crates/adapters/images/tests/it/volume_cargo.rs",
    "crates/bins/ambit/tests/packages/crates.lock",
    "crates/domain/oracle/tests/histories/crates.lock",
];

/// TAP marks with this word what need not pass yet.
const TAP: &[&str] = &["crates/domain/gates/src/runner/tap.rs"];

pub(super) const FORBIDDEN: &[Forbidden] = &[
    Forbidden { spelling: Text("/work/"), place: Everywhere, why: MACHINE_PATH, except: &[] },
    Forbidden { spelling: Text("/root/"), place: Everywhere, why: MACHINE_PATH, except: &[] },
    Forbidden { spelling: AnyCase("crates.io"), place: Everywhere, why: REGISTRY, except: LOCKS },
    Forbidden { spelling: AnyCase("pypi.org"), place: Everywhere, why: REGISTRY, except: &[] },
    Forbidden { spelling: AnyCase("pythonhosted.org"), place: Everywhere, why: REGISTRY, except: &[] },
    Forbidden { spelling: AnyCase("npmjs.org"), place: Everywhere, why: REGISTRY, except: &[] },
    Forbidden { spelling: AnyCase("deb.debian.org"), place: Everywhere, why: REGISTRY, except: &[] },
    Forbidden { spelling: AnyCase("workboard"), place: Product("crates/"), why: TRACER, except: LAB },
    Forbidden { spelling: AnyCase("northstar"), place: Product("crates/"), why: TRACER, except: LAB },
    Forbidden { spelling: AnyCase("todo-"), place: Product("crates/"), why: TRACER, except: LAB },
    Forbidden { spelling: Word("TODO"), place: Everywhere, why: UNFINISHED, except: TAP },
    Forbidden { spelling: Word("FIXME"), place: Everywhere, why: UNFINISHED, except: &[] },
    Forbidden { spelling: Word("XXX"), place: Everywhere, why: UNFINISHED, except: &[] },
    Forbidden { spelling: Word("HACK"), place: Everywhere, why: UNFINISHED, except: &[] },
    Forbidden {
        spelling: Code("unsafe"),
        place: Everywhere,
        why: "only the crates that speak to the kernel may, and each place says why it is sound",
        except: &["crates/adapters/sandbox-linux/"],
    },
];

/// Files and folders (with a trailing slash) that are not the project's own words.
pub(super) const NOT_READ: &[&str] = &[
    "Cargo.lock",
    "proofs/policy/Cargo.lock",
    "LICENSE",
    "xtask/src/check/word_list.rs",
    "crates/domain/gates/tests/it/logs/",
];
