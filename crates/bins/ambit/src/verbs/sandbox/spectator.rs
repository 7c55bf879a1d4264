//! Whoever looks on while a command runs.

use std::io::Write as _;

use ambit_ports::sandbox::{Tap, Watcher};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::interrupt::Signals;
use crate::marked::Marked;
use crate::terminal::columns;

/// Shows the output of a command on standard error as it arrives. It does so on a thread of its own: a terminal that is
/// held holds up nothing else.
pub(super) struct Spectator(oneshot::Receiver<()>);

impl Spectator {
    /// Begins to look, and answers the tap that it looks at.
    pub(super) fn begin() -> (Self, Tap) {
        let (tap, watcher) = Tap::new();
        let (leave, left) = oneshot::channel();
        let runtime = Handle::current();
        // Where no thread can be had nothing is shown, and everything is kept all the same.
        let _ = std::thread::Builder::new().name("spectator".to_owned()).spawn(move || {
            runtime.block_on(show(watcher));
            let _ = leave.send(());
        });
        (Self(left), tap)
    }

    /// Waits until everything is shown, or somebody does not want to wait; answers whether all is shown.
    pub(super) async fn end(self, signals: &mut Signals) -> bool {
        tokio::select! {
            _ = self.0 => true,
            _ = signals.next() => false,
        }
    }
}

async fn show(mut watcher: Watcher) {
    let mut err = std::io::stderr();
    let mut marked = Marked::new(columns(&err));
    while let Some(sight) = watcher.next().await {
        if err.write_all(marked.rows(&sight).as_bytes()).is_err() {
            // Nobody looks any more.
            return;
        }
    }
    let _ = err.write_all(marked.end().as_bytes());
}
