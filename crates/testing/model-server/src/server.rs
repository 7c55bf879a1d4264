//! The server: where it listens, how long it lives, and what it tells of what it saw.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::bill::{Bill, Price};
use crate::connection::Connection;
use crate::exchange::{Kept, Shared, TakenRequest};
use crate::script::{Script, ScriptError};
use crate::stage::Stage;
use crate::wire::Wire;

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct ServerBuilder {
    script: Script,
    key: Option<String>,
    price: Price,
    wires: Vec<Wire>,
    port: u16,
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A pattern of the script is none.
    #[error("the script can not be played")]
    Script(#[from] ScriptError),
    /// There is no port, or no thread.
    #[error("the server could not start to listen on the loopback")]
    Listen(#[from] std::io::Error),
    /// The server's thread ended before it listened.
    #[error("the server ended before it listened")]
    Ended,
}

impl StartError {
    /// The stable name of the error.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Script(cause) => cause.code(),
            Self::Listen(_) => "SERVER_NOT_LISTENING",
            Self::Ended => "SERVER_ENDED",
        }
    }
}

/// A server on the loopback, in a thread of its own. It ends when this is dropped.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ServerBuilder {
    /// Only this key is right; without it, any is that is not empty.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// What tokens cost.
    #[must_use]
    pub fn price(mut self, price: Price) -> Self {
        self.price = price;
        self
    }

    /// Only these wires answer.
    #[must_use]
    pub fn wires(mut self, wires: &[Wire]) -> Self {
        self.wires = wires.to_vec();
        self
    }

    /// This port instead of any that is free.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Starts it; it answers once this returns. Works inside and outside of an async runtime.
    ///
    /// # Errors
    /// Where the script holds a pattern that is none, or the port is taken.
    pub fn start(self) -> Result<ModelServer, StartError> {
        let shared = Arc::new(Shared {
            price: self.price,
            key: self.key,
            wires: self.wires,
            stage: Mutex::new(Stage::of(self.script)?),
            kept: Mutex::new(Kept::default()),
        });
        let (ready, listening) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let (port, serving) = (self.port, Arc::clone(&shared));
        let thread = std::thread::Builder::new()
            .name("model-server".to_owned())
            .spawn(move || live(port, serving, &ready, stopped))?;
        let address = listening.recv().map_err(|_| StartError::Ended)??;
        Ok(ModelServer { address, shared, stop: Some(stop), thread: Some(thread) })
    }
}

impl ModelServer {
    /// A server of this script, still to be started.
    #[must_use]
    pub fn builder(script: Script) -> ServerBuilder {
        ServerBuilder { script, key: None, price: Price::default(), wires: Wire::ALL.to_vec(), port: 0 }
    }

    /// Starts a server of this script on any free port.
    ///
    /// # Errors
    /// Those of [`ServerBuilder::start`].
    pub fn start(script: Script) -> Result<Self, StartError> {
        Self::builder(script).start()
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end. The vendor's paths, which begin with `/v1`, follow it.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What was asked and what it cost, so far.
    #[must_use]
    pub fn bill(&self) -> Bill {
        self.shared.kept().bill.clone()
    }

    /// Every request that came, also to paths where nothing answers.
    #[must_use]
    pub fn requests(&self) -> Vec<TakenRequest> {
        self.shared.kept().requests.clone()
    }

    /// What the script did not foresee: requests without a turn, captures that found nothing.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        self.shared.kept().problems.clone()
    }

    /// The places of the turns that are not used up, from 0.
    #[must_use]
    pub fn unused_turns(&self) -> Vec<usize> {
        self.shared.stage().unused()
    }

    /// Waits until the server ends, which by itself it does not.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told so itself.
            let _panicked = thread.join();
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ended_already = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

fn live(
    port: u16,
    shared: Arc<Shared>,
    ready: &mpsc::Sender<std::io::Result<SocketAddr>>,
    stopped: oneshot::Receiver<()>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(cause) => {
            let _nobody_waits = ready.send(Err(cause));
            return;
        }
    };
    runtime.block_on(async {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let bound = bound.and_then(|listener| Ok((listener.local_addr()?, listener)));
        match bound {
            Ok((address, listener)) => {
                let _nobody_waits = ready.send(Ok(address));
                tokio::select! {
                    () = serve(&listener, shared) => {}
                    _ = stopped => {}
                }
            }
            Err(cause) => {
                let _nobody_waits = ready.send(Err(cause));
            }
        }
    });
}

async fn serve(listener: &TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, or a client that went away: the next may do better.
            tokio::task::yield_now().await;
            continue;
        };
        let _slower = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        let resets = Arc::new(AtomicBool::new(false));
        let connection = TokioIo::new(Connection::of(stream, Arc::clone(&resets)));
        tokio::spawn(async move {
            let answer = service_fn(|request| shared.answer(request, &resets));
            // A client that leaves in the midst is its own affair, and ours to leave in the midst is the script's.
            let _broken = http1::Builder::new().serve_connection(connection, answer).await;
        });
    }
}
