//! Status events of one run, within their limits.

use crate::limits::Limits;
use crate::sandbox::ports::{EventDocument, SharedEventSink};

pub struct Status {
    left: u32,
    accepted: u32,
    refused: u32,
    bytes_max: usize,
    events: SharedEventSink,
}

impl Status {
    pub fn new(limits: &Limits, events: SharedEventSink) -> Self {
        Self { left: limits.status_events, accepted: 0, refused: 0, bytes_max: limits.status_event_bytes, events }
    }

    /// Numbers of accepted and of refused events.
    pub fn counts(&self) -> (u64, u64) {
        (self.accepted.into(), self.refused.into())
    }

    /// The line of the log about refused events.
    pub fn describe_refusals(&self) -> String {
        match self.refused {
            0 => String::new(),
            refused => format!("[{refused} status events were refused: too many or too large]\n"),
        }
    }

    /// Sends an event to its listener.
    ///
    /// # Errors
    /// When the event is refused, with the reason for the tool.
    pub fn send(&mut self, document: &str) -> Result<(), String> {
        if document.len() > self.bytes_max {
            return Err(format!("a status event is at most {} bytes", self.bytes_max));
        }
        let event = serde_json::from_str(document).map_err(|error| error.to_string())?;
        self.left = self.left.checked_sub(1).ok_or("the run has sent all its status events")?;
        self.accepted += 1;
        (self.events)(EventDocument::Status(event));
        Ok(())
    }

    /// Counts a refused event and returns the number of refused events.
    pub const fn refuse(&mut self) -> u32 {
        self.refused = self.refused.saturating_add(1);
        self.refused
    }
}
