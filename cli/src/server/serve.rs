//! `lathe serve`: runs a server until a signal.

use std::time::Duration;

use builder::RegistryUrls;
use nix::sys::signal::Signal;
use serde_json::json;
use tokio::sync::oneshot;

use super::builds::BuildWorkers;
use super::registries;
use super::signals::FORCED_EXIT_CODE;
use super::telemetry::Telemetry;
use super::{Assembled, ServeArguments, Settings, Signals, assemble};
use crate::failure::Outcome;
use crate::output::Screen;

/// Serves until a signal. `misspelt` are variables of the environment that are not read, each with the one that was meant.
pub async fn serve(
    arguments: &ServeArguments,
    misspelt: &[(String, String)],
    screen: Screen,
) -> anyhow::Result<Outcome> {
    // Secrets of runs pass through this process.
    runner::wipe_freed_memory();
    let settings = Settings::read(arguments)?;
    let telemetry = Telemetry::start(&settings.values.log, settings.values.otlp_endpoint.as_deref())?;
    let signals = Signals::catch()?;
    let assembled = assemble(&settings).await?;
    let url = assembled.url();
    tracing::info!(%url, data = %settings.location.directory.display(), version = env!("CARGO_PKG_VERSION"), "started");
    for (name, meant) in misspelt {
        tracing::warn!(name, "a variable of the environment is not read; did you mean {meant}?");
    }
    screen.answer(&json!({ "url": url }), || format!("listening on {url}"))?;
    let checking = tokio::spawn(registries::log_checks(choose_registries(&settings)));
    let served = serve_until_signal(assembled, signals, settings.values.drain_delay()).await;
    checking.abort();
    served?;
    tracing::info!("stopped");
    telemetry.end().await;
    Ok(Outcome::Done)
}

/// The registries that this process uses. Build workers check their own.
fn choose_registries(settings: &Settings) -> RegistryUrls {
    match settings.values.build_workers.unwrap_or_default() {
        BuildWorkers::Internal => settings.values.builds.registries().urls(),
        BuildWorkers::External => RegistryUrls::default(),
    }
}

/// Serves until the first signal, and after SIGTERM for `drain_delay`, then finishes the running requests. A second signal
/// ends the process immediately.
async fn serve_until_signal(assembled: Assembled, mut signals: Signals, drain_delay: Duration) -> anyhow::Result<()> {
    let (stop, stopped) = oneshot::channel::<Duration>();
    let watch = tokio::spawn(async move {
        let signal = signals.next().await;
        // Ctrl-C: nobody sends requests to another server meanwhile.
        let delay = if signal == Signal::SIGTERM { drain_delay } else { Duration::ZERO };
        tracing::info!(
            %signal,
            delay_seconds = delay.as_secs(),
            "stopping: not ready from now on, no new connections after the delay, then 30 seconds for running requests; \
             a second signal stops at once"
        );
        // Fails only if the server has ended.
        let _ = stop.send(delay);
        let signal = signals.next().await;
        tracing::warn!(%signal, "stopped at once; the next start closes the records of interrupted runs");
        std::process::exit(FORCED_EXIT_CODE);
    });
    let served = assembled
        .serve(async {
            // A dropped sender stops the server too.
            stopped.await.unwrap_or_default()
        })
        .await;
    watch.abort();
    served
}
