//! Log messages of one run, within their limits.

use crate::sandbox::ports::{
    EventDocument, LOG_DATA_BYTES_MAX, LOG_MESSAGES_MAX, LOGGER_BYTES_MAX, LogDocument, LogLevel, SharedEventSink,
};

pub struct LogMessages {
    left: u32,
    events: SharedEventSink,
}

/// Parses a message of a guest.
///
/// # Errors
/// When the message is too large or malformed, with the reason for the tool.
pub fn parse_message(level: LogLevel, logger: Option<String>, data: &str) -> Result<LogDocument, String> {
    if data.len() > LOG_DATA_BYTES_MAX {
        return Err(format!("the data of a log message has at most {LOG_DATA_BYTES_MAX} bytes"));
    }
    if logger.as_ref().is_some_and(|logger| !LogDocument::is_logger(logger)) {
        return Err(format!("a logger has 1 to {LOGGER_BYTES_MAX} bytes without control characters"));
    }
    let data = serde_json::from_str(data).map_err(|error| format!("the data of a log message is not JSON: {error}"))?;
    Ok(LogDocument { level, logger, data })
}

impl LogMessages {
    pub fn new(events: SharedEventSink) -> Self {
        Self { left: LOG_MESSAGES_MAX, events }
    }

    /// Sends a message to its listener.
    ///
    /// # Errors
    /// When the run has sent all its messages, with the reason for the tool.
    pub fn send(&mut self, document: LogDocument) -> Result<(), String> {
        let spent =
            || format!("the listener receives {LOG_MESSAGES_MAX} log messages of a run; the record has this one");
        self.left = self.left.checked_sub(1).ok_or_else(spent)?;
        (self.events)(EventDocument::Log(document));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::json;

    use super::*;

    #[test]
    fn malformed_messages_are_refused() {
        let refused = |logger: Option<&str>, data: &str| {
            parse_message(LogLevel::Info, logger.map(str::to_owned), data).expect_err("a refusal")
        };
        assert!(refused(None, "plain").contains("is not JSON"));
        assert!(refused(None, &format!("\"{}\"", "x".repeat(LOG_DATA_BYTES_MAX))).contains("at most"));
        for logger in ["", "a\nb", &"x".repeat(LOGGER_BYTES_MAX + 1)] {
            assert!(refused(Some(logger), "1").contains("a logger has"), "{logger:?}");
        }
    }

    #[test]
    fn the_listener_receives_a_bounded_number_of_messages() {
        let received = Arc::new(Mutex::new(0));
        let counter = received.clone();
        let mut messages = LogMessages::new(Arc::new(move |_| *counter.lock().unwrap() += 1));
        let document = || LogDocument { level: LogLevel::Alert, logger: None, data: json!(1) };
        for _ in 0..LOG_MESSAGES_MAX {
            messages.send(document()).unwrap();
        }
        assert!(messages.send(document()).is_err());
        assert_eq!(*received.lock().unwrap(), LOG_MESSAGES_MAX);
    }
}
