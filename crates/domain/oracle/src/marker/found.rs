/// One marker in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    /// The name under which the guard knows it.
    pub(crate) name: &'static str,
    /// Where it stands, in bytes.
    pub(crate) offset: usize,
    /// What it acts on, where that can be told: the name of the test. A marker that moves to another test is another.
    pub(crate) anchor: String,
    /// Whether it is at home on a new test, and weakens only one that was there before.
    pub(crate) fits_new_tests: bool,
}

/// What kind of file the markers are looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Whether the file is a test file: forms count there that mean other things elsewhere.
    pub(crate) is_test: bool,
}
