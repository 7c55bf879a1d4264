//! Signing keys in files.
