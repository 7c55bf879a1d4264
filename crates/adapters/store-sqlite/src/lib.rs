//! The store and its leases in one SQLite file.
//!
//! One thread owns the connection that writes and commits what has queued up together, with one `fsync`; a few others
//! read. Any number of processes may use one file: SQLite's write-ahead log keeps readers and the writer apart, and
//! every check of a commit is made inside the transaction that writes it.
//!
//! Triggers in the file keep records, claims and messages from being changed by anybody who speaks SQL to it. Whoever
//! can write to the file itself can still alter it: that is what the signed heads and the hash chain are there to tell.

#![forbid(unsafe_code)]

mod commit;
mod connection;
mod failure;
mod inbox;
mod key;
mod leases;
mod options;
mod readers;
mod records;
mod schema;
mod store;
mod writer;

pub use options::StoreOptions;
pub use store::SqliteStore;
