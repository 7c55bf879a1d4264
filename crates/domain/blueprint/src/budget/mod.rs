//! The limits of a run, and how several of them combine.

mod read;
mod run_budget;
mod start;
mod write;

pub(crate) use read::{MoneyKeys, read_ceilings, read_run_budget};
pub use run_budget::{BudgetCeilings, RunBudget};
pub use start::StartBoundsError;
