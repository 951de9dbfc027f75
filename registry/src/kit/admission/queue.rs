//! Bookkeeping of admitted and waiting work, and of the organisations' turns.

use std::collections::{HashMap, VecDeque};

use super::bounds::{AdmissionBounds, QueueFull};
use crate::kit::account::OrganizationId;

/// Queue of waiters of type `W`.
#[derive(Debug)]
pub(super) struct Queue<W> {
    admitted: usize,
    running: usize,
    organizations: HashMap<OrganizationId, Share<W>>,
    /// Organisations with waiters, each once, in the order of their turns.
    turns: VecDeque<OrganizationId>,
}

/// Work of one organisation.
#[derive(Debug)]
struct Share<W> {
    admitted: usize,
    running: usize,
    waiting: VecDeque<W>,
}

impl<W> Default for Queue<W> {
    fn default() -> Self {
        Self { admitted: 0, running: 0, organizations: HashMap::new(), turns: VecDeque::new() }
    }
}

impl<W> Default for Share<W> {
    fn default() -> Self {
        Self { admitted: 0, running: 0, waiting: VecDeque::new() }
    }
}

impl<W> Queue<W> {
    /// Admits pieces of work. An empty queue admits a call of any size.
    pub(super) fn enter(
        &mut self,
        bounds: &AdmissionBounds,
        organization: &OrganizationId,
        pieces: usize,
    ) -> Result<(), QueueFull> {
        let own = self.organizations.get(organization).map_or(0, |share| share.admitted);
        if self.admitted > 0 && self.admitted + pieces > bounds.admitted_max() {
            return Err(QueueFull::Process);
        }
        if own > 0 && own + pieces > bounds.organization_admitted_max() {
            return Err(QueueFull::Organization);
        }
        self.admitted += pieces;
        self.organizations.entry(organization.clone()).or_default().admitted += pieces;
        Ok(())
    }

    /// Takes a permit when one is free and there is no waiter.
    pub(super) fn take(&mut self, bounds: &AdmissionBounds, organization: &OrganizationId) -> bool {
        let Some(share) = self.organizations.get_mut(organization) else { return false };
        let has_capacity = self.running < bounds.parallel_max && share.running < bounds.organization_parallel_max;
        let is_free = has_capacity && self.turns.is_empty();
        share.running += usize::from(is_free);
        self.running += usize::from(is_free);
        is_free
    }

    /// Appends a waiter to its organisation's queue.
    pub(super) fn wait(&mut self, organization: &OrganizationId, waiter: W) {
        let share = self.organizations.entry(organization.clone()).or_default();
        share.waiting.push_back(waiter);
        if share.waiting.len() == 1 {
            self.turns.push_back(organization.clone());
        }
    }

    /// Takes a permit for the next waiter; `None` when no permit is free, or no waiter may have one.
    pub(super) fn next(
        &mut self,
        bounds: &AdmissionBounds,
        is_gone: impl Fn(&W) -> bool,
    ) -> Option<(OrganizationId, W)> {
        if self.running >= bounds.parallel_max {
            return None;
        }
        for _ in 0..self.turns.len() {
            let organization = self.turns.pop_front()?;
            let Some(share) = self.organizations.get_mut(&organization) else { continue };
            share.waiting.retain(|waiter| !is_gone(waiter));
            let may_run = share.running < bounds.organization_parallel_max;
            let next = if may_run { share.waiting.pop_front() } else { None };
            if next.is_some() {
                share.running += 1;
                self.running += 1;
            }
            if !share.waiting.is_empty() {
                self.turns.push_back(organization.clone());
            }
            if let Some(waiter) = next {
                return Some((organization, waiter));
            }
        }
        None
    }

    /// Releases a permit.
    pub(super) fn free(&mut self, organization: &OrganizationId) {
        self.running -= 1;
        if let Some(share) = self.organizations.get_mut(organization) {
            share.running -= 1;
        }
        self.forget(organization);
    }

    /// Removes admitted pieces of work.
    pub(super) fn leave(&mut self, organization: &OrganizationId, pieces: usize, is_gone: impl Fn(&W) -> bool) {
        self.admitted -= pieces;
        if let Some(share) = self.organizations.get_mut(organization) {
            share.admitted -= pieces;
            share.waiting.retain(|waiter| !is_gone(waiter));
            if share.waiting.is_empty() {
                self.turns.retain(|other| other != organization);
            }
        }
        self.forget(organization);
    }

    pub(super) const fn running(&self) -> usize {
        self.running
    }

    /// Admitted work without a permit, whether it waits for one yet or not.
    pub(super) const fn waiting(&self) -> usize {
        self.admitted.saturating_sub(self.running)
    }

