//! Control groups: the limits of a sandbox as a whole, on the unified or the legacy hierarchy, controller by controller.

mod controller;
mod gauges;
mod group;
mod layout;
mod mounted;
mod names;
mod removal;
mod search;
mod sweep;

pub use gauges::Gauges;
pub use group::{Group, GroupLimits, Usage};
pub use layout::Layout;
pub use removal::remove_empty;
pub use search::Search;
