//! What every image has, whatever was captured into it.

use std::path::Path;

use crate::error::CaptureError;
use crate::plan::{MOUNTED, Node, Plan};

/// The links of a merged `/usr`. Programs name their loader and their shell through them.
const MERGED: [&str; 6] = ["/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin"];

const PASSWD: &str = "sandbox:x:1000:1000:sandbox:/home/sandbox:/bin/sh\n\
                      nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const GROUP: &str = "sandbox:x:1000:\nnogroup:x:65534:\n";
const NSSWITCH: &str = "passwd: files\ngroup: files\nshadow: files\nhosts: files\n";
const HOSTS: &str = "127.0.0.1 localhost\n::1 localhost\n";

/// The files of every image.
pub(crate) const FILES: [(&str, &str); 4] =
    [("/etc/passwd", PASSWD), ("/etc/group", GROUP), ("/etc/nsswitch.conf", NSSWITCH), ("/etc/hosts", HOSTS)];

/// Adds the directories to mount over, one user without privileges, and name lookup from files alone.
pub(crate) fn lay(plan: &mut Plan) -> Result<(), CaptureError> {
    for mount in MOUNTED {
        plan.add(Path::new(mount), Node::Directory)?;
    }
    for (path, text) in FILES {
        plan.add(Path::new(path), Node::Made(text.as_bytes().to_vec()))?;
    }
    for link in MERGED {
        let link = Path::new(link);
        if link.is_symlink() && link.is_dir() {
            plan.take(link)?;
        }
    }
    Ok(())
}
