//! What the record of a gate holds of the tests that its command reported.

use ambit_ids::{ByteCount, Digest};
use serde::{Deserialize, Serialize};

use crate::Counts;

/// The tests of one report. Their names lie in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestTally {
    /// How many there are of each outcome.
    pub counts: Counts,
    /// The digest of the report as it was read: every test by its name, in canonical form.
    pub report: Digest,
}

/// What a gate reports on the base revision of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BaseTests {
    /// The digest of what was seen of the execution on the base.
    pub artifact: Digest,
    /// Its tests; `None` where it left no report that could be read, so that nothing can be missed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tests: Option<TestTally>,
}

/// The tests of one execution of a gate, beside those of the base revision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GateTests {
    /// Its own tests; `None` where it left no report that could be read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub own: Option<TestTally>,
    /// Those of the base revision; `None` where it ran on the base itself, or is a hidden check.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base: Option<BaseTests>,
    /// The bytes of output of the execution on the base revision that was made beside this one, which is charged with it;
    /// `None` where none was made, and in runs of rules that did not charge it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base_output_bytes: Option<ByteCount>,
}
