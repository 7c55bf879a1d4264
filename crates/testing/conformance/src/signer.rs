//! The suite of signers.
