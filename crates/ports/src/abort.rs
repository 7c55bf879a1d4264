use tokio::sync::watch;

/// The side that asks a running operation to stop.
#[derive(Debug)]
pub struct AbortHandle(watch::Sender<bool>);

/// The side that a running operation watches. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AbortSignal(watch::Receiver<bool>);

impl AbortHandle {
    /// A handle and the signal that it raises.
    #[must_use]
    pub fn new() -> (Self, AbortSignal) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), AbortSignal(receiver))
    }

    /// Raises the signal. Raising it twice is raising it once.
    pub fn abort(&self) {
        self.0.send_replace(true);
    }
}

impl AbortSignal {
    /// Whether the signal is raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the signal is raised. A handle that is dropped without raising it never raises it.
    pub async fn raised(&mut self) {
        if self.0.wait_for(|raised| *raised).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
