use std::path::{Path, PathBuf};
use std::str::FromStr;

use ambit_ids::DocumentName;

/// A profile as it is named on the command line.
#[derive(Clone, Debug)]
pub(crate) enum ProfileArg {
    /// By its name.
    Name(DocumentName),
    /// By the file that holds it.
    File(PathBuf),
}

impl FromStr for ProfileArg {
    type Err = <DocumentName as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let extension = Path::new(text).extension().and_then(|extension| extension.to_str());
        if text.contains('/') || matches!(extension, Some("yaml" | "yml" | "json")) {
            return Ok(Self::File(text.into()));
        }
        text.parse().map(Self::Name)
    }
}
