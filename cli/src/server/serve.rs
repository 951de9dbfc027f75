//! `lathe serve`

use std::net::SocketAddr;

use serde_json::json;
use tokio::sync::oneshot;

use super::telemetry::Telemetry;
use super::{Assembled, ServeArguments, Settings, Signals, assemble};
use crate::failure::Outcome;
use crate::output::Screen;

/// The exit code of a program that a second signal ended.
pub(super) const IMPATIENT_EXIT_CODE: i32 = 130;

pub async fn serve(arguments: ServeArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let settings = Settings::read(arguments)?;
    let telemetry = Telemetry::start(&settings.log, settings.log_format, settings.otlp_endpoint.as_deref())?;
    let signals = Signals::catch()?;
    let assembled = assemble(&settings).await?;
    let url = url_of(assembled.address());
    tracing::info!(%url, data = %settings.data.display(), version = env!("CARGO_PKG_VERSION"), "started");
    screen.answer(&json!({ "url": url }), || format!("listening on {url}"))?;
    run_until_told(assembled, signals).await?;
    telemetry.end().await;
    tracing::info!("stopped");
    Ok(Outcome::Done)
}

/// Serves until the first signal, then lets what runs come to its end; a second signal ends everything at once.
async fn run_until_told(assembled: Assembled, mut signals: Signals) -> anyhow::Result<()> {
    let (stop, stopped) = oneshot::channel::<()>();
    let watch = tokio::spawn(async move {
        let name = signals.next().await;
        tracing::info!(
            signal = name,
            "stopping: nothing new is admitted, what runs has 30 seconds; again to stop at once"
        );
        // Without a receiver the server has ended already.
        let _ = stop.send(());
        let name = signals.next().await;
        tracing::warn!(signal = name, "stopped at once; what ran is closed in the history at the next start");
        std::process::exit(IMPATIENT_EXIT_CODE);
    });
    let served = assembled
        .serve(async {
            // A sender that is gone means the same as a signal.
            let _ = stopped.await;
        })
        .await;
    watch.abort();
    served
}

pub fn url_of(address: SocketAddr) -> String {
    format!("http://{address}")
}
