//! Log messages with a level.

use serde_json::Value;

/// The levels of syslog, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// A log message: a level, any JSON value of at most 8 KiB, and the name of a logger.
#[derive(Debug, Clone, PartialEq)]
pub struct LogMessage {
    pub(crate) level: LogLevel,
    pub(crate) logger: Option<String>,
    pub(crate) data: Value,
}

impl LogMessage {
    pub fn new(level: LogLevel, data: impl Into<Value>) -> Self {
        Self { level, logger: None, data: data.into() }
    }

    /// Sets the name of the logger.
    #[must_use]
    pub fn logger(self, name: impl Into<String>) -> Self {
        Self { logger: Some(name.into()), ..self }
    }

    pub fn level(&self) -> LogLevel {
        self.level
    }

    pub fn data(&self) -> &Value {
        &self.data
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{context, take_logs};

    #[test]
    fn messages_are_sent_in_their_order() {
        let context = context();
        context.log(LogLevel::Warning, "the rate is missing");
        context.send_log(LogMessage::new(LogLevel::Debug, json!({"rows": 12})).logger("billing"));
        let sent = take_logs();
        assert_eq!(sent[0], LogMessage::new(LogLevel::Warning, "the rate is missing"));
        assert_eq!((sent[1].level(), sent[1].data()), (LogLevel::Debug, &json!({"rows": 12})));
        assert_eq!(sent[1].logger.as_deref(), Some("billing"));
    }
}
