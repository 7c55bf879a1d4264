//! The store on real files, as one program.

mod append_only;
mod conformance;
mod crash;
mod failures;
mod place;
mod processes;
mod schema;
