//! Counters of the changes of users' rules.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use registry::{AccountId, OrganizationId};

/// Counters of the changes of rules, of eight bytes each.
const RULE_COUNTERS: usize = 4_096;

/// Counters of the changes of rules, by a hash of the user: two users of one counter read their rules once more than necessary.
pub(super) struct RuleGenerations {
    counters: Box<[AtomicU64]>,
    hasher: RandomState,
}

impl Default for RuleGenerations {
    fn default() -> Self {
        let counters = (0..RULE_COUNTERS).map(|_| AtomicU64::new(0)).collect();
        Self { counters, hasher: RandomState::new() }
    }
}

impl RuleGenerations {
    /// Returns a number that grows with every change of the rules that a user may have.
    pub fn of(&self, organization: &OrganizationId, account: &AccountId) -> u64 {
        let read = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        read(self.counter(organization, None)) + read(self.counter(organization, Some(account)))
    }

    pub fn advance(&self, organization: &OrganizationId, account: Option<&AccountId>) {
        self.counter(organization, account).fetch_add(1, Ordering::AcqRel);
    }

    pub fn advance_all(&self) {
        for counter in &self.counters {
            counter.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn counter(&self, organization: &OrganizationId, account: Option<&AccountId>) -> &AtomicU64 {
        let number =
            usize::try_from(self.hasher.hash_one((organization, account)) % RULE_COUNTERS as u64).unwrap_or_default();
        &self.counters[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_again_after_a_change_for_the_user_or_for_all() {
        let rules = RuleGenerations::default();
        let acme = OrganizationId::parse("acme").unwrap();
        let ann = AccountId::parse("ann#1").unwrap();
        let mut last = rules.of(&acme, &ann);
        for change in [Some(&ann), None] {
            rules.advance(&acme, change);
            assert!(rules.of(&acme, &ann) > last);
            last = rules.of(&acme, &ann);
        }
        rules.advance_all();
        assert!(rules.of(&acme, &ann) > last);
    }
}
