//! Work whose server is gone: this server goes on with it.

use registry::Nodes;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::app::App;

/// Takes work over and starts it, up to `parallel_max` pieces at the same time, until this server is about to end. Other pieces wait
/// for their turn, or for another server.
pub(crate) async fn take_over<F, W, E>(app: App, parallel_max: usize, next: impl Fn(App) -> F)
where
    F: Future<Output = Result<Option<W>, E>>,
    W: Future<Output = ()> + Send + 'static,
    E: std::fmt::Display,
{
    let mut going_on = JoinSet::new();
    while !app.readiness().is_ending() {
        while going_on.try_join_next().is_some() {}
        if going_on.len() >= parallel_max {
            going_on.join_next().await;
            continue;
        }
        match next(app.clone()).await {
            Ok(Some(work)) => drop(going_on.spawn(work)),
            Ok(None) => sleep(Nodes::HEARTBEAT).await,
            Err(error) => {
                tracing::debug!(%error, "cannot look for work whose server is gone");
                sleep(Nodes::HEARTBEAT).await;
            }
        }
    }
}
