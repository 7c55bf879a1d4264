//! A seeded world in memory: every port, and everything that can go wrong between them.
//!
//! The ports here keep the contracts of their traits to the letter, and the conformance suites hold them to it. What goes
//! wrong is planned at named places: a commit that fails before or after it became durable, a sandbox that vanishes, an
//! answer that is lost, and the crash of the whole control plane at any boundary between two of its steps, after which
//! another one goes on over the same memory.
//!
//! Under [`simulate`] one seed is one history: one thread, no clock but the virtual one, no chance but the seeded one.

#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a world that cannot be made fails the test"
)]

mod agent;
mod blobs;
mod calls;
mod chance;
mod clock;
mod faults;
mod faulty;
mod policies;
mod processes;
mod sandbox;
mod signer;
mod store;
mod world;

pub use agent::{Reply, SimAgent};
pub use ambit_projects::ApproverCredential;
pub use blobs::MemoryBlobs;
pub use calls::{Turn, creation, edit};
pub use chance::{Dice, SimEntropy, SimIds};
pub use clock::{EPOCH, SimClock, simulate};
pub use faults::{Cut, Fault, Faults};
pub use faulty::Faulty;
pub use policies::{OneEngine, Permissive};
pub use processes::Strangers;
pub use sandbox::{Executed, Execution, Outcome, SandboxFault, SimSandbox, Verb, honest_manifest};
pub use signer::SimSigner;
pub use store::MemoryStore;
pub use world::{Driven, Quiet, Setup, Watch, World, work};
