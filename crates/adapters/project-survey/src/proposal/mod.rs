//! The documents as text, with remarks for whoever reads and edits them.

mod blueprint;
mod catalog;
mod profile;
mod yaml;

pub use blueprint::{RUN_CHANGED_FILES, RUN_COST, RUN_TURNS, TEMPLATE_NAME};
pub use catalog::{CATALOG_NAME, catalog_mark};
pub use profile::{PROFILE_NAME, profile};
