//! Mail and bundles, held against git itself.

#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests, helpers included")]
#![allow(clippy::print_stdout, reason = "a test that skips something says so")]

mod branches;
mod files;
mod messages;
mod nasty;
mod random;
mod releases;
mod repository;
mod world;
