mod attestation;
mod directory;
mod patches;
mod report;
mod transparency;

pub use attestation::{envelope, statement};
pub use directory::directory;
pub use patches::{apply, difference, parse};
pub use report::report;
pub use transparency::{bundle, checkpoint, note, proof};
