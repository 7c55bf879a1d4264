//! The whole state-by-command table, in one place to review.

use crate::command::{Command, Refusal};
use crate::state::{Cleanup, Stage, State};

/// The states, as the table tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateKind {
    /// There is no run.
    Vacant,
    /// Waits for its first sandbox.
    AwaitingSandbox,
    /// Waits for the agent.
    AwaitingAgent,
    /// Waits for the observation of a call.
    CallInFlight,
    /// Waits for a person.
    AwaitingApproval,
    /// Waits for a hidden check.
    CheckingHidden,
    /// Stops processes.
    Terminating,
    /// Keeps the trace.
    Exporting,
    /// Removes the sandbox.
    Destroying,
    /// Over.
    Ended,
}

impl StateKind {
    /// Every state.
    pub const ALL: [Self; 10] = [
        Self::Vacant,
        Self::AwaitingSandbox,
        Self::AwaitingAgent,
        Self::CallInFlight,
        Self::AwaitingApproval,
        Self::CheckingHidden,
        Self::Terminating,
        Self::Exporting,
        Self::Destroying,
        Self::Ended,
    ];

    /// The kind of a state.
    #[must_use]
    pub const fn of(state: &State) -> Self {
        match state {
            State::Vacant => Self::Vacant,
            State::Open(open) => match &open.stage {
                Stage::Sandbox => Self::AwaitingSandbox,
                Stage::Agent(_) => Self::AwaitingAgent,
                // A run never rests in `Observed`: the step that reaches it also opens a turn or ends the run.
                Stage::Call(_) | Stage::Observed => Self::CallInFlight,
                Stage::Approval { .. } => Self::AwaitingApproval,
                Stage::HiddenChecks(_) => Self::CheckingHidden,
            },
            State::Closing(closing) => match closing.cleanup {
                Cleanup::Terminate => Self::Terminating,
                Cleanup::Export => Self::Exporting,
                // A run never rests in `Settle`: the step that reaches it also ends the run.
                Cleanup::Destroy | Cleanup::Settle { .. } => Self::Destroying,
            },
            State::Ended(_) => Self::Ended,
        }
    }
}

/// The commands, as the table tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is the command of the same name")]
pub enum CommandKind {
    Admit,
    SandboxAllocated,
    SandboxRefused,
    SandboxLost,
    Propose,
    AgentStopped,
    Observe,
    ObserveHidden,
    HiddenCheckFailed,
    DecideApproval,
    RevokeApprover,
    WithdrawBlueprint,
    Cancel,
    Tick,
    Recover,
    ProcessesTerminated,
    TraceExported,
    SandboxDestroyed,
    CleanupFailed,
}

impl CommandKind {
    /// Every command.
    pub const ALL: [Self; 19] = [
        Self::Admit,
        Self::SandboxAllocated,
        Self::SandboxRefused,
        Self::SandboxLost,
        Self::Propose,
        Self::AgentStopped,
        Self::Observe,
        Self::ObserveHidden,
        Self::HiddenCheckFailed,
        Self::DecideApproval,
        Self::RevokeApprover,
        Self::WithdrawBlueprint,
        Self::Cancel,
        Self::Tick,
        Self::Recover,
        Self::ProcessesTerminated,
        Self::TraceExported,
        Self::SandboxDestroyed,
        Self::CleanupFailed,
    ];

