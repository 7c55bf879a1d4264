//! The terminal in the hands of the live block, and how it is given back.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, Once, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr,
};

use super::frame::Screen;

const HIDE_CURSOR: &[u8] = b"\x1b[?25l";
const SHOW_CURSOR: &[u8] = b"\x1b[?25h";
/// The room of a terminal that does not say how large it is.
const USUAL: (u16, u16) = (80, 24);

/// How the terminal was before, for as long as it is held. One process has one terminal.
static HELD: Mutex<Option<Termios>> = Mutex::new(None);
static ON_PANIC: Once = Once::new();

/// The terminal of standard error. While it is held, the cursor is hidden and what is typed is not shown; the keys that
/// send signals do so as ever.
#[derive(Debug)]
pub(super) struct Tty {
    has_keys: bool,
}

impl Tty {
    /// Takes the terminal; `None` where there is none that a block can be drawn on, or where another job has it.
    pub(super) fn take() -> Option<Self> {
        let err = std::io::stderr();
        let kind = std::env::var_os("TERM").unwrap_or_default();
        if !err.is_terminal() || kind.is_empty() || kind == "dumb" || !is_in_front() {
            return None;
        }
        let before = tcgetattr(&err).ok()?;
        let mut held = before.clone();
        held.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        held.special_codes[SpecialCodeIndex::VMIN] = 1;
        held.special_codes[SpecialCodeIndex::VTIME] = 0;
        ON_PANIC.call_once(|| {
            let usual = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                usual(panic);
            }));
        });
        // Known before it is changed, so that whatever comes in between gives it back.
        *HELD.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        if tcsetattr(&err, OptionalActions::Drain, &held).is_err() {
            restore();
            return None;
        }
        let _ = (&err).write_all(HIDE_CURSOR);
        Some(Self { has_keys: std::io::stdin().is_terminal() })
    }

    /// Whether the terminal was given back, by a panic or because another job has it.
    pub(super) fn is_lost() -> bool {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Whether a key can be read.
    pub(super) const fn has_keys(&self) -> bool {
        self.has_keys
    }

    /// Throws away what was typed so far: it was no answer to what is asked from now on.
    pub(super) fn forget_keys(&self) {
        if self.has_keys {
            let _ = tcflush(std::io::stdin(), QueueSelector::IFlush);
        }
    }

    /// The key that was typed, if one was.
    pub(super) fn key(&self) -> Option<u8> {
        let stdin = std::io::stdin();
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut asked = [PollFd::new(&stdin, PollFlags::IN)];
        if !self.has_keys || !matches!(poll(&mut asked, Some(&at_once)), Ok(1)) {
            return None;
        }
        let mut typed = [0; 64];
        // A key may send several bytes. They are one key, told by the first.
        match rustix::io::read(&stdin, &mut typed) {
            Ok(read) if read > 0 => Some(typed[0]),
            _ => None,
        }
    }

    pub(super) fn screen() -> Screen {
        let size = tcgetwinsize(std::io::stderr()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
        let (width, height) = size.map_or(USUAL, |size| (size.ws_col, size.ws_row));
        Screen { width, height, unicode: is_utf8() }
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back as it was. A second time does nothing.
pub(super) fn restore() {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = held {
        let err = std::io::stderr();
        let _ = (&err).write_all(SHOW_CURSOR);
        // What was typed meanwhile stays for whoever reads next.
        let _ = tcsetattr(&err, OptionalActions::Drain, &before);
    }
}

/// Whether this job has the terminal. Another one would be stopped for touching it.
fn is_in_front() -> bool {
    tcgetpgrp(std::io::stderr()).is_ok_and(|front| front == rustix::process::getpgrp())
}

fn is_utf8() -> bool {
    let said =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os).find(|said| !said.is_empty());
    said.is_some_and(|said| {
        let said = said.to_string_lossy().to_ascii_lowercase();
        said.contains("utf-8") || said.contains("utf8")
    })
}
