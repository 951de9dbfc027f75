//! One line for each step: what, result, time.

use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::output::{DIM, GREEN, RESET, Screen, duration, printable};

/// What a step hands to the next ones, and its result for people.
pub struct Told<T> {
    pub value: T,
    pub result: String,
}

impl<T> Told<T> {
    pub fn new(value: T, result: impl Into<String>) -> Self {
        Self { value, result: result.into() }
    }
}

pub struct Report {
    screen: Screen,
    steps: Vec<Value>,
    current: &'static str,
    is_finished: bool,
}

impl Report {
    pub fn new(screen: Screen) -> Self {
        Self { screen, steps: Vec::new(), current: "the preparation", is_finished: false }
    }

    /// Runs a step, prints its line, and names it in its error.
    pub async fn step<T>(
        &mut self,
        name: &'static str,
        step: impl Future<Output = anyhow::Result<Told<T>>>,
    ) -> anyhow::Result<T> {
        self.current = name;
        let start = Instant::now();
        let number = self.steps.len() + 1;
        let told = step.await.with_context(|| format!("step {number}, {name}"))?;
        self.show(name, &told.result, start.elapsed())?;
        Ok(told.value)
    }

    fn show(&mut self, name: &str, result: &str, took: Duration) -> anyhow::Result<()> {
        let number = self.steps.len() + 1;
        let result = printable(result);
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.steps.push(json!({"step": name, "result": result, "duration_ms": duration_ms}));
        let line = format!("{GREEN}ok{RESET} {number:>2} {name:<26} {result}  {DIM}{}{RESET}", duration(took));
        if self.screen.is_json() {
            self.screen.note(line);
            return Ok(());
        }
        self.screen.line(line)
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
