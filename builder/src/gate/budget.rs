//! The work budget of a comparison.

use std::cell::Cell;

/// Values of both schemas that one comparison may examine, repeated examinations included. Each takes about ten
/// nanoseconds. Two schemas of 256 KiB have 20,000 values, and versions differ in few of them.
const VALUES_MAX: u64 = 5_000_000;
/// Bytes of a text that are compared in the time of one value.
const TEXT_BYTES: usize = 32;

/// The remaining work of a comparison. Once it is used up, compatibility cannot be shown, so that a change counts as
/// breaking.
pub struct Budget(Cell<u64>);

impl Budget {
    pub const fn new() -> Self {
        Self(Cell::new(VALUES_MAX))
    }

    /// Deducts the work for a number of values. Returns `false` when less is left.
    pub fn spend(&self, values: usize) -> bool {
        self.spend_steps(values as u64)
    }

    pub fn spend_steps(&self, steps: u64) -> bool {
        let left = self.0.get().checked_sub(steps);
        self.0.set(left.unwrap_or_default());
        left.is_some()
    }

    pub fn spend_text(&self, text: &str) -> bool {
        self.spend(1 + text.len() / TEXT_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exceeded_budget_stays_exceeded() {
        let budget = Budget::new();
        assert!(budget.spend(1) && budget.spend_text(&"x".repeat(64)));
        assert_eq!(budget.0.get(), VALUES_MAX - 4);
        assert!(!budget.spend_steps(VALUES_MAX));
        assert!(!budget.spend(1));
    }
}
