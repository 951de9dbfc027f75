//! The report of the demo: one line per step, with its result and duration.

use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::output::{DIM, GREEN, RESET, Screen, escape_hidden, render_duration};

/// The result of a step: a value for later steps, and a text for the report.
pub struct StepResult<T> {
    pub value: T,
    pub text: String,
}

impl<T> StepResult<T> {
    pub fn new(value: T, text: impl Into<String>) -> Self {
        Self { value, text: text.into() }
    }
}

pub struct DemoReport {
    screen: Screen,
    steps: Vec<Value>,
    current: &'static str,
    is_finished: bool,
}

impl DemoReport {
    pub fn new(screen: Screen) -> Self {
        Self { screen, steps: Vec::new(), current: "the preparation", is_finished: false }
    }

    /// Runs a step and prints its line. Its error names the step.
    pub async fn run_step<T>(
        &mut self,
        name: &'static str,
        step: impl Future<Output = anyhow::Result<StepResult<T>>>,
    ) -> anyhow::Result<T> {
        self.current = name;
        let start = Instant::now();
        let number = self.steps.len() + 1;
        let result = step.await.with_context(|| format!("step {number}, {name}"))?;
        self.show(name, &result.text, start.elapsed())?;
        Ok(result.value)
    }

    fn show(&mut self, name: &str, result: &str, took: Duration) -> anyhow::Result<()> {
        let number = self.steps.len() + 1;
        let result = escape_hidden(result);
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.steps.push(json!({"step": name, "result": result, "duration_ms": duration_ms}));
        let line = format!("{GREEN}ok{RESET} {number:>2} {name:<26} {result}  {DIM}{}{RESET}", render_duration(took));
        if self.screen.is_json() {
            self.screen.note(line);
            return Ok(());
        }
        self.screen.print_line(line)
    }

    pub fn screen(&self) -> Screen {
        self.screen
    }

    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    pub fn current(&self) -> &'static str {
        self.current
    }

    pub fn steps(&self) -> &[Value] {
        &self.steps
    }
}
