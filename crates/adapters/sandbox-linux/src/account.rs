//! What the guest told of a command, in the words of the verdict.

use ambit_gates::NotStarted;
use ambit_sandbox_guest::wire::{Ended, EndedBy, How};
use ambit_verdict::{Account, EndedBy as By, How as Found};

/// How the command ended, as the guest saw it.
pub(crate) const fn of(ended: &Ended) -> Account {
    let how = match ended.how {
        How::Exited(code) => Found::Exited(code),
        How::Signalled(signal) => Found::Signalled(signal),
        How::NotFound => Found::NotStarted(NotStarted::CommandNotFound),
        How::NotExecutable => Found::NotStarted(NotStarted::NotExecutable),
        How::NoWorkdir => Found::NotStarted(NotStarted::WorkdirMissing),
        How::NotConfined(_) => Found::NotConfined,
    };
    let by = match ended.by {
        EndedBy::Itself => By::Itself,
        EndedBy::Request => By::Request,
        EndedBy::Deadline => By::Deadline,
        EndedBy::Memory => By::Memory,
    };
    Account { how, by }
}
