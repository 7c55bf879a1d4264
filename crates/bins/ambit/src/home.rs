use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Where Ambit keeps its state on this machine: the store, blobs, keys, images and sandboxes.
#[derive(Clone, Debug)]
pub(crate) struct Home(PathBuf);

impl Home {
    /// The directory that was named, else `AMBIT_HOME`, else the user's data directory (XDG base directory specification).
    pub(crate) fn find(named: Option<&Path>) -> Result<Self, Failure> {
        if let Some(path) = named {
            return Ok(Self(path.to_owned()));
        }
        let variable =
            |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        variable("AMBIT_HOME")
            .or_else(|| {
                variable("XDG_DATA_HOME").filter(|path| path.is_absolute()).map(|path| path.join("ambit"))
            })
            .or_else(|| variable("HOME").map(|path| path.join(".local/share/ambit")))
            .map(Self)
            .ok_or_else(|| {
                Failure::new("HOME_UNKNOWN", "neither AMBIT_HOME, XDG_DATA_HOME nor HOME is set")
                    .help("set AMBIT_HOME to a directory of your own")
            })
    }

    /// A home in a directory.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Makes the directory, for nobody but its owner.
    pub(crate) fn make(&self) -> Result<(), Failure> {
        use std::os::unix::fs::DirBuilderExt as _;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0).map_err(|error| {
            Failure::new(
                "HOME_UNUSABLE",
                format!("{} cannot be made; nothing was changed: {error}", self.0.display()),
            )
            .help("set AMBIT_HOME to a directory that you can write to")
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.0.join("store.sqlite")
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.0.join("blobs")
    }

    /// The repositories that hold commits of other places.
    pub(crate) fn mirrors(&self) -> PathBuf {
        self.0.join("mirrors")
    }

    pub(crate) fn keys(&self) -> PathBuf {
        self.0.join("keys")
    }

    pub(crate) fn images(&self) -> PathBuf {
        self.0.join("images")
    }

    /// The records of which repository belongs to which project.
    pub(crate) fn repositories(&self) -> PathBuf {
        self.0.join("repositories")
    }

    pub(crate) fn sandboxes(&self) -> PathBuf {
        self.0.join("sandboxes")
    }

    /// Where the containers of a runtime lie.
    pub(crate) fn containers(&self, runtime: &str) -> PathBuf {
        self.0.join("containers").join(runtime)
    }
}
