use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use ambit_ports::store::StoreError;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::failure::failed;

/// How many may wait for a reader before their senders wait too.
const QUEUE: usize = 1024;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// Threads that read, each on its own connection. They see what is committed and never wait for the writer.
pub(crate) struct Readers {
    queue: Option<mpsc::Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(crate) fn start(connections: Vec<Connection>) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let receiver = Arc::new(Mutex::new(receiver));
        let mut readers = Self { queue: Some(sender), threads: Vec::new() };
        for connection in connections {
            let receiver = Arc::clone(&receiver);
            let thread =
                std::thread::Builder::new().name("ambit-store-reader".to_owned()).spawn(move || {
                    while let Some(job) = next(&receiver) {
                        job(&connection);
                    }
                })?;
            readers.threads.push(thread);
        }
        Ok(readers)
    }

    /// Answers what `query` reads.
    pub(crate) async fn read<T, Q>(&self, query: Q) -> Result<T, StoreError>
    where
        T: Send + 'static,
        Q: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let ended = || StoreError::Failed("the threads that read the store have ended".into());
        let (reply, answer) = oneshot::channel();
        let job = Box::new(move |connection: &Connection| {
            let _ = reply.send(query(connection).map_err(failed));
        });
        let queue = self.queue.as_ref().ok_or_else(ended)?;
        queue.send(job).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())?
    }
}

fn next(queue: &Mutex<mpsc::Receiver<Job>>) -> Option<Job> {
    queue.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
