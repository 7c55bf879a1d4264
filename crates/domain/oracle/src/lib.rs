//! Facts about what a patch does to tests, configuration and dependencies.
