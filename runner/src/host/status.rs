//! Status events: admitted, counted, and handed to whoever listens.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::EventSink;
use crate::bindings::tool::lathe::tool::status;
use crate::limits::Limits;
use crate::tape::{Body, Effect};

/// After this many refused events a run only burns time by asking again.
const REFUSED_MAX: u32 = 1_000;

/// The guest's document; anything else in it is ignored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Event {
    pub message: String,
    #[serde(default)]
    pub progress: Option<f64>,
    #[serde(default)]
    pub total: Option<f64>,
    #[serde(default)]
    pub data: Option<Value>,
}

pub struct Status {
    left: u32,
    taken: u32,
    refused: u32,
    bytes_max: usize,
    events: EventSink,
}

impl Status {
    pub fn new(limits: &Limits, events: EventSink) -> Self {
        Self { left: limits.status_events, taken: 0, refused: 0, bytes_max: limits.status_event_bytes, events }
    }

    /// How many events were taken, and how many were not.
    pub fn counts(&self) -> (u64, u64) {
        (self.taken.into(), self.refused.into())
    }

    /// What the record says of events that were not taken.
    pub fn refusals(&self) -> String {
        match self.refused {
            0 => String::new(),
            refused => format!("[{refused} status events were refused: too many or too large]\n"),
        }
    }

    fn send(&mut self, document: &str) -> Result<(), String> {
        if document.len() > self.bytes_max {
            return Err(format!("a status event is at most {} bytes", self.bytes_max));
        }
        let event = serde_json::from_str(document).map_err(|error| error.to_string())?;
        self.left = self.left.checked_sub(1).ok_or("the run has sent all its status events")?;
        self.taken += 1;
        (self.events)(event);
        Ok(())
    }
}

impl status::Host for super::Called<'_> {
    async fn send(&mut self, event: String) -> wasmtime::Result<Result<(), String>> {
        let sent = self.status.send(&event);
        self.effect(|_| Effect::Told { said: said(&event, sent.is_ok()), is_taken: sent.is_ok() })?;
        if sent.is_err() {
            self.status.refused += 1;
            if self.status.refused > REFUSED_MAX && self.source.is_world() {
                // Waiting costs the guest its own deadline and the host nothing.
                tokio::time::sleep(crate::ticker::TICK).await;
            }
        }
        Ok(sent)
    }
}

/// What nobody took may be as large as it likes, and come as often.
fn said(event: &str, is_taken: bool) -> Body {
    if is_taken { Body::whole(event.as_bytes()) } else { Body::digest(event.as_bytes()) }
}
