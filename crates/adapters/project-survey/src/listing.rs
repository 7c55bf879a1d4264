use std::collections::{BTreeMap, BTreeSet};

use crate::name;

/// What was seen of a repository. Paths are relative, `/` between components.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    /// The files, with their sizes. Links and what is neither file nor directory are not among them.
    pub(crate) files: BTreeMap<String, u64>,
    /// The directories, those that were not looked into among them.
    pub(crate) directories: BTreeSet<String>,
    /// What stands in the files that were read.
    pub(crate) texts: BTreeMap<String, String>,
    /// Files that should have been read and could not be: too large, or no text.
    pub(crate) unread: BTreeSet<String>,
    /// The programs of the packages of Node that are installed at the top; `None` where none are.
    pub(crate) node_programs: Option<BTreeSet<String>>,
    /// Whether there was more than is looked at.
    pub(crate) is_partial: bool,
}

impl Listing {
    /// Forgets what no run gets to see. What a lock pins is told nevertheless: by it packages are captured.
    pub(crate) fn keep_only(&mut self, source: &BTreeSet<String>) {
        self.files.retain(|path, _| source.contains(path));
        self.unread.retain(|path| source.contains(path));
        self.texts.retain(|path, _| source.contains(path) || name::file_name(path) == "Cargo.lock");
        let files = &self.files;
        let holds = |directory: &String| {
            let below = format!("{directory}/");
            files.range(below.clone()..).next().is_some_and(|(path, _)| path.starts_with(&below))
        };
        self.directories.retain(holds);
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The text of a file, where it is there and was read.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// The first of these files that is there.
    pub(crate) fn first_of<'a>(&self, names: &[&'a str]) -> Option<&'a str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// Every file that ends so.
    pub(crate) fn ending<'a>(&'a self, end: &'a str) -> impl Iterator<Item = &'a str> {
        self.files.keys().map(String::as_str).filter(move |path| path.ends_with(end))
    }

    /// The files and directories at the top, and whether each is a directory.
    pub(crate) fn tops(&self) -> BTreeMap<&str, bool> {
        let files = self.files.keys().map(|path| name::top(path));
        files.chain(self.directories.iter().map(|path| (name::top(path).0, true))).collect()
    }

    /// The topmost directories that have this name, wherever they lie.
    pub(crate) fn topmost_named(&self, names: &[&str]) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for directory in &self.directories {
            let is_inside =
                |above: &&str| directory.strip_prefix(*above).is_some_and(|rest| rest.starts_with('/'));
            if names.contains(&name::file_name(directory)) && !found.iter().any(is_inside) {
                found.push(directory);
            }
        }
        found
    }

    /// What lies below a directory, as if that were the repository.
    pub(crate) fn within(&self, directory: &str) -> Self {
        let cut = |path: &String| {
            path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned)
        };
        Self {
            files: self.files.iter().filter_map(|(path, size)| Some((cut(path)?, *size))).collect(),
            directories: self.directories.iter().filter_map(cut).collect(),
            texts: self.texts.iter().filter_map(|(path, text)| Some((cut(path)?, text.clone()))).collect(),
            unread: self.unread.iter().filter_map(cut).collect(),
            node_programs: self.node_programs.clone(),
            is_partial: self.is_partial,
        }
    }
}
