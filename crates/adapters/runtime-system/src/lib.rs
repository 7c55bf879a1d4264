//! The clock, identifiers and entropy of this machine.
