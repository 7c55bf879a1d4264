use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use crate::limits;

/// Follows an absolute path the way the kernel does, one component at a time, and answers the path without links.
///
/// `look` is shown each path on the way, none of whose parents is a link, and whether nothing comes after it. It
/// answers the target where a symbolic link lies there. `endless` is the error for too many links.
pub(crate) fn follow<E>(
    path: &Path,
    mut look: impl FnMut(&Path, bool) -> Result<Option<PathBuf>, E>,
    endless: impl FnOnce() -> E,
) -> Result<PathBuf, E> {
    let mut ahead: VecDeque<OsString> = components(path).collect();
    let mut here = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = ahead.pop_front() {
        if name == ".." {
            here.pop();
            continue;
        }
        let next = here.join(&name);
        let Some(target) = look(&next, ahead.is_empty())? else {
            here = next;
            continue;
        };
        links += 1;
        if links > limits::LINKS_ON_THE_WAY {
            return Err(endless());
        }
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        ahead = components(&target).chain(ahead).collect();
    }
    Ok(here)
}

fn components(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some(OsStr::new("..").to_os_string()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}
