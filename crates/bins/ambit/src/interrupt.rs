use std::task::Poll;

use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

use crate::failure::exit;

/// What the keyboard or another program may want of this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Interrupted from the keyboard.
    Keyboard,
    /// To end.
    Terminated,
    /// The terminal was closed.
    HungUp,
    /// To end at once, from the keyboard.
    Quit,
    /// To stop until it is told to go on, from the keyboard.
    Suspend,
}

/// The signals to this program, from the moment on in which this was made. None is lost between two of them.
pub(crate) struct Signals(Vec<(Signal, Stream)>);

impl Signals {
    /// Those by which a program is told to end in its own time.
    pub(crate) fn to_end() -> Self {
        Self::of(&ENDING)
    }

    /// Every signal that has something to do with a terminal.
    pub(crate) fn at_terminal() -> Self {
        let stop = SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw());
        let further = [(Signal::Quit, SignalKind::quit()), (Signal::Suspend, stop)];
        Self::of(&[&ENDING[..], &further].concat())
    }

    /// A signal that cannot be listened to ends the program as it ends any other.
    fn of(kinds: &[(Signal, SignalKind)]) -> Self {
        Self(kinds.iter().filter_map(|(what, kind)| Some((*what, signal(*kind).ok()?))).collect())
    }

    /// The next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        std::future::poll_fn(|context| {
            for (what, stream) in &mut self.0 {
                if stream.poll_recv(context).is_ready() {
                    return Poll::Ready(*what);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// The signals by which a program is told to end in its own time.
const ENDING: [(Signal, SignalKind); 3] = [
    (Signal::Keyboard, SignalKind::interrupt()),
    (Signal::Terminated, SignalKind::terminate()),
    (Signal::HungUp, SignalKind::hangup()),
];

impl Signal {
    /// The exit code of a program that it ended.
    pub(crate) const fn exit(self) -> u8 {
        match self {
            Self::Terminated => exit::TERMINATED,
            Self::HungUp => exit::HUNG_UP,
            Self::Keyboard | Self::Quit | Self::Suspend => exit::INTERRUPTED,
        }
    }
}
