use std::path::PathBuf;

/// Something that belongs to a tool and is not in the image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// The file, or the name of a library that is nowhere.
    pub what: PathBuf,
    /// Why.
    pub why: String,
}
