//! OCI image layouts, made here: in a directory, or in a tar.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use ambit_ids::Digest;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tar::{Builder, EntryType, Header};

pub(crate) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
pub(crate) const TAR: &str = "application/vnd.oci.image.layer.v1.tar";
pub(crate) const GZIP: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// What lies in an archive.
#[derive(Clone, Copy)]
pub(crate) enum Put<'a> {
    Directory,
    File(&'a str),
    Program(&'a str),
    Link(&'a str),
    HardLink(&'a str),
}

/// A tar of these, as the `tar` crate writes it, with long names where they are needed.
pub(crate) fn tarred(members: &[(&str, Put<'_>)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (path, put) in members {
        let mut header = Header::new_gnu();
        let (kind, mode, content, link) = match *put {
            Put::Directory => (EntryType::Directory, 0o755, "", None),
            Put::File(content) => (EntryType::Regular, 0o640, content, None),
            Put::Program(content) => (EntryType::Regular, 0o4711, content, None),
            Put::Link(target) => (EntryType::Symlink, 0o777, "", Some(target)),
            Put::HardLink(target) => (EntryType::Link, 0o644, "", Some(target)),
        };
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_uid(1234);
        header.set_mtime(1_600_000_000);
        header.set_size(content.len() as u64);
        match link {
            Some(target) => builder.append_link(&mut header, path, target).unwrap(),
            None => builder.append_data(&mut header, path, content.as_bytes()).unwrap(),
        }
    }
    builder.into_inner().unwrap()
}

pub(crate) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A layout in a directory.
pub(crate) struct Layout(pub(crate) PathBuf);

impl Layout {
    pub(crate) fn new(path: PathBuf) -> Self {
        fs::create_dir_all(path.join("blobs/sha256")).unwrap();
        fs::write(path.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
        Self(path)
    }

    pub(crate) fn blob(&self, digest: &Value) -> PathBuf {
        self.0.join("blobs").join(digest["digest"].as_str().unwrap().replace(':', "/"))
    }

    /// Keeps a blob, and answers its descriptor.
    pub(crate) fn add(&self, media_type: &str, bytes: &[u8]) -> Value {
        let descriptor =
            json!({"mediaType": media_type, "digest": Digest::of(bytes).to_string(), "size": bytes.len()});
        fs::write(self.blob(&descriptor), bytes).unwrap();
        descriptor
    }

    pub(crate) fn add_json(&self, media_type: &str, value: &Value) -> Value {
        self.add(media_type, value.to_string().as_bytes())
    }

    /// Keeps an image of these layers, every second of them compressed, and answers the descriptor of its manifest.
    pub(crate) fn image(&self, architecture: &str, layers: &[Vec<u8>]) -> Value {
        let blobs: Vec<Value> = layers
            .iter()
            .enumerate()
            .map(|(at, layer)| match at % 2 {
                0 => self.add(GZIP, &gzipped(layer)),
                _ => self.add(TAR, layer),
            })
            .collect();
        let diff_ids: Vec<String> = layers.iter().map(|layer| Digest::of(layer).to_string()).collect();
        self.image_of(architecture, &blobs, &diff_ids)
    }

    pub(crate) fn image_of(&self, architecture: &str, layers: &[Value], diff_ids: &[String]) -> Value {
        let config = json!({
            "architecture": architecture, "os": "linux", "config": {"Cmd": ["sh"]},
            "rootfs": {"type": "layers", "diff_ids": diff_ids},
        });
        let config = self.add_json(CONFIG, &config);
        self.add_json(
            MANIFEST,
            &json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers}),
        )
    }

    pub(crate) fn index(&self, manifests: &[Value]) {
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests});
        fs::write(self.0.join("index.json"), index.to_string()).unwrap();
    }

    /// The same layout as a tar.
    pub(crate) fn tar(&self, path: &Path) {
        let mut builder = Builder::new(fs::File::create(path).unwrap());
        builder.append_dir_all(".", &self.0).unwrap();
        builder.finish().unwrap();
    }
}

/// How images call the processor of this machine.
pub(crate) fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
