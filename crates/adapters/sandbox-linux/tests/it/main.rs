//! The Linux sandboxes against the suite of their port, as root and as an ordinary user.

mod ordinary_user;
mod other_process;
mod suite;
mod support;
