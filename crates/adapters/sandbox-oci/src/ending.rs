//! How a container ended, for everybody who asks.

use std::io;
use std::process::ExitStatus;

use tokio::sync::oneshot;

/// What is told once. Whoever gave up waiting for it can wait again, and each gets the same answer.
pub(crate) struct Ending {
    told: oneshot::Receiver<io::Result<ExitStatus>>,
    known: Option<Result<ExitStatus, io::ErrorKind>>,
}

impl Ending {
    pub(crate) const fn new(told: oneshot::Receiver<io::Result<ExitStatus>>) -> Self {
        Self { told, known: None }
    }

    /// Waits for it.
    pub(crate) async fn told(&mut self) -> io::Result<ExitStatus> {
        let known = match self.known {
            Some(known) => known,
            None => match (&mut self.told).await {
                Ok(told) => told.map_err(|error| error.kind()),
                Err(_) => Err(io::ErrorKind::BrokenPipe),
            },
        };
        self.known = Some(known);
        Ok(known?)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn every_wait_gets_the_same_answer() {
        let (tell, told) = oneshot::channel();
        let mut ending = Ending::new(told);
        assert!(tokio::time::timeout(Duration::ZERO, ending.told()).await.is_err(), "nothing was told");
        tell.send(Ok(ExitStatus::from_raw(9))).unwrap();
        for _ in 0..2 {
            assert_eq!(ending.told().await.unwrap().signal(), Some(9));
        }
        let (tell, told) = oneshot::channel();
        let mut ending = Ending::new(told);
        drop(tell);
        for _ in 0..2 {
            assert_eq!(ending.told().await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        }
    }
}
