//! What is seen of simulated runs, and whether it is true.

mod events;
mod pages;
mod truth;
mod worlds;
