use tokio::signal::unix::{SignalKind, signal};

use crate::failure::exit;

/// Waits until somebody wants this program to end, and gives the exit code that says so.
pub(crate) async fn interrupted() -> u8 {
    let (Ok(mut terminated), Ok(mut hung_up)) =
        (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        // Without a place for them, the signals end the program as they end any other.
        let _ = tokio::signal::ctrl_c().await;
        return exit::INTERRUPTED;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => exit::INTERRUPTED,
        _ = terminated.recv() => exit::TERMINATED,
        // The terminal was closed.
        _ = hung_up.recv() => exit::HUNG_UP,
    }
}
