use std::sync::Arc;
use std::thread::JoinHandle;

use ambit_ports::store::StoreError;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use crate::failure::{Stop, translate};

/// How many may wait for the writer before their senders wait too.
const QUEUE: usize = 1024;
/// The most that share one transaction, so that the first of them does not wait long for the last.
const BATCH: usize = 64;

/// The one thread that writes.
///
/// Whatever has queued up is done in one transaction, each piece within its own savepoint, and so shares one `fsync`.
/// No piece is answered before that transaction has ended, so no answer ever rests on something that is undone.
pub(crate) struct Writer {
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(connection: Connection) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("ambit-store-writer".to_owned())
            .spawn(move || serve(connection, receiver))?;
        Ok(Self { queue: Some(sender), thread: Some(thread) })
    }

    /// Does `work` in a transaction and answers what it answered, once that is durable.
    ///
    /// Work that was handed over is done even where the future is dropped. It may be done twice, the first time being
    /// undone, and must not keep anything.
    pub(crate) async fn perform<T, R, W>(&self, work: W) -> Result<T, R>
    where
        T: Send + 'static,
        R: From<StoreError> + Send + 'static,
        W: Fn(&Connection) -> Result<T, Stop<R>> + Send + 'static,
    {
        let ended = || R::from(StoreError::Failed("the thread that writes to the store has ended".into()));
        let (reply, answer) = oneshot::channel();
        let piece = Box::new(Piece { work, outcome: None, reply });
        let queue = self.queue.as_ref().ok_or_else(ended)?;
        queue.send(piece).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }
}

impl Drop for Writer {
    /// Waits until what was handed over is done, so that the file is closed when the store is gone.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A piece of work, whatever its answer is.
trait Job: Send {
    /// Does the work, and says whether it is to be kept.
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<bool>;
    /// Hands over the answer of the last run, now that it is true.
    fn answer(self: Box<Self>);
    /// Hands over a failure instead.
    fn fail(self: Box<Self>, error: StoreError);
}

struct Piece<T, R, W> {
    work: W,
    outcome: Option<Result<T, R>>,
    reply: oneshot::Sender<Result<T, R>>,
}

impl<T, R, W> Job for Piece<T, R, W>
where
    T: Send,
    R: From<StoreError> + Send,
    W: Fn(&Connection) -> Result<T, Stop<R>> + Send,
{
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<bool> {
        let outcome = match (self.work)(connection) {
            Ok(answer) => Ok(answer),
            Err(Stop::Refused(refusal)) => Err(refusal),
            Err(Stop::Failed(error)) => return Err(error),
        };
        let keep = outcome.is_ok();
        self.outcome = Some(outcome);
        Ok(keep)
    }

    fn answer(self: Box<Self>) {
        if let Some(outcome) = self.outcome {
            let _ = self.reply.send(outcome);
        }
    }

    fn fail(self: Box<Self>, error: StoreError) {
        let _ = self.reply.send(Err(error.into()));
    }
}

fn serve(mut connection: Connection, mut queue: mpsc::Receiver<Box<dyn Job>>) {
    while let Some(first) = queue.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < BATCH {
            match queue.try_recv() {
                Ok(next) => batch.push(next),
                Err(_) => break,
            }
        }
        settle(&mut connection, batch);
    }
}

/// Why a transaction did not happen.
enum Cut {
    /// One piece met a failure; the others may do better without it.
    One(rusqlite::Error),
    /// The transaction did not begin, or its end failed.
    Whole(rusqlite::Error),
}

fn settle(connection: &mut Connection, mut batch: Vec<Box<dyn Job>>) {
    match attempt(connection, &mut batch) {
        Ok(()) => batch.into_iter().for_each(Job::answer),
        // The transaction is undone and nobody was answered, so each piece can be done again, alone.
        Err(Cut::One(_)) if batch.len() > 1 => {
            for job in batch {
                settle(connection, vec![job]);
            }
        }
        Err(Cut::One(error) | Cut::Whole(error)) => {
            let error = Arc::new(error);
            for job in batch {
                job.fail(translate(&error));
            }
        }
    }
}

/// One transaction, undone where this does not answer `Ok`.
fn attempt(connection: &mut Connection, batch: &mut [Box<dyn Job>]) -> Result<(), Cut> {
    let mut transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(Cut::Whole)?;
    for job in batch {
        let savepoint = transaction.savepoint().map_err(Cut::One)?;
        if job.run(&savepoint).map_err(Cut::One)? {
            savepoint.commit().map_err(Cut::One)?;
        } else {
            savepoint.finish().map_err(Cut::One)?;
        }
    }
    transaction.commit().map_err(Cut::Whole)
}
