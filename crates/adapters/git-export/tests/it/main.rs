//! Mail and bundles, held against git itself.

mod branches;
mod files;
mod messages;
mod nasty;
mod random;
mod releases;
mod repository;
mod world;
