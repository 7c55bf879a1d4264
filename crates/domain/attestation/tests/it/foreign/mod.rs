//! Programs of others.
