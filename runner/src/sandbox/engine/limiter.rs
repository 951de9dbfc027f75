//! Sums the memories and tables of a run, and refuses growth beyond its limits.

use wasmtime::ResourceLimiter;

use crate::limits::Limits;

/// Refuses memory growth beyond the run's limit. The guest sees a failed allocation.
pub struct Limiter {
    memory_left: u64,
    table_left: usize,
    pub memory_peak: u64,
    /// Whether the guest was ever refused memory.
    pub memory_refused: bool,
    /// Refuses in place of the limiter, if the memory is one that can be read.
    pub refusals: Option<Box<dyn RefuseGrowth>>,
}

/// Refuses a memory's growth in place of the limiter.
pub trait RefuseGrowth: Send + Sync {
    /// Makes the memory refuse the growth that the limiter is asked for.
    fn refuse(&self);

    /// Takes note that the growth failed, whoever refused it.
    fn end(&self);
}

impl Limiter {
    #[must_use]
    pub const fn new(limits: &Limits) -> Self {
        Self {
            memory_left: limits.memory_bytes,
            table_left: limits.table_elements,
            memory_peak: 0,
            memory_refused: false,
            refusals: None,
        }
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current) as u64;
        let Some(left) = self.memory_left.checked_sub(more) else {
            self.memory_refused = true;
            self.refusals.iter().for_each(|refusals| refusals.refuse());
            return Ok(self.refusals.is_some());
        };
        self.memory_left = left;
        self.memory_peak += more;
        Ok(true)
    }

    /// Called when the engine refuses growth that this limiter granted, such as beyond the maximum of one memory.
    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.memory_refused = true;
        self.refusals.iter().for_each(|refusals| refusals.end());
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let Some(left) = self.table_left.checked_sub(desired.saturating_sub(current)) else {
            return Ok(false);
        };
        self.table_left = left;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_tables_are_summed() {
        let limits = Limits { memory_bytes: 10, table_elements: 3, ..Limits::DEFAULT };
        let mut limiter = Limiter::new(&limits);
        assert!(limiter.memory_growing(0, 6, None).unwrap());
        assert!(limiter.memory_growing(0, 4, None).unwrap() && !limiter.memory_refused);
        assert!(!limiter.memory_growing(6, 7, None).unwrap() && limiter.memory_refused);
        assert!(limiter.table_growing(0, 3, None).unwrap());
        assert!(!limiter.table_growing(0, 1, None).unwrap());
        assert_eq!(limiter.memory_peak, 10);
    }
}
