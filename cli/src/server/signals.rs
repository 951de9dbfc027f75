//! SIGTERM and SIGINT.

use nix::sys::signal::Signal;
use tokio::signal::unix::{self, SignalKind, signal};

/// The exit code after a second signal: 128 and SIGINT's number, as in shells.
pub(super) const FORCED_EXIT_CODE: i32 = 130;

/// Handlers of SIGTERM and SIGINT, to be installed before anything starts that needs an orderly end.
pub struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
}

impl Signals {
    pub fn catch() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::SIGTERM,
            _ = self.interrupt.recv() => Signal::SIGINT,
        }
    }
}
