//! Which text is taken for a secret, and which is not.

mod honest;
mod known;
mod pieces;
mod samples;
mod secrets;
