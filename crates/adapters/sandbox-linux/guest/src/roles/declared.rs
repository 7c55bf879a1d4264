//! The declared volumes: what a run may name, kept where no command sees it, and for each command those that it names.
//!
//! All of them are mounted below `/volumes` under numbers. Over that, each command gets a directory in which the ones
//! that it names are mounted once more, under their names.

use core::ffi::CStr;

use linux_raw_sys::general as sys;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat, symlinkat};
use rustix::io::Errno;
use rustix::mount::{OpenTreeFlags, UnmountFlags, open_tree, unmount};

use crate::roles::mounts::{READ_ONLY, Source, attach, temporary};
use crate::roles::raw::{self, Reach};
use crate::roles::text::Text;
use crate::wire::DECLARED_VOLUMES;

const PLACE: &CStr = c"/volumes";
/// Where Node looks for packages from anywhere, and the volume that it finds there.
const MODULES: &CStr = c"/node_modules";
const MODULES_NAME: &CStr = c"node_modules";
const MODULES_VOLUME: &CStr = c"/volumes/node_modules";

/// The name of a volume, at most 64 bytes.
type Name = Text<80>;

/// The volumes of a run.
#[derive(Default)]
pub(crate) struct Declared {
    volumes: [Option<(Name, OwnedFd)>; DECLARED_VOLUMES],
    count: usize,
    has_modules: bool,
}

impl Declared {
    /// Takes a volume in, while the root can still be written.
    pub(crate) fn bring(&mut self, name: &CStr, source: Source<'_>) -> Result<(), Errno> {
        let number = self.count;
        let place = self.volumes.get_mut(number).ok_or(Errno::TOOBIG)?;
        let text = name.to_str().map_err(|_| Errno::INVAL)?;
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if text.is_empty() || !text.bytes().all(is_word) {
            return Err(Errno::INVAL);
        }
        let mount = source.mount()?;
        if number == 0 {
            mkdirat(CWD, PLACE, Mode::from_raw_mode(0o755))?;
        }
        let hidden: Text<24> = Text::format(format_args!("/volumes/{number}"))?;
        mkdirat(CWD, hidden.as_c_str()?, Mode::from_raw_mode(0o755))?;
        attach(mount.as_fd(), CWD, hidden.as_c_str()?)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let top = openat(CWD, hidden.as_c_str()?, flags, Mode::empty())?;
        if name == MODULES_NAME && !self.has_modules {
            symlinkat(MODULES_VOLUME, CWD, MODULES)?;
            self.has_modules = true;
        }
        *place = Some((Text::format(format_args!("{text}"))?, top));
        self.count += 1;
        Ok(())
    }

    /// Whether an entry at the top of an image has to give way.
    pub(crate) fn takes(&self, name: &CStr) -> bool {
        (self.count > 0 && name == c"volumes") || (self.has_modules && name == MODULES_NAME)
    }

    /// Mounts the volumes of a command; answers whether there is a place for any.
    pub(crate) fn lay(&self, which: u32) -> Result<bool, Errno> {
        if self.count == 0 {
            return if which == 0 { Ok(false) } else { Err(Errno::INVAL) };
        }
        let cover = temporary(c"4k", c"64", c"0755")?;
        attach(cover.as_fd(), CWD, PLACE)?;
        for number in (0..u32::BITS).filter(|number| which & (1 << number) != 0) {
            let volume = usize::try_from(number).ok().and_then(|number| self.volumes.get(number));
            let Some(Some((name, top))) = volume else { return Err(Errno::INVAL) };
            let name = core::str::from_utf8(name.as_bytes()).map_err(|_| Errno::INVAL)?;
            let target: Text<96> = Text::format(format_args!("/volumes/{name}"))?;
            mkdirat(CWD, target.as_c_str()?, Mode::from_raw_mode(0o755))?;
            let flags = OpenTreeFlags::OPEN_TREE_CLONE
                | OpenTreeFlags::OPEN_TREE_CLOEXEC
                | OpenTreeFlags::AT_RECURSIVE
                | OpenTreeFlags::AT_EMPTY_PATH;
            let copy = open_tree(top, c"", flags)?;
            raw::restrict_mount(copy.as_fd(), Reach::All, READ_ONLY)?;
            attach(copy.as_fd(), CWD, target.as_c_str()?)?;
        }
        raw::restrict_mount(cover.as_fd(), Reach::One, READ_ONLY | sys::MOUNT_ATTR_NOEXEC)?;
        Ok(true)
    }

    /// Takes away what a command had.
    pub(crate) fn clear() -> Result<(), Errno> {
        unmount(PLACE, UnmountFlags::DETACH)
    }
}
