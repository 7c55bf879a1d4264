//! The composition root: only this crate knows which adapters exist.
fn main() {}
