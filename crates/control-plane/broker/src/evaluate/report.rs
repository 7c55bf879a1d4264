//! The report of a gate's tests, beside that of the base revision.

use ambit_blueprint::CommandReport;
use ambit_gates::{
    BaseTests, Ending, GateTests, Objection, ReportError, TestReport, TestTally, objections, read_report,
};
use ambit_ids::{ByteCount, Digest, Scope};
use ambit_ports::blobs::{BlobError, BlobStore};
use ambit_ports::sandbox::{ChangedFile, ExecutionObservation};
use ambit_redaction::{Redactor, rules_digest};
use bytes::Bytes;

/// The largest report as it is kept: as many tests as one may have, each with the longest name.
const KEPT_BYTES: ByteCount = ByteCount::new(64 << 20);

/// What came of reading a report; `None` where the command left none.
pub type ReadReport = Option<Result<TestReport, ReportError>>;

/// What a command that names a report told of its tests.
#[derive(Debug)]
pub struct ReportedTests {
    /// Its own report.
    pub own: ReadReport,
    /// What the gate reports on the base revision; `None` where there is nothing to compare with.
    pub base: Option<ReportedBase>,
}

/// What a gate reports on the base revision.
#[derive(Debug)]
pub struct ReportedBase {
    /// What the record of the gate holds of it.
    pub tests: BaseTests,
    /// The tests, where the report could be read.
    pub report: Option<TestReport>,
    /// The bytes of output of the execution there, where it was made for this one and is charged with it.
    pub output: Option<ByteCount>,
}

/// Reads the report of an execution, from the outputs that were kept of it or from its standard output. An output is kept as
/// it is; names that are read from it go into records, so what looks like a secret is taken out of them by the rules that
/// the observation names.
///
/// # Errors
/// [`BlobError`] where an output that was kept cannot be read.
pub async fn reported(
    blobs: &dyn BlobStore,
    scope: &Scope,
    report: &CommandReport,
    seen: &ExecutionObservation,
    stdout: &[u8],
) -> Result<ReadReport, BlobError> {
    let Some(path) = &report.output else { return Ok(Some(read_report(report.format, &[stdout]))) };
    let below = [path.as_bytes(), b"/"].concat();
    let is_part = |of: &[u8]| of == path.as_bytes() || of.starts_with(&below);
    let mut files: Vec<Bytes> = Vec::new();
    for kept in seen.outputs.iter().filter(|kept| is_part(kept.path.as_bytes())) {
        files.push(blobs.get(scope, kept.artifact, kept.bytes).await?);
    }
    if files.is_empty() {
        return Ok(None);
    }
    let files: Vec<&[u8]> = files.iter().map(AsRef::as_ref).collect();
    let read = read_report(report.format, &files);
    let by_rules = seen.stdout.redactions.as_ref().is_some_and(|found| found.rules == rules_digest());
    let withheld = |name: &str| Redactor::by_rules().text(name).text.into_owned();
    Ok(Some(read.map(|read| if by_rules { read.renamed(withheld) } else { read })))
}

/// A report as it is kept, for people and for later executions.
///
/// # Errors
/// [`ambit_canonical::EncodeError`] where it has no canonical form.
pub(super) fn kept_report(report: &TestReport) -> Result<Bytes, ambit_canonical::EncodeError> {
    Ok(ambit_canonical::encode(report)?.into_bytes().into())
}

/// A report that was kept; `None` where what is there is none.
///
/// # Errors
/// [`BlobError`] where it is gone.
pub(super) async fn kept(
    blobs: &dyn BlobStore,
    scope: &Scope,
    digest: Digest,
) -> Result<Option<TestReport>, BlobError> {
    let bytes = blobs.get(scope, digest, KEPT_BYTES).await?;
    Ok(ambit_canonical::decode(&bytes, bytes.len()).ok())
}

/// The tests of a report in numbers; `None` where there is no report that can be read.
#[must_use]
pub fn tally(report: &ReadReport) -> Option<TestTally> {
    let report = report.as_ref()?.as_ref().ok()?;
    let kept = kept_report(report).ok()?;
    Some(TestTally { counts: report.counts(), report: Digest::of(&kept) })
}

impl ReportedTests {
    /// What the record of the gate holds of it.
    pub(super) fn in_record(&self) -> GateTests {
        let base = self.base.as_ref();
        GateTests {
            own: tally(&self.own),
            base: base.map(|base| base.tests),
            base_output_bytes: base.and_then(|base| base.output),
        }
    }
}

/// What takes from an execution that it exited with 0. What it wrote at protected paths is told of however it exited.
pub(super) fn objections_to(seen: &ExecutionObservation, tests: Option<&ReportedTests>) -> Vec<Objection> {
    let changed = seen.protected.iter().flat_map(|protected| &protected.changed);
    let (known, fresh): (Vec<_>, Vec<_>) = changed.partition(|file| file.before.is_some());
    let paths = |of: Vec<&ChangedFile>| of.into_iter().map(|file| file.path.clone()).collect::<Vec<_>>();
    let mut found: Vec<Objection> = Objection::to_files(&paths(known)).into_iter().collect();
    found.extend(Objection::to_appeared(&paths(fresh)));
    if let (Ending::Exited { code: 0 }, Some(tests)) = (seen.ending, tests) {
        let base = tests.base.as_ref().and_then(|base| base.report.as_ref());
        found.extend(objections(tests.own.as_ref().map(Result::as_ref), base));
    }
    found
}
