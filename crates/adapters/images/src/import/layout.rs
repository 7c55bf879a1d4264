//! The documents of an OCI image layout (OCI image specification 1.1), and the choice of one image of it.

use std::collections::BTreeMap;

use ambit_ids::Digest;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::import::blobs::Blobs;
use crate::import::error::ImportError;
use crate::import::platform::Platform;
use crate::limits;

const INDEXES: [&str; 2] =
    ["application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json"];
const MANIFESTS: [&str; 2] =
    ["application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json"];
const CONFIGURATIONS: [&str; 2] =
    ["application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json"];
/// Media types of layers, each with whether it is compressed with gzip.
const LAYERS: [(&str, bool); 4] = [
    ("application/vnd.oci.image.layer.v1.tar", false),
    ("application/vnd.oci.image.layer.v1.tar+gzip", true),
    ("application/vnd.docker.image.rootfs.diff.tar", false),
    ("application/vnd.docker.image.rootfs.diff.tar.gzip", true),
];
/// Under which annotations an index says what an image is called.
const REFERENCES: [&str; 2] = ["org.opencontainers.image.ref.name", "io.containerd.image.name"];

/// What a document says of a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) media_type: String,
    pub(crate) digest: Digest,
    pub(crate) size_bytes: u64,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawDescriptor {
    media_type: String,
    digest: String,
    size: u64,
    platform: Option<Platform>,
    #[serde(default)]
    annotations: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Layout {
    image_layout_version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Index {
    schema_version: u32,
    manifests: Vec<RawDescriptor>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    schema_version: u32,
    config: RawDescriptor,
    layers: Vec<RawDescriptor>,
}

#[derive(Deserialize)]
struct Configuration {
    #[serde(flatten)]
    platform: Platform,
    rootfs: Rootfs,
}

#[derive(Deserialize)]
struct Rootfs {
    #[serde(rename = "type")]
    kind: String,
    diff_ids: Vec<String>,
}

/// A layer as the documents tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LayerOf {
    pub(crate) blob: Descriptor,
    pub(crate) is_compressed: bool,
    /// The digest of what it decompresses to.
    pub(crate) content: Digest,
}

/// The image that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) manifest: Digest,
    pub(crate) reference: Option<String>,
    pub(crate) platform: Platform,
    pub(crate) layers: Vec<LayerOf>,
}

/// An image that an index names.
struct Candidate {
    manifest: Descriptor,
    reference: Option<String>,
    platform: Platform,
}

/// Reads the documents of a layout and chooses the one image that fits.
pub(crate) fn choose(
    blobs: &Blobs,
    platform: &Platform,
    reference: Option<&str>,
) -> Result<Chosen, ImportError> {
    let layout: Layout = read("oci-layout", &named(blobs, "oci-layout")?)?;
    if layout.image_layout_version != "1.0.0" {
        return Err(unfit(
            "oci-layout",
            format!("its version is {:?}, not 1.0.0", layout.image_layout_version),
        ));
    }
    let mut looking = Looking { blobs, documents_left: limits::LAYOUT_DOCUMENTS, found: Vec::new() };
    let index = index("index.json", &named(blobs, "index.json")?)?;
    let wanted: Vec<RawDescriptor> = index
        .manifests
        .into_iter()
        .filter(|entry| reference.is_none_or(|wanted| entry.references().any(|known| known == wanted)))
        .collect();
    looking.index(wanted)?;
    let (mut fitting, others): (Vec<_>, Vec<_>) =
        looking.found.into_iter().partition(|candidate| platform.takes(&candidate.platform));
    fitting.sort_by_key(|candidate| candidate.manifest.digest);
    fitting.dedup_by_key(|candidate| candidate.manifest.digest);
    let wanted = match reference {
        Some(reference) => format!("{platform} and the reference {reference:?}"),
        None => platform.to_string(),
    };
    let told = |candidates: &[Candidate]| candidates.iter().take(16).map(Candidate::told).collect();
    match fitting.as_slice() {
        [] => Err(ImportError::NoneFits { wanted, found: told(&others) }),
        [candidate] => chosen(blobs, candidate),
        several => Err(ImportError::Several { wanted, found: told(several) }),
    }
}

struct Looking<'a> {
    blobs: &'a Blobs,
    documents_left: usize,
    found: Vec<Candidate>,
}

