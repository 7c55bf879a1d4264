//! The suite of blobs.
