//! Control groups: the limits of a sandbox as a whole, on the unified or the legacy hierarchy, controller by controller.

mod controller;
mod group;
mod layout;

pub(crate) use group::{Group, GroupLimits, Usage};
pub(crate) use layout::Layout;
