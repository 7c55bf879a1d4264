//! Where an image came from. It is told, and nothing depends on it: the digest of an image is over its files alone.

use ambit_ids::{ByteCount, Digest};
use serde::{Deserialize, Serialize};

use crate::capture::CapturedTool;
use crate::left_out::LeftOut;
use crate::limits;

/// Where an image came from when it was first stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    /// From tools of this machine.
    Captured(CapturedOrigin),
    /// From somebody else's image.
    Imported(ImportedOrigin),
}

/// The capture of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CapturedOrigin {
    /// The tools that were asked for, sorted by name.
    pub tools: Vec<ToolOrigin>,
    /// What was left out.
    pub left_out: Omissions,
}

/// One tool that was captured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolOrigin {
    /// The name by which it is called.
    pub name: String,
    /// The program, by its path.
    pub program: String,
    /// The files and links that it needs.
    pub entries: u64,
    /// The size of these files.
    pub size_bytes: ByteCount,
}

/// The import of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportedOrigin {
    /// What was read.
    pub format: SourceFormat,
    /// The name of the file or directory that was read, without its place.
    pub source: String,
    /// What the layout calls the image; `None` where it says nothing.
    pub reference: Option<String>,
    /// The platform; `None` where the source does not say.
    pub platform: Option<String>,
    /// The digest of the image's manifest; `None` where it has none.
    pub manifest: Option<Digest>,
    /// The digest of each layer once it is decompressed, the lowest first; of a tar without a layout, of that tar.
    pub layers: Vec<Digest>,
    /// What every image has and the source did not, by path.
    pub added: Vec<String>,
    /// Tools beyond those that the image's record names.
    pub more_tools: u64,
    /// What was left out.
    pub left_out: Omissions,
}

/// How an image lay before it was imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceFormat {
    /// An OCI image layout in a directory.
    OciLayout,
    /// An OCI image layout in a tar.
    OciArchive,
    /// A tar of a root file system.
    RootfsTar,
}

impl SourceFormat {
    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OciLayout => "OCI image layout",
            Self::OciArchive => "OCI image layout in a tar",
            Self::RootfsTar => "tar of a root file system",
        }
    }
}

/// What is not in an image although its source has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Omissions {
    /// The first of them, sorted.
    pub listed: Vec<Omission>,
    /// How many there are beyond those.
    pub more: u64,
}

/// One thing that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Omission {
    /// What it is.
    pub what: String,
    /// Why.
    pub why: String,
}

impl Omissions {
    pub(crate) fn of(left_out: &[LeftOut]) -> Self {
        let listed = left_out
            .iter()
            .take(limits::RECORDED_OMISSIONS)
            .map(|left| Omission { what: left.what.display().to_string(), why: left.why.clone() })
            .collect();
        Self { listed, more: left_out.len().saturating_sub(limits::RECORDED_OMISSIONS) as u64 }
    }
}

impl CapturedOrigin {
    pub(crate) fn of(tools: &[CapturedTool], left_out: &[LeftOut]) -> Self {
        let tools = tools.iter().map(|tool| ToolOrigin {
            name: tool.name.clone(),
            program: tool.program.display().to_string(),
            entries: tool.entries,
            size_bytes: tool.size_bytes,
        });
        Self { tools: tools.collect(), left_out: Omissions::of(left_out) }
    }
}
