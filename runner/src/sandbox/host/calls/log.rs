//! The interface `lathe:tool/log`.

use crate::sandbox::bindings::tool::lathe::tool::log as wire;
use crate::sandbox::host::host_call::HostCall;
use crate::sandbox::host::log_messages;
use crate::sandbox::ports::{LogDocument, LogLevel};

/// A message is part of the printed text, which a replay compares, so that the tape needs no effect for it.
impl wire::Host for HostCall<'_> {
    async fn send(
        &mut self,
        level: wire::Level,
        logger: Option<String>,
        data: String,
    ) -> wasmtime::Result<Result<(), String>> {
        let level = LogLevel::from(level);
        let document = match log_messages::parse_message(level, logger, &data) {
            Ok(document) => document,
            Err(reason) => {
                // Guests go on after a refusal, so that the printed text is the only place that tells of it.
                let left_out = LogDocument { level, logger: None, data: format!("[left out: {reason}]").into() };
                self.log.write_line(&left_out.to_string());
                return Ok(Err(reason));
            }
        };
        self.log.write_line(&document.to_string());
        Ok(self.log_messages.send(document))
    }
}

impl From<wire::Level> for LogLevel {
    fn from(level: wire::Level) -> Self {
        match level {
            wire::Level::Debug => Self::Debug,
            wire::Level::Info => Self::Info,
            wire::Level::Notice => Self::Notice,
            wire::Level::Warning => Self::Warning,
            wire::Level::Error => Self::Error,
            wire::Level::Critical => Self::Critical,
            wire::Level::Alert => Self::Alert,
            wire::Level::Emergency => Self::Emergency,
        }
    }
}