    /// The kind of a command.
    #[must_use]
    pub const fn of(command: &Command) -> Self {
        match command {
            Command::Admit(_) => Self::Admit,
            Command::SandboxAllocated(_) => Self::SandboxAllocated,
            Command::SandboxRefused { .. } => Self::SandboxRefused,
            Command::SandboxLost { .. } => Self::SandboxLost,
            Command::Propose(_) => Self::Propose,
            Command::AgentStopped { .. } => Self::AgentStopped,
            Command::Observe { .. } => Self::Observe,
            Command::ObserveHidden(_) => Self::ObserveHidden,
            Command::HiddenCheckFailed { .. } => Self::HiddenCheckFailed,
            Command::DecideApproval(_) => Self::DecideApproval,
            Command::RevokeApprover { .. } => Self::RevokeApprover,
            Command::WithdrawBlueprint => Self::WithdrawBlueprint,
            Command::Cancel { .. } => Self::Cancel,
            Command::Tick => Self::Tick,
            Command::Recover => Self::Recover,
            Command::ProcessesTerminated { .. } => Self::ProcessesTerminated,
            Command::TraceExported { .. } => Self::TraceExported,
            Command::SandboxDestroyed { .. } => Self::SandboxDestroyed,
            Command::CleanupFailed { .. } => Self::CleanupFailed,
        }
    }
}

/// Whether a state takes a command at all. `Ok` means that the step looks closer: it may still refuse a command whose
/// content does not fit (another turn, another proposal, another incarnation).
///
/// # Errors
/// The refusal of the pair.
pub const fn takes(state: StateKind, command: CommandKind) -> Result<(), Refusal> {
    use CommandKind as C;
    use StateKind as S;
    match (state, command) {
        (S::Vacant, C::Admit) => Ok(()),
        (S::Vacant, _) => Err(Refusal::NotFound),
        (_, C::Admit) => Err(Refusal::Exists),
        (S::Ended, _) => Err(Refusal::Ended),

        // A process that takes a run over says so first, whatever the state.
        (_, C::Recover) => Ok(()),

        // Sandboxes come and go beside what an open run waits for. One that arrives late is taken, to be removed.
        (_, C::SandboxAllocated) => Ok(()),
        (S::Terminating | S::Exporting | S::Destroying, C::SandboxRefused | C::SandboxLost) => {
            Err(Refusal::Stopping)
        }
        (S::AwaitingSandbox, C::SandboxLost) => Err(Refusal::SandboxNotAwaited),
        (_, C::SandboxRefused | C::SandboxLost) => Ok(()),

        // The agent is heard only in its own turn.
        (S::AwaitingAgent, C::Propose | C::AgentStopped) => Ok(()),
        (_, C::Propose | C::AgentStopped) => Err(Refusal::TurnNotOpen),

        // An observation belongs to what is in flight, which a run that began to end may still have.
        (S::CallInFlight | S::Terminating | S::Exporting, C::Observe) => Ok(()),
        (_, C::Observe) => Err(Refusal::NotInFlight),
        (S::CheckingHidden, C::ObserveHidden | C::HiddenCheckFailed) => Ok(()),
        (_, C::ObserveHidden | C::HiddenCheckFailed) => Err(Refusal::NotInFlight),

        (S::AwaitingApproval, C::DecideApproval) => Ok(()),
        (_, C::DecideApproval) => Err(Refusal::ApprovalNotAwaited),

        // A run is ended once, and its receipts with it.
        (
            S::Terminating | S::Exporting | S::Destroying,
            C::Cancel | C::Tick | C::RevokeApprover | C::WithdrawBlueprint,
        ) => Err(Refusal::Stopping),
        (_, C::Cancel | C::Tick | C::RevokeApprover | C::WithdrawBlueprint) => Ok(()),

        // The cleanup goes in its order.
        (S::Terminating, C::ProcessesTerminated | C::CleanupFailed) => Ok(()),
        (S::Exporting, C::TraceExported | C::CleanupFailed) => Ok(()),
        (S::Destroying, C::SandboxDestroyed | C::CleanupFailed) => Ok(()),
        (_, C::ProcessesTerminated | C::TraceExported | C::SandboxDestroyed | C::CleanupFailed) => {
            Err(Refusal::CleanupNotDue)
        }
    }
}

/// [`takes`] for a state and a command as they are.
pub(crate) const fn admit(state: &State, command: &Command) -> Result<(), Refusal> {
    takes(StateKind::of(state), CommandKind::of(command))
}
