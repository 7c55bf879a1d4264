//! The documents of a run: parsed, validated, digested.
