//! The Merkle log of evidence, in formats that foreign tools verify: a tree as RFC 6962 hashes it, files as C2SP
//! `tlog-tiles` names them, signed checkpoints, the cosignatures of witnesses, and proofs that are one text file.
//!
//! Everything here is a value in and a value out. Stored hashes come through [`merkle::Hashes`], private keys stay with
//! whoever calls ([`note::sign`] takes a closure), and the witness decides without keeping anything ([`witness::decide`]).
//! What is read may be hostile: every reader is bounded, takes one spelling only, and answers for every `u64`.

#![forbid(unsafe_code)]

pub mod checkpoint;
pub mod cosignature;
pub mod key;
pub mod merkle;
pub mod note;
pub mod proof;
mod spelling;
pub mod tile;
pub mod witness;
