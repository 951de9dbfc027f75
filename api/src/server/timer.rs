//! One timer, set again and again.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

/// Completes at no time until it is started.
pub(super) struct Timer {
    sleep: Pin<Box<Sleep>>,
    runs: bool,
}

impl Timer {
    pub(super) fn new() -> Self {
        Self { sleep: Box::pin(sleep(Duration::ZERO)), runs: false }
    }

    pub(super) fn start(&mut self, time: Duration) {
        self.sleep.as_mut().reset(Instant::now() + time);
        self.runs = true;
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.runs { self.sleep.as_mut().poll(context) } else { Poll::Pending }
    }
}
