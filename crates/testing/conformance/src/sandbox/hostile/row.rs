//! What must be seen of a case.

use std::time::Duration;

use ambit_ports::sandbox::NamedCommand;

use super::seen::Seen;

/// Tightens or extends the command.
pub(super) type Prepare = fn(&mut NamedCommand);
/// Whether what was seen is what must be seen.
pub(super) type Holds = fn(&Seen) -> bool;

/// What is done from outside while the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// Nothing.
    Nothing,
    /// A connection to this port of the host is tried again and again.
    Connections(u16),
    /// A command of another run is started, and must succeed.
    AnotherRun,
}

/// A command that follows in the same sandbox.
#[derive(Clone, Copy)]
pub(super) struct Next {
    pub(super) command: &'static str,
    pub(super) prepare: Prepare,
    pub(super) holds: Holds,
}

/// What must be seen of the cases with these names.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) ids: &'static [&'static str],
    pub(super) prepare: Prepare,
    pub(super) holds: Holds,
    pub(super) beside: Beside,
    pub(super) next: Option<Next>,
    /// A file that must not be there so long after the start.
    pub(super) never: Option<(&'static str, Duration)>,
    /// A program without which the case says nothing.
    pub(super) needs: Option<&'static str>,
}

pub(super) const fn row(ids: &'static [&'static str], holds: Holds) -> Row {
    Row { ids, prepare: as_it_is, holds, beside: Beside::Nothing, next: None, never: None, needs: None }
}

impl Row {
    pub(super) const fn with(self, prepare: Prepare) -> Self {
        Self { prepare, ..self }
    }

    pub(super) const fn beside(self, beside: Beside) -> Self {
        Self { beside, ..self }
    }

    pub(super) const fn then(self, command: &'static str, holds: Holds) -> Self {
        Self { next: Some(Next { command, prepare: as_it_is, holds }), ..self }
    }

    pub(super) const fn then_as(self, prepare: Prepare, holds: Holds) -> Self {
        Self { next: Some(Next { command: "true", prepare, holds }), ..self }
    }

    pub(super) const fn never(self, file: &'static str, after: Duration) -> Self {
        Self { never: Some((file, after)), ..self }
    }

    /// Whether it takes seconds, or must be looked at seconds later.
    pub(super) const fn is_slow(&self) -> bool {
        self.never.is_some() || self.needs.is_some() || !matches!(self.beside, Beside::Nothing)
    }

    pub(super) const fn needs(self, program: &'static str) -> Self {
        Self { needs: Some(program), ..self }
    }
}

pub(super) fn as_it_is(_: &mut NamedCommand) {}
