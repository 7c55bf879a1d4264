//! Captures real tools of this machine, runs them from the image, and attacks what was captured.

mod crash;
mod digest;
mod refusal;
mod running;
mod world;
