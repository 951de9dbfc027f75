//! The bounds of an admission.

/// The bound for which work was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueFull {
    Organization,
    Process,
}

/// Bounds of concurrent work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdmissionBounds {
    /// Concurrent work of the process.
    pub parallel_max: usize,
    /// Work of the process that waits for a permit.
    pub queued_max: usize,
    /// Concurrent work of one organisation.
    pub organization_parallel_max: usize,
    /// Work of one organisation that waits for a permit.
    pub organization_queued_max: usize,
}

impl AdmissionBounds {
    /// Bounds that give each organisation three quarters of the permits and of the queue, and at least one less than all. A
    /// single organisation is hardly slowed down, and a part stays free for the others. Organisations share a single permit in
    /// turns.
    #[must_use]
    pub const fn shared(parallel_max: usize, queued_max: usize) -> Self {
        Self {
            parallel_max,
            queued_max,
            organization_parallel_max: Self::compute_share(parallel_max),
            organization_queued_max: Self::compute_share(queued_max),
        }
    }

    /// The part of a bound that one organisation may have: three quarters, rounded up, and less than the whole unless the whole is one.
    #[must_use]
    pub const fn compute_share(whole: usize) -> usize {
        match whole {
            0 | 1 => whole,
            _ => whole - if whole < 4 { 1 } else { whole / 4 },
        }
    }

    pub(super) const fn admitted_max(&self) -> usize {
        self.parallel_max.saturating_add(self.queued_max)
    }

    pub(super) const fn organization_admitted_max(&self) -> usize {
        self.organization_parallel_max.saturating_add(self.organization_queued_max)
    }
}

#[cfg(test)]
mod tests {
    use super::AdmissionBounds;

    #[test]
    fn an_organization_never_has_all_of_several_permits() {
        let share = |permits| {
            let bounds = AdmissionBounds::shared(permits, permits);
            assert_eq!(bounds.organization_parallel_max, bounds.organization_queued_max);
            bounds.organization_parallel_max
        };
        assert_eq!([0, 1, 2, 3, 4, 5, 8, 32].map(share), [0, 1, 1, 2, 3, 4, 6, 24]);
        assert!((2..200).all(|permits| (1..permits).contains(&share(permits))));
    }
}
