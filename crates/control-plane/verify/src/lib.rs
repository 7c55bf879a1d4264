//! Derives everything again from what is stored.
