//! Tokio runtimes of commands, and the TLS provider.

use std::time::Duration;

use anyhow::Context;
use tokio::runtime::{Builder, Runtime};

/// Time for blocking tasks at the end. After an orderly end only file writes remain.
const SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(1);

/// Installs the TLS provider. It is chosen here so that only one cryptography library is built.
fn install_tls() -> anyhow::Result<()> {
    let installed = rustls::crypto::ring::default_provider().install_default();
    match installed {
        Ok(()) => Ok(()),
        Err(_) if rustls::crypto::CryptoProvider::get_default().is_some() => Ok(()),
        Err(_) => anyhow::bail!("the TLS provider cannot be installed"),
    }
}

/// Runs a server on a multi-threaded runtime. Blocking tasks delay its end by [`SHUTDOWN_TIME_MAX`].
pub fn run_on_many_threads<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    install_tls()?;
    let runtime = Builder::new_multi_thread().enable_all().build().context("starting the runtime")?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_timeout(SHUTDOWN_TIME_MAX);
    outcome
}

/// A runtime for a command that calls a server.
pub fn build_one_thread() -> anyhow::Result<Runtime> {
    install_tls()?;
    Builder::new_current_thread().enable_all().build().context("starting the runtime")
}
