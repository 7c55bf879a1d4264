//! Sandboxes of the Linux kernel, without a daemon.

mod filter;
