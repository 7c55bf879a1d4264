use ambit_ids::DurationMs;
use ambit_policy::SideEffect;
use ambit_ports::AbortSignal;
use ambit_ports::sandbox::{SandboxLease, Tap};
use ambit_run::tool::ToolContract;
use ambit_run::{InFlight, Observation, ToolCall};
use serde_json::json;

use crate::broker::Broker;
use crate::error::BrokerError;
use crate::ground::Ground;
use crate::performed::Performed;

/// How often a call without side effect is tried where only the storage stumbled.
const TRIES: u32 = 3;

impl Broker {
    /// Performs a call whose intent is durable, and answers what was seen. A failure of the platform is an observation
    /// too: the run is told that the effect did not happen, or not provably. The output of a gate is poured into `tap`.
    pub async fn perform(
        &self,
        ground: &Ground,
        lease: Option<&SandboxLease>,
        flight: &InFlight,
        tap: Option<Tap>,
        abort: AbortSignal,
    ) -> Performed {
        let mut tries = 0;
        loop {
            tries += 1;
            let result = self.within_time(ground, lease, flight, tap.clone(), abort.clone()).await;
            match result {
                Ok(performed) => return performed,
                // Only what changes nothing is done again by itself.
                Err(error)
                    if error.is_transient()
                        && flight.call.tool().side_effect() == SideEffect::None
                        && tries < TRIES => {}
                Err(error) => {
                    let code = error.code();
                    return Performed {
                        observation: Observation::Failed { code: code.to_owned() },
                        reply: json!({"failed": {"code": code, "detail": error.to_string()}}),
                    };
                }
            }
        }
    }

    async fn within_time(
        &self,
        ground: &Ground,
        lease: Option<&SandboxLease>,
        flight: &InFlight,
        tap: Option<Tap>,
        mut abort: AbortSignal,
    ) -> Result<Performed, BrokerError> {
        let contract = ToolContract::of(flight.call.tool());
        let end = self.clock.now().saturating_add(DurationMs::new(contract.timeout_ms));
        let work = self.dispatch(ground, lease, flight, tap, abort.clone());
        // A gate ends by its own limits and by the abort that its sandbox watches; it is not dropped half-way.
        if matches!(flight.call, ToolCall::RunNamedGate { .. }) {
            return work.await;
        }
        tokio::select! {
            biased;
            performed = work => performed,
            () = abort.raised() => Err(BrokerError::Aborted),
            () = self.clock.sleep_until(end) => Err(BrokerError::TimedOut(contract.timeout_ms)),
        }
    }

    async fn dispatch(
        &self,
        ground: &Ground,
        lease: Option<&SandboxLease>,
        flight: &InFlight,
        tap: Option<Tap>,
        abort: AbortSignal,
    ) -> Result<Performed, BrokerError> {
        match &flight.call {
            ToolCall::ReadProjectFile { .. }
            | ToolCall::ListProjectFiles { .. }
            | ToolCall::SearchProjectText { .. } => self.source.look(ground, flight).await,
            ToolCall::ApplyProjectPatch { .. } => self.perform_patch(ground, flight).await,
            ToolCall::RunNamedGate { gate_id, idempotency_key, .. } => {
                let lease = lease.ok_or(BrokerError::NoSandbox)?;
                self.run_gate(ground, lease, flight, (gate_id, idempotency_key), tap, abort).await
            }
            // The question is put to a person by the run itself; there is nothing to perform.
            ToolCall::RequestScopedApproval { .. } => {
                Err(BrokerError::Altered("an approval is not performed"))
            }
        }
    }
}
