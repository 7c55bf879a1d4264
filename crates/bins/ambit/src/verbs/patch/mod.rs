//! Patches and directories, without a home or a project.

mod decide;
mod given;
mod verdict;
mod write;

use crate::answer::Answer;
use crate::cli::PatchVerb;
use crate::failure::Failure;
use decide::decide;
use given::Given;

pub(crate) fn run(verb: &PatchVerb) -> Result<Answer, Failure> {
    match verb {
        PatchVerb::Check { ground } => {
            let decided = decide(ground, &Given::read(&ground.patch)?, ground.tree)?;
            Ok(decided.verdict.answer())
        }
        PatchVerb::Apply { ground, out, changed_only } => {
            let given = Given::read(&ground.patch)?;
            let decided = decide(ground, &given, ground.tree || !changed_only)?;
            if let Some(outcome) = decided.outcome {
                write::write(outcome, &ground.base, out, *changed_only)?;
            }
            Ok(decided.verdict.answer())
        }
    }
}
