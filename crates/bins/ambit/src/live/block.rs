use std::io::Write as _;

use ambit_ids::UnixMs;
use ambit_ports::sandbox::{Tap, Watcher};

use super::output::Output;
use super::painter::Painter;
use super::render::render;
use super::state::{Cancel, LiveState};
use super::tty::Tty;
use crate::terminal::{folded, has_styles, printable};

/// The live block at the bottom of a terminal, with what is told above it.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) live: LiveState,
    tty: Option<Tty>,
    painter: Painter,
    watcher: Option<Watcher>,
}

impl Block {
    /// A block on this terminal; `None` where none can be drawn.
    pub(super) fn take(live: LiveState) -> Option<Self> {
        Some(Self { live, tty: Some(Tty::take()?), painter: Painter::new(has_styles()), watcher: None })
    }

    /// Watches a gate that is about to run, by the tap that it answers.
    pub(super) fn watch(&mut self) -> Tap {
        let (tap, watcher) = Tap::new();
        self.live.output = Output::default();
        self.watcher = Some(watcher);
        tap
    }

    /// Tells lines above the block, and draws it as it is now.
    pub(super) fn draw(&mut self, told: &str, now: UnixMs) {
        while let Some(sight) = self.watcher.as_mut().and_then(Watcher::seen) {
            self.live.output.see(&sight);
        }
        let mut err = std::io::stderr();
        if self.tty.is_none() || Tty::is_lost() {
            self.tty = None;
            let _ = err.write_all(told.as_bytes());
            return;
        }
        let screen = Tty::screen();
        let told = folded(&printable(told), Some(screen.columns().max(20)));
        let drawn = self.painter.draw(&told, render(&self.live, now, screen), screen.width);
        // Nobody may be looking any more; the record is what counts.
        let _ = err.write_all(drawn.as_bytes());
    }

    /// Takes the block away and gives the terminal back.
    pub(super) fn end(&mut self) {
        if self.tty.is_some() && !Tty::is_lost() {
            let _ = std::io::stderr().write_all(self.painter.erase(Tty::screen().width).as_bytes());
        }
        self.tty = None;
    }

    /// Takes the terminal again, if it can be had.
    pub(super) fn begin_again(&mut self) {
        self.tty = Tty::take();
    }

    /// Asks whether the run is to be cancelled; answers whether it was asked already.
    pub(super) fn ask(&mut self) -> bool {
        if matches!(self.live.cancel, Cancel::Asked { .. }) {
            return true;
        }
        let Some(tty) = &self.tty else { return true };
        tty.forget_keys();
        self.live.cancel = Cancel::Asked { by_key: tty.has_keys() };
        false
    }

    /// Takes the answer to the question, if one was typed: whether the run is to be cancelled.
    pub(super) fn answered(&mut self) -> Option<bool> {
        if !matches!(self.live.cancel, Cancel::Asked { .. }) {
            return None;
        }
        let yes = matches!(self.tty.as_ref()?.key()?, b'y' | b'Y');
        if !yes {
            self.live.cancel = Cancel::Unasked;
        }
        Some(yes)
    }
}
