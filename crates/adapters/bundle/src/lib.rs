//! Evidence bundles: everything that one run can be verified by, as a directory or as a tar of it.
//!
//! [`Bundle`] reads either as a [`Store`](ambit_ports::store::Store) and a
//! [`BlobStore`](ambit_ports::blobs::BlobStore) that nothing can be written to, without a network, a home or a database,
//! and within the bounds of [`limits`]. It believes nothing: whoever verifies hashes and checks what it hands out.
//!
//! [`NotedStore`] and [`NotedBlobs`] stand before a real store while a run is verified, and note what was read;
//! [`Draft`] writes exactly that.

#![forbid(unsafe_code)]

mod archive;
mod audit;
mod blobs;
mod bundle;
mod directory;
mod draft;
mod error;
mod head_file;
mod header;
pub mod limits;
mod manifest;
mod name;
mod noted;
mod refused;
mod source;
mod store;

pub use archive::archive;
pub use audit::Audit;
pub use blobs::BundleBlobs;
pub use bundle::Bundle;
pub use draft::Draft;
pub use error::BundleError;
pub use manifest::{Manifest, ManifestKind, Member};
pub use name::{MemberName, NameFault, Names};
pub use noted::{NotedBlobs, NotedStore, NotedStream};
pub use store::BundleStore;

/// The member that lists all others.
pub const MANIFEST: &str = "bundle.json";
/// The folder of the blobs, each under the hexadecimal digits of its digest.
pub const BLOBS: &str = "blobs";
