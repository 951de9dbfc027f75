//! Runs a call and renders its results, as an invocation and a branch test return them.

use api_kit::error::Error;
use futures_util::stream::poll_fn;
use runner::{Call, EventSender, Invoker, RunEvent};

use crate::wire::{InvocationResult, InvocationResults, StatusEvent};
use crate::work::{Event, Events, FinalResponse};

/// Runs a call and sends its status events while it runs.
pub(super) async fn run(invoker: &Invoker, call: Call, events: &Events) -> Result<FinalResponse, Error> {
    let invoke = |sender| Box::pin(invoker.invoke(call, sender));
    let results = match events.has_reader() {
        true => send_status_events(events, invoke).await?,
        false => invoke(EventSender::none()).await?,
    };
    events.note_results(&results);
    FinalResponse::ok(&InvocationResults {
        invocation_results: results.into_iter().map(InvocationResult::from).collect(),
    })
}

/// Runs `work` and sends its status events. Events that did not fit into the runner's buffer count as dropped.
async fn send_status_events<W: Future + Unpin>(events: &Events, work: impl FnOnce(EventSender) -> W) -> W::Output {
    let (sender, mut statuses) = EventSender::status_channel();
    let statuses = poll_fn(|context| statuses.poll_recv(context));
    let work = work(sender.clone());
    let outcome = events.forward(work, statuses, render_event).await;
    events.count_dropped(sender.dropped());
    outcome
}

/// The event of a stream. Log messages are in the record of the run.
fn render_event(event: RunEvent) -> Option<Event> {
    match event {
        RunEvent::Status(status) => Event::new("status", &StatusEvent::from(status)),
        RunEvent::Log(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use registry::{Clock, RunId};

    use super::*;
    use crate::work::stream_to_end;

    /// A run sends more events in a burst than the buffer holds.
    #[tokio::test]
    async fn no_event_is_lost_without_being_counted() {
        let invocation_id = RunId::new(&Clock::system());
        let (message, progress) = ("again".to_owned(), None);
        let event = runner::StatusEvent { invocation_id, input_index: 0, message, progress, total: None, data: None };
        let burst = |sender: EventSender| {
            for _ in 0..300 {
                sender.send(RunEvent::Status(event.clone()));
            }
            ready(FinalResponse::ok(&"done"))
        };
        let text = stream_to_end(async |events| send_status_events(&events, burst).await).await;
        assert_eq!(text.matches("event: status").count(), 256);
        assert!(text.ends_with("event: done\ndata: {\"events_left_out\":44}\n\n"), "{text}");
    }
}
