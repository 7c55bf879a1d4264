//! Images of others: an OCI image layout, as a directory or a tar, or a tar of a root file system.
//!
//! A source is read as if whoever made it wanted to write elsewhere, to fill the disk, or to pass for something else.
//! Layers are put together in memory, and their contents lie under numbers until the whole tree is known. Every file is
//! then written below directories that were made for it. Owners and times are those of every image.

mod archive;
mod blobs;
mod bounds;
mod error;
mod furnish;
mod inflate;
mod layer;
mod layout;
mod member_path;
mod pax;
mod platform;
mod spool;
#[cfg(test)]
mod tests;
mod tree;
mod write;

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ambit_ids::{Digest, ImageName};
use ambit_ports::images::{Image, ImageError};

pub use crate::import::error::{EntryFault, ImportError};
pub use crate::import::platform::{Platform, PlatformError};

use crate::import::archive::{Archive, Fault};
use crate::import::blobs::{Blobs, Members, Section, unreadable};
use crate::import::bounds::{Allowance, Bounds};
use crate::import::inflate::{Bomb, GZIP, Inflated};
use crate::import::layer::{Below, Layer, Untaken};
use crate::import::layout::{Chosen, Descriptor};
use crate::import::spool::Spool;
use crate::import::tree::{Refused, Tree};
use crate::left_out::LeftOut;
use crate::limits;
use crate::origin::{ImportedOrigin, Omissions, SourceFormat};
use crate::regular::{failed_at, open_regular};

/// What to import.
#[derive(Clone, Debug)]
pub struct ImportRequest {
    /// The name of the image.
    pub name: ImageName,
    /// The layout or the tar. A tar may be compressed with gzip.
    pub source: PathBuf,
    /// The platform of the image in a layout; `None` for this machine's.
    pub platform: Option<Platform>,
    /// What the layout calls the image, where it has several.
    pub reference: Option<String>,
}

/// What was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportReport {
    /// The image.
    pub image: Image,
    /// Whether the image was here already, whole, and only got its name.
    pub reused: bool,
    /// Where it came from now. An image that was here already keeps the record of its first origin.
    pub origin: ImportedOrigin,
    /// What was left out although the source has it, sorted.
    pub left_out: Vec<LeftOut>,
}

/// A tree that was read, with what is to be told about it.
pub(crate) struct Imported {
    pub(crate) tree: Tree,
    pub(crate) spool: Spool,
    pub(crate) tools: Vec<String>,
    pub(crate) origin: ImportedOrigin,
    pub(crate) left_out: Vec<LeftOut>,
}

/// What the layers of a source say, before it is made an image.
struct Source {
    format: SourceFormat,
    chosen: Option<Chosen>,
    layers: Vec<Digest>,
}

/// Reads a source. Contents go to a new directory in `staging`.
pub(crate) fn read(request: &ImportRequest, staging: &Path) -> Result<Imported, ImportError> {
    read_within(request, staging, Bounds::OF_AN_IMPORT)
}

fn read_within(request: &ImportRequest, staging: &Path, bounds: Bounds) -> Result<Imported, ImportError> {
    let mut reading = Reading {
        request,
        allowance: Allowance::new(bounds),
        spool: Spool::make(staging.join("contents"))?,
        tree: Tree::default(),
    };
    let source = reading.source(staging)?;
    let Reading { mut tree, mut allowance, spool, .. } = reading;
    let furnished = furnish::furnish(&mut tree, &mut allowance)?;
    if tree.nodes().len() >= limits::IMAGE_ENTRIES {
        return Err(ImportError::TooLarge { limit: format!("{} entries", limits::IMAGE_ENTRIES) });
    }
    let mut tools = furnished.tools;
    let more_tools = tools.len().saturating_sub(limits::IMPORTED_TOOLS) as u64;
    tools.truncate(limits::IMPORTED_TOOLS);
    let name = request.source.file_name().unwrap_or(OsStr::new("/")).to_string_lossy().into_owned();
    let origin = ImportedOrigin {
        format: source.format,
        source: name,
        reference: source.chosen.as_ref().and_then(|chosen| chosen.reference.clone()),
        platform: source.chosen.as_ref().map(|chosen| chosen.platform.to_string()),
        manifest: source.chosen.as_ref().map(|chosen| chosen.manifest),
        layers: source.layers,
        added: furnished.added,
        more_tools,
        left_out: Omissions::of(&furnished.left_out),
    };
    Ok(Imported { tree, spool, tools, origin, left_out: furnished.left_out })
}

struct Reading<'a> {
    request: &'a ImportRequest,
    allowance: Allowance,
    spool: Spool,
    tree: Tree,
}

