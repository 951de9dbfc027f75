//! `lathe serve`: runs a server until a signal.

use builder::RegistryUrls;
use serde_json::json;
use tokio::sync::oneshot;

use super::builds::BuildWorkers;
use super::registries;
use super::telemetry::Telemetry;
use super::{Assembled, ServeArguments, Settings, Signals, assemble};
use crate::failure::Outcome;
use crate::output::Screen;

/// The exit code after a second signal: 128 and SIGINT's number, as in shells.
pub(super) const FORCED_EXIT_CODE: i32 = 130;

pub async fn serve(arguments: ServeArguments, screen: Screen) -> anyhow::Result<Outcome> {
    // Secrets of runs pass through this process.
    runner::wipe_freed_memory();
    let settings = Settings::read(arguments)?;
    let telemetry = Telemetry::start(&settings.log, settings.log_format, settings.otlp_endpoint.as_deref())?;
    let signals = Signals::catch()?;
    let assembled = assemble(&settings).await?;
    let url = assembled.url();
    tracing::info!(%url, data = %settings.location.directory.display(), version = env!("CARGO_PKG_VERSION"), "started");
    screen.answer(&json!({ "url": url }), || format!("listening on {url}"))?;
    let checking = tokio::spawn(registries::log_checks(registries_of(&settings)));
    let served = serve_until_signal(assembled, signals).await;
    checking.abort();
    served?;
    tracing::info!("stopped");
    telemetry.end().await;
    Ok(Outcome::Done)
}

/// The registries that this process uses. Build workers check their own.
fn registries_of(settings: &Settings) -> RegistryUrls {
    match settings.build_workers {
        BuildWorkers::Internal => settings.builds.registries().urls(),
        BuildWorkers::External => RegistryUrls::default(),
    }
}

/// Serves until the first signal, then finishes the running requests. A second signal ends the process immediately.
async fn serve_until_signal(assembled: Assembled, mut signals: Signals) -> anyhow::Result<()> {
    let (stop, stopped) = oneshot::channel::<()>();
    let watch = tokio::spawn(async move {
        let name = signals.next().await;
        tracing::info!(
            signal = name,
            "stopping: new requests are refused, running ones have 30 seconds; a second signal stops at once"
        );
        // Fails only if the server has ended.
        let _ = stop.send(());
        let name = signals.next().await;
        tracing::warn!(signal = name, "stopped at once; the next start closes the records of interrupted runs");
        std::process::exit(FORCED_EXIT_CODE);
    });
    let served = assembled
        .serve(async {
            // A dropped sender stops the server too.
            let _ = stopped.await;
        })
        .await;
    watch.abort();
    served
}
