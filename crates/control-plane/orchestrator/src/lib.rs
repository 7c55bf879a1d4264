//! The one loop of a run.
