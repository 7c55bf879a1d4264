use tokio::signal::unix::{SignalKind, signal};

use crate::failure::exit;

/// Waits until somebody wants this program to end, and gives the exit code that says so.
pub(crate) async fn interrupted() -> u8 {
    let Ok(mut terminated) = signal(SignalKind::terminate()) else {
        // Without a place for it, the signal ends the program as it ends any other.
        let _ = tokio::signal::ctrl_c().await;
        return exit::INTERRUPTED;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => exit::INTERRUPTED,
        _ = terminated.recv() => exit::TERMINATED,
    }
}
