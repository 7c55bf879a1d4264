use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ambit_broker::{Broker, Ground};
use ambit_ids::Digest;
use ambit_run::{Denial, Move};
use serde_json::{Value, json};

use crate::notes;

/// What a run keeps between turns in memory. Nothing here is needed to go on after a crash.
#[derive(Clone, Default)]
pub(crate) struct Conversation {
    inner: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    /// Calls of an answer that held several; they are taken one a turn, before the agent is asked again.
    queued: VecDeque<(Place, Result<Move, Denial>)>,
    /// The place of the call whose reply comes next.
    awaited: Option<Place>,
    /// What the agent gets to read of everything since it was last asked, in order.
    since: Vec<Value>,
    /// The notes of the project, once they were read.
    notes: Option<Value>,
}

/// Where a call stands in an answer.
#[derive(Clone, Copy)]
struct Place {
    answer: Digest,
    index: usize,
}

impl Conversation {
    /// Keeps what the agent gets to read of the call that was taken last, or of what happened without one.
    pub(crate) fn tell(&self, reply: &Value) {
        let mut kept = self.kept();
        let told = match kept.awaited.take() {
            Some(Place { answer, index }) => json!({"answer": answer, "index": index, "reply": reply}),
            None => json!({"reply": reply}),
        };
        kept.since.push(told);
    }

    /// Everything since the agent was last asked, oldest first.
    pub(crate) fn since(&self) -> Vec<Value> {
        self.kept().since.clone()
    }

    /// Takes an answer: its first call is in hand, the others wait.
    pub(crate) fn answered(&self, answer: Digest, rest: Vec<Result<Move, Denial>>) {
        let mut kept = self.kept();
        kept.since.clear();
        kept.awaited = Some(Place { answer, index: 0 });
        kept.queued = (1..).map(|index| Place { answer, index }).zip(rest).collect();
    }

    /// The next call that waits, with the digest of the answer that it stood in.
    pub(crate) fn next_queued(&self) -> Option<(Digest, Result<Move, Denial>)> {
        let mut kept = self.kept();
        let (place, next) = kept.queued.pop_front()?;
        kept.awaited = Some(place);
        Some((place.answer, next))
    }

    /// The notes of the project. They are read once; where they could not be, this turn says so and the next one tries
    /// again.
    pub(crate) async fn notes(&self, broker: &Broker, ground: &Ground) -> Value {
        if let Some(notes) = self.kept().notes.clone() {
            return notes;
        }
        match notes::read(broker, ground).await {
            Ok(notes) => {
                self.kept().notes = Some(notes.clone());
                notes
            }
            Err(code) => notes::unreadable(code),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
