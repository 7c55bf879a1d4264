//! The verb of the auditor. It knows neither a home nor a project.

use ambit_verify::Refusal;

use crate::answer::Answer;
use crate::cli::VerifyArgs;
use crate::failure::Failure;

/// Verifies an evidence bundle by the keys of a file.
pub(crate) fn run(arguments: &VerifyArgs) -> Result<Answer, Failure> {
    let report = ambit_verify::verify(&arguments.bundle, &arguments.trust_root).map_err(refused)?;
    let exit = report.exit();
    Ok(Answer::of(ambit_verify::page(&report), &report)?.prose().exiting(exit))
}

fn refused(refusal: Refusal) -> Failure {
    Failure::new(refusal.code, refusal.message).help(refusal.help).exiting(ambit_verify::UNVERIFIED)
}
