//! Progress and results of runs.

use std::time::Duration;

use api::wire::{InvocationResult, RunOutcome, StatusEvent};

use super::text::{GREEN, RED, RESET, escape_hidden, render_duration};
use super::{BuildDisplay, Screen};
use crate::client::Event;

/// Progress of a streamed call: build steps and status events.
pub struct RunDisplay {
    build: BuildDisplay,
}

impl RunDisplay {
    pub fn start(what: &str) -> Self {
        Self { build: BuildDisplay::start(what) }
    }

    pub fn show(&self, event: &Event) {
        match event {
            Event::Status(status) => self.build.print_line(&render_status(status)),
            other => self.build.show(other),
        }
    }
}

fn render_status(status: &StatusEvent) -> String {
    let progress = match (status.progress, status.total) {
        (Some(progress), Some(total)) => format!(" ({progress} of {total})"),
        (Some(progress), None) => format!(" ({progress})"),
        (None, _) => String::new(),
    };
    format!("    [{}] {}{progress}", status.input_index + 1, escape_hidden(&status.message))
}

pub fn is_all_succeeded(results: &[InvocationResult]) -> bool {
    results.iter().all(|result| result.outcome.is_success())
}

/// Prints results: a single success as its bare output, ready for a pipe, else numbered like the inputs.
pub fn show_results(screen: Screen, results: &[InvocationResult]) -> anyhow::Result<()> {
    let outcomes: Vec<_> = results.iter().map(|result| (&result.outcome, result.duration_ms)).collect();
    show_outcomes(screen, &outcomes)
}

/// Prints outcomes with their durations in milliseconds, like [`show_results`].
pub fn show_outcomes(screen: Screen, outcomes: &[(&RunOutcome, u64)]) -> anyhow::Result<()> {
    if let [(RunOutcome::Succeeded { output, .. }, _)] = outcomes {
        return screen.print_line(escape_hidden(output));
    }
    for (index, (outcome, duration_ms)) in outcomes.iter().enumerate() {
        screen.print_line(render_outcome(index + 1, outcome, Duration::from_millis(*duration_ms)))?;
    }
    Ok(())
}

fn render_outcome(number: usize, outcome: &RunOutcome, took: Duration) -> String {
    let took = render_duration(took);
    match outcome {
        RunOutcome::Succeeded { output, .. } => {
            format!("[{number}] {GREEN}ok{RESET} {took}  {}", escape_hidden(output))
        }
        RunOutcome::Failed { exception_type, exception_message, exception_stack_trace, .. } => {
            let stack: String = exception_stack_trace
                .iter()
                .map(|frame| format!("\n    {}", escape_hidden(frame.trim_end()).replace('\n', "\n    ")))
                .collect();
            format!(
                "[{number}] {RED}failed{RESET} {took}  {}: {}{stack}",
                escape_hidden(exception_type),
                escape_hidden(exception_message)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_shows_type_message_and_stack() {
        let outcome = RunOutcome::Failed {
            succeeded: false,
            exception_type: "ValueError".to_owned(),
            exception_message: "no such city".to_owned(),
            exception_stack_trace: vec!["tool.py, line 3, in run_tool\n".to_owned()],
        };
        let text = render_outcome(2, &outcome, Duration::from_millis(3));
        assert!(text.contains("ValueError: no such city\n    tool.py, line 3, in run_tool"), "{text}");
    }

    #[test]
    fn a_status_event_shows_its_input_and_progress() {
        let status = StatusEvent {
            invocation_id: String::new(),
            input_index: 0,
            message: "half".to_owned(),
            progress: Some(1.0),
            total: Some(2.0),
            data: None,
        };
        assert_eq!(render_status(&status), "    [1] half (1 of 2)");
    }
}
