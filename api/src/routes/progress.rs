//! Sends the events of a build to the client: `step` and `log`.

use builder::{BuildEvent, BuildProgress};
use futures_util::stream::poll_fn;

use crate::wire::{BuildLog, BuildStep};
use crate::work::{Event, Events};

/// Runs `build` and sends its events.
pub(super) async fn report<F: Future>(events: &Events, build: impl FnOnce(BuildProgress) -> F) -> F::Output {
    let (progress, mut reports) = BuildProgress::channel();
    let reports = poll_fn(|context| reports.poll_recv(context));
    events.forward(Box::pin(build(progress)), reports, render_event).await
}

fn render_event(event: BuildEvent) -> Option<Event> {
    match event {
        BuildEvent::Step { name, state } => Event::new("step", &BuildStep::new(name, state)),
        BuildEvent::Log { line } => Event::new("log", &BuildLog { line }),
    }
}
