//! The bounds of an admission.

/// How much may be inside at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// At work, in the process.
    pub parallel_max: usize,
    /// Waiting for a place, in the process.
    pub queued_max: usize,
    /// At work, of one organisation.
    pub organization_parallel_max: usize,
    /// Waiting for a place, of one organisation.
    pub organization_queued_max: usize,
}

impl Bounds {
    /// With three quarters for each organisation: alone it is hardly held back, and a quarter of the places and of
    /// the queue stays for the others.
    #[must_use]
    pub const fn shared(parallel_max: usize, queued_max: usize) -> Self {
        Self {
            parallel_max,
            queued_max,
            organization_parallel_max: three_quarters(parallel_max),
            organization_queued_max: three_quarters(queued_max),
        }
    }

    pub(super) const fn inside_max(&self) -> usize {
        self.parallel_max.saturating_add(self.queued_max)
    }

    pub(super) const fn organization_inside_max(&self) -> usize {
        self.organization_parallel_max.saturating_add(self.organization_queued_max)
    }
}

/// Rounded up: one place is everybody's.
const fn three_quarters(whole: usize) -> usize {
    whole - whole / 4
}
