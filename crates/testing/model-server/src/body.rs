//! The body of an answer: whole, or in steps of which some never come.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

/// Bytes of which a body without end sends at once at the least.
const FILLING_BYTES: usize = 16 * 1024;

/// The server breaks the connection off, as the script wants it.
#[derive(Debug, thiserror::Error)]
#[error("the connection is broken off on purpose")]
pub(crate) struct BrokenOff;

pub(crate) enum AnswerBody {
    Whole(Bytes),
    Steps(mpsc::Receiver<Result<Bytes, BrokenOff>>),
}

/// One thing that a body does.
pub(crate) enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Sends this again and again, until the client goes away.
    Forever(Vec<u8>),
    /// Does nothing more, until the client goes away.
    Hold,
    BreakOff,
}

impl AnswerBody {
    pub(crate) fn whole(bytes: Vec<u8>) -> Self {
        Self::Whole(bytes.into())
    }

    /// Takes the steps as fast as the client reads.
    pub(crate) fn of(steps: Vec<Step>) -> Self {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(take(steps, sender));
        Self::Steps(receiver)
    }
}

async fn take(steps: Vec<Step>, sender: mpsc::Sender<Result<Bytes, BrokenOff>>) {
    for step in steps {
        let goes_on = match step {
            Step::Send(bytes) => sender.send(Ok(bytes.into())).await.is_ok(),
            Step::Wait(time) => {
                tokio::time::sleep(time).await;
                true
            }
            Step::Forever(bytes) => {
                let times = FILLING_BYTES.div_ceil(bytes.len().max(1));
                let filling = Bytes::from(bytes.repeat(times));
                while sender.send(Ok(filling.clone())).await.is_ok() {}
                false
            }
            Step::Hold => {
                sender.closed().await;
                false
            }
            Step::BreakOff => {
                // Hyper drops what it has not yet written when a body fails.
                tokio::time::sleep(Duration::from_millis(20)).await;
                sender.send(Err(BrokenOff)).await.is_ok()
            }
        };
        if !goes_on {
            return;
        }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        match self.get_mut() {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Steps(receiver) => {
                receiver.poll_recv(context).map(|next| next.map(|next| next.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(u64::try_from(bytes.len()).unwrap_or(u64::MAX)),
            Self::Steps(_) => SizeHint::default(),
        }
    }
}
