//! The example application, as it was built in.

include!(concat!(env!("OUT_DIR"), "/example.rs"));
