//! What a file holds, as the walk through its tree finds it.

use super::relation::Relation;

/// Where an assertion stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// At the top of the file, or of a group of tests, or in a hook.
    File,
    /// In a test.
    Test(usize),
    /// In a function of the file.
    Function(usize),
}

/// Whether the flow comes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// Always.
    Always,
    /// Where a condition holds.
    Sometimes,
    /// Never.
    Never,
}

/// A place, and what stands there.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The line, counted from 1.
    pub(super) line: u32,
    /// The beginning of its text.
    pub(super) shown: String,
}

/// A test.
#[derive(Debug)]
pub(super) struct Test {
    /// The titles of its groups, and its own.
    pub(super) titles: Vec<String>,
    pub(super) place: Place,
    /// The rows of its table, where it has one that can be read.
    pub(super) rows: Vec<(String, Place)>,
    /// The table as a whole, where its rows cannot be told.
    pub(super) table: String,
    /// Whether it is waited for, where it stands in another test.
    pub(super) is_awaited: Option<bool>,
    /// How often it waits.
    pub(super) awaits: usize,
    /// Whether it does anything: one that is only named does not.
    pub(super) has_body: bool,
    /// Whether it is given the function that ends it.
    pub(super) takes_end: bool,
    /// Whether the runner waits for anything of it.
    pub(super) waits: bool,
}

/// A function that is no test.
#[derive(Debug)]
pub(super) struct Function {
    /// The name; empty where it has none.
    pub(super) name: String,
    /// Whether something beside the file may call it.
    pub(super) is_open: bool,
}

/// A word that keeps a test from running or from counting.
#[derive(Debug)]
pub(super) struct Marker {
    pub(super) name: &'static str,
    pub(super) place: Place,
    /// The title of the test, or the line where there is none.
    pub(super) anchor: String,
    /// Whether it stands where a test is declared.
    pub(super) is_declared: bool,
    /// Whether a condition decides, as it may of a new test.
    pub(super) depends: bool,
}

/// A stand-in for a module or a method.
#[derive(Debug)]
pub(super) struct Mock {
    pub(super) place: Place,
    /// What it stands in for, as it is written.
    pub(super) of: String,
    pub(super) is_module: bool,
}

/// An assertion.
#[derive(Clone, Debug)]
pub(super) struct Assertion {
    pub(super) owner: Owner,
    pub(super) place: Place,
    /// The name by which the library knows it.
    pub(super) name: String,
    pub(super) relation: Relation,
    pub(super) negated: bool,
    /// What it looks at; its name where that cannot be told.
    pub(super) subject: String,
    /// What it expects.
    pub(super) expected: Vec<String>,
    /// How many parts of what it expects stand for anything.
    pub(super) wild: u32,
    /// Whether all that it expects are single values.
    pub(super) is_primitive: bool,
    pub(super) reach: Reach,
    pub(super) is_swallowed: bool,
    pub(super) is_awaited: bool,
    pub(super) is_vacuous: bool,
    /// Whether something else calls the function that it stands in.
    pub(super) is_called_back: bool,
}

impl Assertion {
    /// What it says, by which it is found again.
    pub(super) fn key(&self) -> String {
        format!("{} {}", self.skeleton(), self.subject)
    }

    /// The same without what it looks at.
    pub(super) fn skeleton(&self) -> String {
        let Self { relation, negated, expected, is_primitive, .. } = self;
        let relation = match relation {
            Relation::Alike if *is_primitive => Relation::Same,
            other => *other,
        };
        let own = if relation == Relation::Own { self.name.as_str() } else { "" };
        format!("{relation:?} {negated} {own} {expected:?}")
    }
}

/// Everything that a file holds.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) tests: Vec<Test>,
    pub(super) functions: Vec<Function>,
    pub(super) assertions: Vec<Assertion>,
    pub(super) markers: Vec<Marker>,
    pub(super) mocks: Vec<Mock>,
    /// Places where it asks whether a test runs it.
    pub(super) detections: Vec<Place>,
    /// Places where it ends the process that runs it, or says how that ends.
    pub(super) endings: Vec<Place>,
    /// Predicates that hold rows to a tenant, with the function that they stand in.
    pub(super) predicates: Vec<(String, Place)>,
    /// How many queries there are in each function.
    pub(super) queries: Vec<String>,
    /// What asks who comes.
    pub(super) guards: Vec<super::access::Guard>,
    /// Routes, classes and methods, which something may stand before.
    pub(super) routes: std::collections::BTreeSet<String>,
    /// Places that let more in than they need to.
    pub(super) doors: Vec<Place>,
    /// Where a test that failed is run again, and how often.
    pub(super) retries: Vec<(u32, Place)>,
    /// First use of each client of a model.
    pub(super) models: Vec<Place>,
    /// First arguments of calls that are strings, and names of functions: what a test may be hidden as.
    pub(super) named: std::collections::BTreeSet<String>,
}
