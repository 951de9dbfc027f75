//! Status events, which a tool sends to its caller during a run.

use serde::Serialize;
use serde_json::Value;

/// A status event: a text for people, the progress in any unit, and any JSON value.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StatusEvent {
    message: String,
    progress: Option<f64>,
    total: Option<f64>,
    data: Option<Value>,
}

impl StatusEvent {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    #[must_use]
    pub fn progress(self, progress: f64, total: f64) -> Self {
        Self { progress: Some(progress), total: Some(total), ..self }
    }

    #[must_use]
    pub fn data(self, data: impl Into<Value>) -> Self {
        Self { data: Some(data.into()), ..self }
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether JSON has the numbers of the event.
    pub(crate) fn is_finite(&self) -> bool {
        [self.progress, self.total].into_iter().flatten().all(f64::is_finite)
    }
}

impl<Text: Into<String>> From<Text> for StatusEvent {
    fn from(message: Text) -> Self {
        Self::new(message)
    }
}