impl Looking<'_> {
    /// Gathers the images of an index and of the indexes in it.
    fn index(&mut self, entries: Vec<RawDescriptor>) -> Result<(), ImportError> {
        let mut pending: Vec<(RawDescriptor, Option<String>)> =
            entries.into_iter().map(|entry| (entry, None)).collect();
        while let Some((entry, above)) = pending.pop() {
            let reference = entry.references().next().map(str::to_owned).or(above);
            let is_index = INDEXES.contains(&entry.media_type.as_str());
            if !is_index && !MANIFESTS.contains(&entry.media_type.as_str()) {
                continue;
            }
            let platform = entry.platform.clone();
            let descriptor = entry.checked()?;
            if is_index {
                let bytes = self.document(&descriptor)?;
                let index = index(&descriptor.digest.to_string(), &bytes)?;
                pending.extend(index.manifests.into_iter().map(|entry| (entry, reference.clone())));
                continue;
            }
            let platform = match platform {
                Some(platform) => Some(platform),
                None => self.platform_of(&descriptor)?,
            };
            self.found.extend(platform.map(|platform| Candidate {
                manifest: descriptor,
                reference,
                platform,
            }));
        }
        Ok(())
    }

    /// The platform that an image's own configuration tells; `None` where it is no image of a file system.
    fn platform_of(&mut self, manifest: &Descriptor) -> Result<Option<Platform>, ImportError> {
        let name = manifest.digest.to_string();
        let parsed: Manifest = read(&name, &self.document(manifest)?)?;
        if !CONFIGURATIONS.contains(&parsed.config.media_type.as_str()) {
            return Ok(None);
        }
        let config = parsed.config.checked()?;
        let configuration: Configuration = read(&config.digest.to_string(), &self.document(&config)?)?;
        Ok(Some(configuration.platform))
    }

    fn document(&mut self, descriptor: &Descriptor) -> Result<Vec<u8>, ImportError> {
        self.documents_left = self.documents_left.checked_sub(1).ok_or_else(|| {
            unfit("index.json", format!("it leads to more than {} documents", limits::LAYOUT_DOCUMENTS))
        })?;
        self.blobs.document(descriptor)
    }
}

impl Candidate {
    fn told(&self) -> String {
        let reference =
            self.reference.as_ref().map(|reference| format!("{reference:?} ")).unwrap_or_default();
        format!("{reference}{} ({})", self.platform, self.manifest.digest.short())
    }
}

/// Reads what the manifest and the configuration of an image say.
fn chosen(blobs: &Blobs, candidate: &Candidate) -> Result<Chosen, ImportError> {
    let name = candidate.manifest.digest.to_string();
    let manifest: Manifest = read(&name, &blobs.document(&candidate.manifest)?)?;
    if manifest.schema_version != 2 {
        return Err(unfit(&name, format!("its schema version is {}, not 2", manifest.schema_version)));
    }
    if !CONFIGURATIONS.contains(&manifest.config.media_type.as_str()) {
        return Err(unfit(&name, "it is no image of a file system".to_owned()));
    }
    let config = manifest.config.checked()?;
    let config_name = config.digest.to_string();
    let configuration: Configuration = read(&config_name, &blobs.document(&config)?)?;
    if !candidate.platform.takes(&configuration.platform) {
        let why = format!("it is for {}, and its index says {}", configuration.platform, candidate.platform);
        return Err(unfit(&config_name, why));
    }
    let diff_ids = configuration.rootfs.diff_ids;
    if configuration.rootfs.kind != "layers" || diff_ids.len() != manifest.layers.len() {
        let why =
            format!("it tells of {} layers, and the image has {}", diff_ids.len(), manifest.layers.len());
        return Err(unfit(&config_name, why));
    }
    if diff_ids.len() > limits::IMPORTED_LAYERS {
        return Err(ImportError::TooLarge { limit: format!("{} layers", limits::IMPORTED_LAYERS) });
    }
    let layers = manifest.layers.into_iter().zip(&diff_ids).map(|(layer, diff_id)| {
        let known = LAYERS.iter().find(|(media_type, _)| *media_type == layer.media_type);
        let (_, is_compressed) = *known.ok_or_else(|| ImportError::LayerUnsupported {
            layer: format!("the layer {}", layer.digest),
            media_type: layer.media_type.clone(),
        })?;
        let content = diff_id
            .parse()
            .map_err(|_| unfit(&config_name, format!("{diff_id:?} is no SHA-256 digest of a layer")))?;
        Ok(LayerOf { blob: layer.checked()?, is_compressed, content })
    });
    Ok(Chosen {
        manifest: candidate.manifest.digest,
        reference: candidate.reference.clone(),
        platform: configuration.platform,
        layers: layers.collect::<Result<_, ImportError>>()?,
    })
}

impl RawDescriptor {
    fn references(&self) -> impl Iterator<Item = &str> {
        let annotations = self.annotations.as_ref();
        REFERENCES.iter().filter_map(move |key| annotations?.get(*key).map(String::as_str))
    }

    fn checked(self) -> Result<Descriptor, ImportError> {
        let digest = self.digest.parse().map_err(|_| {
            unfit("the layout", format!("{:?} is no SHA-256 digest, the one kind that is read", self.digest))
        })?;
        Ok(Descriptor { media_type: self.media_type, digest, size_bytes: self.size })
    }
}

fn index(name: &str, bytes: &[u8]) -> Result<Index, ImportError> {
    let index: Index = read(name, bytes)?;
    match index.schema_version {
        2 => Ok(index),
        other => Err(unfit(name, format!("its schema version is {other}, not 2"))),
    }
}

fn named(blobs: &Blobs, name: &str) -> Result<Vec<u8>, ImportError> {
    blobs.named_document(name)?.ok_or_else(|| unfit(name, "it is not there".to_owned()))
}

fn read<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Result<T, ImportError> {
    serde_json::from_slice(bytes).map_err(|error| unfit(name, error.to_string()))
}

fn unfit(document: &str, why: String) -> ImportError {
    ImportError::Document { document: document.to_owned(), why }
}
