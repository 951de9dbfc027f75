//! Progress and results of runs.

use std::time::Duration;

use super::text::{GREEN, RED, RESET, duration, printable};
use super::{BuildDisplay, Screen};
use crate::client::{Event, InvocationResult, ResultStatus, Status};

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
            Event::Status(status) => self.build.line(&status_line(status)),
            other => self.build.show(other),
        }
    }
}

fn status_line(status: &Status) -> String {
    let progress = match (status.progress, status.total) {
        (Some(progress), Some(total)) => format!(" ({progress} of {total})"),
        (Some(progress), None) => format!(" ({progress})"),
        (None, _) => String::new(),
    };
    format!("    [{}] {}{progress}", status.input_index + 1, printable(&status.message))
}

pub fn is_all_succeeded(results: &[InvocationResult]) -> bool {
    results.iter().all(|result| matches!(result.status, ResultStatus::Succeeded { .. }))
}

/// Prints results: a single success as its bare output, ready for a pipe, else numbered like the inputs.
pub fn show_results(screen: Screen, results: &[InvocationResult]) -> anyhow::Result<()> {
    if let [InvocationResult { status: ResultStatus::Succeeded { output }, .. }] = results {
        return screen.line(printable(output));
    }
    for (index, result) in results.iter().enumerate() {
        screen.line(result_text(index + 1, result))?;
    }
    Ok(())
}

fn result_text(number: usize, result: &InvocationResult) -> String {
    let took = duration(Duration::from_millis(result.duration_ms));
    match &result.status {
        ResultStatus::Succeeded { output } => format!("[{number}] {GREEN}ok{RESET} {took}  {}", printable(output)),
        ResultStatus::Failed { exception_type, exception_message, exception_stack_trace } => {
            let stack: String = exception_stack_trace
                .iter()
                .map(|frame| format!("\n    {}", printable(frame.trim_end()).replace('\n', "\n    ")))
                .collect();
            format!(
                "[{number}] {RED}failed{RESET} {took}  {}: {}{stack}",
                printable(exception_type),
                printable(exception_message)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_shows_type_message_and_stack() {
        let result = InvocationResult {
            status: ResultStatus::Failed {
                exception_type: "ValueError".to_owned(),
                exception_message: "no such city".to_owned(),
                exception_stack_trace: vec!["tool.py, line 3, in run_tool\n".to_owned()],
            },
            duration_ms: 3,
        };
        let text = result_text(2, &result);
        assert!(text.contains("ValueError: no such city\n    tool.py, line 3, in run_tool"), "{text}");
    }

    #[test]
    fn a_status_event_shows_its_input_and_progress() {
        let status = Status {
            invocation_id: None,
            input_index: 0,
            message: "half".to_owned(),
            progress: Some(1.0),
            total: Some(2.0),
            data: None,
        };
        assert_eq!(status_line(&status), "    [1] half (1 of 2)");
    }
}
