//! Verifies evidence bundles offline. It reads the bundle and the trust root that were named, and nothing else: no
//! environment, no home, no store, no network.

#![forbid(unsafe_code)]

mod engines;
mod exit;
mod export;
mod page;
mod printable;
mod refusal;
mod trust_root;
mod verify;

pub use engines::Engines;
pub use exit::{PROVED, REFUTED, UNVERIFIED, USAGE};
pub use export::{Source, TRUST_ROOT, write};
pub use page::{page, report_page};
pub use printable::{printable, printable_json, printable_json_line};
pub use refusal::Refusal;
pub use trust_root::{TrustRoot, TrustRootKey, TrustRootKind};
pub use verify::{BundleReport, ReportKind, verify};
