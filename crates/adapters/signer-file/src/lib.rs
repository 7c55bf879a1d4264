//! Signing keys in files.
//!
//! A directory with mode 0700 holds, for each role, the private key `<role>.pem` with mode 0600 (PKCS#8, RFC 5958 and
//! RFC 8410, as `openssl genpkey -algorithm ed25519` writes it) and the public key `<role>.pub.pem` for those who
//! verify. A key that others can read, or that somebody else owns, is not used.

#![forbid(unsafe_code)]

mod key_file;
mod signer;

pub use signer::FileSigner;
