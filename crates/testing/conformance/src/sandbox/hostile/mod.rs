//! Hostile commands from outside, run with real tools and watched from outside: each must be contained in the way that its
//! case says, and what was planted around the sandboxes must stay untouched and unread.
//!
//! The cases lie in `hostile/probes.jsonl` below `$AMBIT_CASES`. Each line needs a row here that says what must be seen of
//! it; a line without one is a failure. The image needs a shell and Python.
//!
//! The suite takes two processes. The first calls [`plant`] and starts the second with [`planted`], so that the secrets
//! stand in the environment, the home and the open descriptors of the process that owns the backend; the second calls
//! [`every_probe`].

mod case;
mod ground;
mod lane;
mod outside;
mod own;
mod planted;
mod rival;
mod row;
mod rows;
mod seen;
mod stops;

pub use case::{cases, is_absent};
pub use ground::{Exception, Ground, every_probe};
pub use planted::{Plants, plant, planted};
