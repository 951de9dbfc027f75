//! The end of a list: its time is over or its caller is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

#[derive(Clone)]
pub(super) struct Deadline {
    began: Instant,
    time_max: Duration,
    is_cancelled: Arc<AtomicBool>,
}

impl Deadline {
    #[expect(clippy::disallowed_methods, reason = "a duration, independent of the wall clock")]
    pub fn from_now(time_max: Duration) -> Self {
        Self { began: Instant::now(), time_max, is_cancelled: Arc::default() }
    }

    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    pub fn has_passed(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed) || self.left().is_zero()
    }

    pub fn left(&self) -> Duration {
        self.time_max.saturating_sub(self.began.elapsed())
    }

    /// Fails when the time is over.
    pub fn check(&self) -> Result<()> {
        if self.has_passed() { Err(self.too_slow()) } else { Ok(()) }
    }

    pub const fn too_slow(&self) -> Error {
        Error::QueryTooSlow { limit: self.time_max }
    }
}
