//! Writes an imported tree to a directory that nobody else looks at yet. Every directory on the way to what is written
//! was made here, so that there is no link to follow.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use ambit_ports::images::ImageError;

use crate::import::spool::Content;
use crate::import::spool::{ContentId, Spool};
use crate::import::tree::{Node, Tree};
use crate::regular::failed_at;
use crate::stage::{DIRECTORY_MODE, finish_file, set_time};

/// Writes `tree` to `root`, which must not exist. Contents are moved out of the spool.
pub(crate) fn write(root: &Path, tree: &Tree, spool: &Spool) -> Result<(), ImageError> {
    let nodes = tree.nodes();
    let mut placed = BTreeMap::new();
    make_directory(root)?;
    for (path, node) in &nodes {
        let target = root.join(path);
        match node {
            Node::Directory(_) => make_directory(&target)?,
            Node::Link(link) => {
                symlink(link, &target).map_err(failed_at(&target))?;
                set_time(&target)?;
            }
            Node::Made(text) => make_file(&target, text)?,
            Node::File(content) => place(content, target, spool, &mut placed)?,
        }
    }
    // Children first: what is sealed takes no more entries.
    let directories = nodes.iter().rev().filter(|(_, node)| matches!(node, Node::Directory(_)));
    for directory in directories.map(|(path, _)| root.join(path)).chain([root.to_path_buf()]) {
        let mode = Permissions::from_mode(DIRECTORY_MODE);
        fs::set_permissions(&directory, mode).map_err(failed_at(&directory))?;
        set_time(&directory)?;
    }
    Ok(())
}

fn make_directory(target: &Path) -> Result<(), ImageError> {
    DirBuilder::new().mode(0o700).create(target).map_err(failed_at(target))
}

fn make_file(target: &Path, text: &str) -> Result<(), ImageError> {
    let at = failed_at(target);
    let mut file = OpenOptions::new().write(true).create_new(true).open(target).map_err(&at)?;
    file.write_all(text.as_bytes()).map_err(&at)?;
    finish_file(&file, target, false)
}

/// Gives a content its first name, or one more.
fn place(
    content: &Content,
    target: PathBuf,
    spool: &Spool,
    placed: &mut BTreeMap<ContentId, PathBuf>,
) -> Result<(), ImageError> {
    if let Some(first) = placed.get(&content.id) {
        return fs::hard_link(first, &target).map_err(failed_at(&target));
    }
    let from = spool.path(content.id);
    let file = File::open(&from).map_err(failed_at(&from))?;
    fs::rename(&from, &target).map_err(failed_at(&target))?;
    finish_file(&file, &target, content.is_executable)?;
    placed.insert(content.id, target);
    Ok(())
}