    /// Removes an organisation without work.
    fn forget(&mut self, organization: &OrganizationId) {
        let is_over = |share: &Share<W>| share.admitted == 0 && share.running == 0 && share.waiting.is_empty();
        if self.organizations.get(organization).is_some_and(is_over) {
            self.organizations.remove(organization);
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.admitted == 0 && self.running == 0 && self.organizations.is_empty() && self.turns.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: AdmissionBounds =
        AdmissionBounds { parallel_max: 3, queued_max: 5, organization_parallel_max: 2, organization_queued_max: 3 };

    fn organization(name: &str) -> OrganizationId {
        OrganizationId::parse(name).unwrap()
    }

    /// Makes a queue with waiters, in this order.
    fn waiting(names: &[&'static str]) -> Queue<&'static str> {
        let mut queue = Queue::default();
        for name in names {
            queue
                .enter(
                    &AdmissionBounds { queued_max: 100, organization_queued_max: 100, ..BOUNDS },
                    &organization(name),
                    1,
                )
                .unwrap();
            queue.wait(&organization(name), *name);
        }
        queue
    }

    fn next(queue: &mut Queue<&'static str>) -> Option<&'static str> {
        queue.next(&BOUNDS, |_| false).map(|(_, waiter)| waiter)
    }

    #[test]
    fn organizations_take_turns_in_any_order_of_arrival() {
        let mut queue = waiting(&["a", "a", "a", "a", "a", "b", "c", "b"]);
        let mut order = Vec::new();
        while let Some(name) = next(&mut queue) {
            order.push(name);
            queue.free(&organization(name));
            queue.leave(&organization(name), 1, |_| false);
        }
        assert_eq!(order, ["a", "b", "c", "a", "b", "a", "a", "a"]);
        assert!(queue.is_empty());
    }

    #[test]
    fn cancelled_waiters_give_no_further_turns() {
        let (a, mut queue) = (organization("a"), waiting(&["b", "b"]));
        for _ in 0..4 {
            queue.enter(&BOUNDS, &a, 1).unwrap();
            queue.wait(&a, "gone");
            // Other work of the organisation is admitted, so that the organisation is not forgotten.
            queue.enter(&AdmissionBounds { queued_max: 100, organization_queued_max: 100, ..BOUNDS }, &a, 1).unwrap();
            queue.leave(&a, 1, |waiter| *waiter == "gone");
        }
        for _ in 0..4 {
            queue.wait(&a, "a");
        }
        let mut order = Vec::new();
        while let Some(name) = next(&mut queue) {
            order.push(name);
            queue.free(&organization(name));
        }
        assert_eq!(order, ["b", "a", "b", "a", "a", "a"]);
    }

    #[test]
    fn an_organization_alone_leaves_permits_for_others() {
        let mut queue = waiting(&["a", "a", "a", "a"]);
        assert_eq!([next(&mut queue), next(&mut queue), next(&mut queue)], [Some("a"), Some("a"), None]);
        queue.enter(&BOUNDS, &organization("b"), 1).unwrap();
        queue.wait(&organization("b"), "b");
        assert_eq!(next(&mut queue), Some("b"));
        assert_eq!(next(&mut queue), None, "all three permits are taken");
        queue.free(&organization("b"));
        assert_eq!(next(&mut queue), None, "the other waiters of `a` are beyond its share");
        queue.free(&organization("a"));
        assert_eq!(next(&mut queue), Some("a"));
    }

    #[test]
    fn a_free_permit_is_taken_immediately_unless_there_is_a_waiter() {
        let ([a, b, c], mut queue) = (["a", "b", "c"].map(organization), Queue::default());
        let all = [&a, &a, &a, &b, &c];
        all.iter().for_each(|who| queue.enter(&BOUNDS, who, 1).unwrap());
        let taken = all.map(|who| queue.take(&BOUNDS, who));
        assert_eq!(taken, [true, true, false, true, false], "two of one, three of all");
        queue.wait(&c, "c");
        queue.free(&b);
        assert_eq!((queue.take(&BOUNDS, &b), next(&mut queue)), (false, Some("c")), "it is the turn of `c`");
    }

    #[test]
    fn a_refusal_names_its_bound() {
        let (a, b, c) = (organization("a"), organization("b"), organization("c"));
        let mut queue = Queue::<()>::default();
        queue.enter(&BOUNDS, &a, 5).unwrap();
        assert_eq!(queue.enter(&BOUNDS, &a, 1), Err(QueueFull::Organization));
        queue.enter(&BOUNDS, &b, 3).unwrap();
        assert_eq!(queue.enter(&BOUNDS, &c, 1), Err(QueueFull::Process));
        assert_eq!(queue.enter(&BOUNDS, &a, 1), Err(QueueFull::Process), "the bound of the process comes first");
        queue.leave(&b, 3, |()| false);
        queue.enter(&BOUNDS, &c, 3).unwrap();
        queue.leave(&a, 5, |()| false);
        queue.leave(&c, 3, |()| false);
        assert!(queue.is_empty());
    }

    #[test]
    fn an_empty_queue_admits_a_call_of_any_size() {
        let mut queue = Queue::<()>::default();
        queue.enter(&BOUNDS, &organization("a"), 10).unwrap();
        assert_eq!(queue.enter(&BOUNDS, &organization("b"), 1), Err(QueueFull::Process));
    }
}

#[cfg(test)]
#[path = "tests/queue_order.rs"]
mod properties;