impl Reading<'_> {
    fn source(&mut self, staging: &Path) -> Result<Source, ImportError> {
        let path = &self.request.source;
        let metadata = fs::metadata(path).map_err(unreadable(path))?;
        if metadata.is_dir() {
            return self.layout(&Blobs::directory(path)?, SourceFormat::OciLayout);
        }
        let real = path.canonicalize().map_err(unreadable(path))?;
        let whole = open_regular(&real).and_then(Section::whole).map_err(unreadable(path))?;
        let whole = self.plain(whole, staging)?;
        let most = self.allowance.bounds.inflated_bytes;
        if whole.size_bytes() > most {
            return Err(ImportError::TooLarge { limit: format!("{most} bytes of an archive") });
        }
        // What is counted here is counted again when it is taken.
        let mut allowance = Allowance::new(self.allowance.bounds);
        let name = path.display().to_string();
        let members = Members::find(&whole, &mut allowance).map_err(|untaken| told(untaken, &name))?;
        if members.has("oci-layout") {
            return self.layout(&Blobs::Archive(members), SourceFormat::OciArchive);
        }
        if members.has("manifest.json") {
            let why = "it is an archive of Docker before version 25, without an OCI layout".to_owned();
            return Err(ImportError::Unfit { path: path.clone(), why });
        }
        if self.request.platform.is_some() || self.request.reference.is_some() {
            let why =
                "a platform or a reference was asked for, and it is no layout to choose from".to_owned();
            return Err(ImportError::Unfit { path: path.clone(), why });
        }
        let digest = self.layer(whole, false, Below::Nothing, &name)?;
        Ok(Source { format: SourceFormat::RootfsTar, chosen: None, layers: vec![digest] })
    }

    /// The archive itself, or where it is compressed a copy that is not.
    fn plain(&self, whole: Section, staging: &Path) -> Result<Section, ImportError> {
        let mut magic = [0; 2];
        let path = &self.request.source;
        let read = whole.clone().read(&mut magic).map_err(unreadable(path))?;
        if read < magic.len() || magic != GZIP {
            return Ok(whole);
        }
        let copy = staging.join("archive");
        let at = failed_at(&copy);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&copy)
            .map_err(&at)?;
        let mut inflated = Inflated::new(whole, true, self.allowance.bounds);
        copy_all(&mut inflated, &mut file).map_err(|error| match error {
            Copying::From(error) => told(Untaken::Archive(error.into()), &path.display().to_string()),
            Copying::To(error) => at(error).into(),
        })?;
        Section::whole(file).map_err(|error| at(error).into())
    }

    fn layout(&mut self, blobs: &Blobs, format: SourceFormat) -> Result<Source, ImportError> {
        let path = &self.request.source;
        if blobs.file("oci-layout")?.is_none() {
            let why = "the directory has no file `oci-layout`".to_owned();
            return Err(ImportError::Unfit { path: path.clone(), why });
        }
        let own = Platform::of_this_machine();
        let platform = self.request.platform.as_ref().unwrap_or(&own);
        let chosen = layout::choose(blobs, platform, self.request.reference.as_deref())?;
        let mut layers = Vec::new();
        for layer in &chosen.layers {
            let name = format!("the layer {}", layer.blob.digest);
            let blob = blobs.blob(&layer.blob)?;
            let found = self.layer(blob, layer.is_compressed, Below::Layers, &name)?;
            if found != layer.content {
                return Err(ImportError::LayerAltered { layer: name, expected: layer.content, found });
            }
            layers.push(found);
        }
        Ok(Source { format, chosen: Some(chosen), layers })
    }

    /// Lays one archive over the tree, and answers the digest of what it decompresses to.
    fn layer(
        &mut self,
        archive: Section,
        is_compressed: bool,
        below: Below,
        name: &str,
    ) -> Result<Digest, ImportError> {
        let mut archive = Archive::new(Inflated::new(archive, is_compressed, self.allowance.bounds));
        let layer = Layer::read(&mut archive, below, &mut self.spool, &mut self.allowance)
            .map_err(|untaken| told(untaken, name))?;
        self.tree.lay(&layer, &mut self.allowance).map_err(|refused| match refused {
            Refused::Passed(passed) => passed.into(),
            Refused::Entry(path, fault) => refused_entry(path.as_os_str().as_encoded_bytes(), fault, name),
        })?;
        Ok(archive.into_inner().digest())
    }
}

enum Copying {
    From(io::Error),
    To(io::Error),
}

fn copy_all(from: &mut impl Read, to: &mut File) -> Result<(), Copying> {
    use std::io::Write;

    let mut buffer = vec![0; 128 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => to.write_all(&buffer[..read]).map_err(Copying::To)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Copying::From(error)),
        }
    }
}

/// What is told of an archive that is not taken.
fn told(untaken: Untaken, archive: &str) -> ImportError {
    let archive = archive.to_owned();
    match untaken {
        Untaken::Passed(passed) => passed.into(),
        Untaken::Store(error) => error.into(),
        Untaken::Archive(Fault::Entry(path, fault)) => refused_entry(&path, fault, &archive),
        Untaken::Archive(Fault::Damaged(why)) => ImportError::Damaged { archive, why: why.to_owned() },
        Untaken::Archive(Fault::Io(error)) => {
            let bomb = error.get_ref().and_then(|inner| inner.downcast_ref::<Bomb>());
            match (bomb, error.raw_os_error()) {
                (Some(bomb), _) => ImportError::Bomb { archive, limit: bomb.limit.clone() },
                (None, Some(_)) => ImportError::Unreadable { path: archive.into(), source: error },
                (None, None) => ImportError::Damaged { archive, why: error.to_string() },
            }
        }
    }
}

fn refused_entry(path: &[u8], fault: EntryFault, archive: &str) -> ImportError {
    /// A path that is refused may be as long as it likes, a message may not.
    const TOLD_BYTES: usize = 256;
    let entry = String::from_utf8_lossy(&path[..path.len().min(TOLD_BYTES)]).into_owned();
    ImportError::Entry { entry, archive: archive.to_owned(), fault }
}

impl Imported {
    /// Writes the tree.
    pub(crate) fn write(&self, root: &Path) -> Result<(), ImageError> {
        write::write(root, &self.tree, &self.spool)
    }
}
