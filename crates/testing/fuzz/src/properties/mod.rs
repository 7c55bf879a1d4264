mod directory;
mod patches;

pub use directory::directory;
pub use patches::{apply, difference, parse};
