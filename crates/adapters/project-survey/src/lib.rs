//! Looks at a repository and proposes the documents that bound a run on it.

#![forbid(unsafe_code)]
