//! The evidence writer: chains, signs and commits records.
