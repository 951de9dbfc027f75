//! How often something happened, counted where it happens and read by the run's host.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Count(Arc<AtomicU64>);

impl Count {
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
