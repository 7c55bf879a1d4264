//! A model server that follows a script, in the wires of the vendors.

#![forbid(unsafe_code)]
