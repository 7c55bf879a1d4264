use ambit_gates::ReportFormat;
use ambit_ids::RepoPath;
use serde::Serialize;

use super::CommandOutput;
use crate::cursor::{Cursor, Read};
use crate::problem::{Finding, ProblemCode};
use crate::suggest::quoted;

/// Where a command leaves the report of its tests, and in which format.
///
/// Whether the command passed is its exit status. A report can take that away: where it is missing, cannot be read, shows a
/// failure, has no test that ran, or lacks or skips one that the base revision has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandReport {
    /// The format.
    pub format: ReportFormat,
    /// The declared output that it is left in; `None` is standard output. Of a directory every file is part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<RepoPath>,
}

impl CommandReport {
    /// Reads it beside the outputs of its command, where those could be read.
    pub(super) fn read(cursor: &Cursor<'_>, outputs: Option<&Option<Vec<CommandOutput>>>) -> Read<Self> {
        let mut fields = cursor.fields()?;
        let format = fields.required("format").and_then(|c| c.word());
        let output = fields.optional("output").map(|c| read_output(&c, outputs)).transpose();
        fields.finish()?;
        Ok(Self { format: format?, output: output? })
    }
}

fn read_output(cursor: &Cursor<'_>, outputs: Option<&Option<Vec<CommandOutput>>>) -> Read<RepoPath> {
    let path: RepoPath = cursor.parsed()?;
    let is_declared =
        outputs.is_none_or(|declared| declared.iter().flatten().any(|output| output.path == path));
    if is_declared {
        return Ok(path);
    }
    let message = format!("{} is no output of the command", quoted(&path.to_string()));
    let finding =
        Finding::new(ProblemCode::UnknownReference, message, "nothing else is kept of its workspace");
    Err(cursor.refuse(finding.with_help("declare it among `outputs`, with the most KiB that it may have")))
}
