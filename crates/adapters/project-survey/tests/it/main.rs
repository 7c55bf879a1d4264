//! Looks at small repositories, kind ones and hostile ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests, helpers included"
)]

mod documents;
mod goals;
mod hostile;
mod repositories;
mod requests;
mod seen;
