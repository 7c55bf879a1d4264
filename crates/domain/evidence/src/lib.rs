//! Stored record types, their chain, and what follows from them.
