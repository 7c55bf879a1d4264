//! The image that all sandboxes of the benchmark start from, in the working directory.

use std::path::Path;

use ambit_ids::{Digest, ImageName};
use ambit_images::{CaptureRequest, DirectoryImages, Tool};
use ambit_ports::images::ImageStore as _;

use crate::failed;
use crate::failure::Failure;

/// `echo` says the word that is waited for; `cat` and `sh` are what other ways of making a sandbox need.
const TOOLS: [&str; 3] = ["echo", "cat", "sh"];

pub(crate) fn open() -> Result<DirectoryImages, Failure> {
    DirectoryImages::open(Path::new("images")).map_err(failed)
}

fn name() -> Result<ImageName, Failure> {
    "bench-tools".parse().map_err(failed)
}

/// Captures it into `images`, and prints where its root lies.
pub(crate) async fn capture() -> Result<(), Failure> {
    let images = open()?;
    let path = std::env::current_dir().map_err(failed)?;
    let root = images.root(take(&images).await?).await.map_err(failed)?;
    println!("{}", path.join(root).display());
    Ok(())
}

/// Captures it into a store.
pub(crate) async fn take(images: &DirectoryImages) -> Result<Digest, Failure> {
    let tools: Result<Vec<Tool>, _> = TOOLS.iter().map(|tool| tool.parse()).collect();
    let request = CaptureRequest {
        name: name()?,
        tools: tools.map_err(failed)?,
        search_path: ["/usr/local/bin", "/usr/bin", "/bin"].map(Into::into).to_vec(),
    };
    Ok(images.capture(request).await.map_err(failed)?.image.digest)
}

/// The one that was captured.
pub(crate) async fn captured(images: &DirectoryImages) -> Result<Digest, Failure> {
    let found = images.named(&name()?).await.map_err(failed)?;
    found.ok_or_else(|| Failure::new("IMAGE_NOT_FOUND", "the image of the benchmark was not captured"))
}
