use ambit_ids::MicroUsd;

use super::read;
use super::run_budget::BudgetCeilings;

/// Why the bounds of a start command are not acceptable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StartBoundsError {
    /// `maxSteps` is out of range.
    #[error("maxSteps must be 1 to 100, and is {0}; nothing was started")]
    Steps(u32),
    /// `maxCostUsd` is out of range.
    #[error("maxCostUsd must be more than 0 and at most 100.00 US dollars, and is {0}; nothing was started")]
    Cost(MicroUsd),
}

impl StartBoundsError {
    /// The stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Steps(_) => "MAX_STEPS_OUT_OF_RANGE",
            Self::Cost(_) => "MAX_COST_OUT_OF_RANGE",
        }
    }
}

impl BudgetCeilings {
    /// The ceilings of a start command, which names at most two.
    ///
    /// # Errors
    /// [`StartBoundsError`] for `maxSteps` outside of 1 to 100, and for `maxCostUsd` of 0 or past 100.
    pub fn of_start_command(
        max_steps: Option<u32>,
        max_cost: Option<MicroUsd>,
    ) -> Result<Self, StartBoundsError> {
        match (max_steps, max_cost) {
            (Some(steps), _) if !(1..=read::MODEL_STEPS).contains(&steps) => {
                Err(StartBoundsError::Steps(steps))
            }
            (_, Some(cost)) if cost == MicroUsd::ZERO || cost > read::TOOL_COST => {
                Err(StartBoundsError::Cost(cost))
            }
            _ => Ok(Self { max_model_steps: max_steps, max_tool_cost: max_cost, ..Self::default() }),
        }
    }
}
