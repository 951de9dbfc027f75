//! Build events on their way to the client: `step` and `log`.

use builder::{BuildEvent, Progress, StepState};
use futures_util::stream::poll_fn;
use serde::Serialize;

use crate::work::{Event, Events};

#[derive(Serialize)]
struct Step {
    name: &'static str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
}

#[derive(Serialize)]
struct Log {
    line: String,
}

/// Runs `build` and passes on what it reports.
pub(super) async fn reported<F: Future>(events: &Events, build: impl FnOnce(Progress) -> F) -> F::Output {
    let (progress, mut reports) = Progress::channel();
    let reports = poll_fn(|context| reports.poll_recv(context));
    events.pass_on(build(progress), reports, rendered).await
}

fn rendered(event: BuildEvent) -> Option<Event> {
    match event {
        BuildEvent::Step { name, state: StepState::Started } => {
            Event::new("step", &Step { name, state: "started", duration_ms: None })
        }
        BuildEvent::Step { name, state: StepState::Finished { duration_ms } } => {
            Event::new("step", &Step { name, state: "finished", duration_ms: Some(duration_ms) })
        }
        BuildEvent::Log { line } => Event::new("log", &Log { line }),
    }
}
