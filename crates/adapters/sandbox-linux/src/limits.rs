//! The limits of all processes of a sandbox together.

use ambit_control_groups::{Group, GroupLimits, Usage};
use ambit_ids::ExecutionLimits;
use ambit_ports::sandbox::SandboxError;

use crate::handover::OWN_PROCESSES;
use crate::sandbox::Sandbox;
use crate::turn::Turn;

/// Puts the limits of the whole in place, and answers what was counted before the command and whether the most memory
/// will be its own.
pub(crate) fn control(
    sandbox: &Sandbox,
    turn: &mut Turn,
    limits: &ExecutionLimits,
) -> Result<(Usage, bool), SandboxError> {
    let wanted = group_limits(limits);
    if turn.applied != Some(wanted) {
        turn.applied = None;
        limit(&sandbox.guest.group, wanted)?;
        turn.applied = Some(wanted);
    }
    if let Some(before) = turn.untouched.take() {
        return Ok((before, true));
    }
    let gauges = sandbox.gauges();
    let has_own_peak = gauges.forget_peak() || turn.counted.is_none();
    // Between commands only the guest runs: of the counts only its processor time goes on.
    let before = turn.counted.take().unwrap_or_else(|| gauges.usage());
    Ok((Usage { cpu_us: gauges.cpu_us(), ..before }, has_own_peak))
}

/// The limits of the whole.
pub(crate) fn group_limits(limits: &ExecutionLimits) -> GroupLimits {
    GroupLimits {
        memory_bytes: limits.memory_bytes.get(),
        processes: u64::from(limits.processes) + OWN_PROCESSES,
        cpu_millis: u64::from(limits.cpu_millis),
    }
}

/// Puts limits on a group.
pub(crate) fn limit(group: &Group, wanted: GroupLimits) -> Result<(), SandboxError> {
    group
        .limit(wanted)
        .map_err(|source| SandboxError::ControlFailed { control: "the control group".into(), source })
}
