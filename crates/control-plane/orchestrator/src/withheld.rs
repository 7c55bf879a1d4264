//! Takes secrets out of what an agent says, before any of it is kept or shown. What has an effect stays as it is, since a
//! person approves exactly that: patches, paths, and what is searched for.

use ambit_redaction::Redactor;
use ambit_run::{Denial, Move, ToolCall};

/// A proposal, or the denial of one, without secrets in its words.
pub(crate) fn words(redactor: &Redactor, said: Result<Move, Denial>) -> Result<Move, Denial> {
    let clean = |text: String| redactor.text(&text).text.into_owned();
    match said {
        Ok(Move::Plan(mut steps)) => {
            for step in &mut steps {
                step.summary = clean(std::mem::take(&mut step.summary));
                step.work = clean(std::mem::take(&mut step.work));
            }
            Ok(Move::Plan(steps))
        }
        Ok(Move::Call(mut proposed)) => {
            proposed.hypothesis = proposed.hypothesis.map(clean);
            if let ToolCall::RequestScopedApproval { reason, .. } = &mut proposed.call {
                *reason = clean(std::mem::take(reason));
            }
            Ok(Move::Call(proposed))
        }
        Err(denial) => Err(Denial { detail: clean(denial.detail), ..denial }),
    }
}
