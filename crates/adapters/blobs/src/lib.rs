//! Content-addressed blobs in a directory.
