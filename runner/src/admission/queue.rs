//! Who is inside, who waits and whose turn it is: the bookkeeping, without waiting.

use std::collections::{HashMap, VecDeque};

use registry::OrganizationId;

use super::{Bounds, Full};

/// `W` stands for something that waits.
#[derive(Debug)]
pub(super) struct Queue<W> {
    inside: usize,
    running: usize,
    organizations: HashMap<OrganizationId, Share<W>>,
    /// Organisations in which something waits, the next one first; each once.
    turns: VecDeque<OrganizationId>,
}

/// What is inside of one organisation.
#[derive(Debug)]
struct Share<W> {
    inside: usize,
    running: usize,
    waiting: VecDeque<W>,
}

impl<W> Default for Queue<W> {
    fn default() -> Self {
        Self { inside: 0, running: 0, organizations: HashMap::new(), turns: VecDeque::new() }
    }
}

impl<W> Default for Share<W> {
    fn default() -> Self {
        Self { inside: 0, running: 0, waiting: VecDeque::new() }
    }
}

impl<W> Queue<W> {
    /// Lets pieces of work in. Into an empty house goes one call of any size.
    pub(super) fn enter(&mut self, bounds: &Bounds, organization: &OrganizationId, pieces: usize) -> Result<(), Full> {
        let own = self.organizations.get(organization).map_or(0, |share| share.inside);
        if self.inside > 0 && self.inside + pieces > bounds.inside_max() {
            return Err(Full::Process);
        }
        if own > 0 && own + pieces > bounds.organization_inside_max() {
            return Err(Full::Organization);
        }
        self.inside += pieces;
        self.organizations.entry(organization.clone()).or_default().inside += pieces;
        Ok(())
    }

    /// Takes a place that is free when nobody waits for one.
    pub(super) fn take(&mut self, bounds: &Bounds, organization: &OrganizationId) -> bool {
        let Some(share) = self.organizations.get_mut(organization) else { return false };
        let has_room = self.running < bounds.parallel_max && share.running < bounds.organization_parallel_max;
        let is_free = has_room && self.turns.is_empty();
        share.running += usize::from(is_free);
        self.running += usize::from(is_free);
        is_free
    }

    /// Puts something at the end of its organisation's line.
    pub(super) fn wait(&mut self, organization: &OrganizationId, waiter: W) {
        let share = self.organizations.entry(organization.clone()).or_default();
        share.waiting.push_back(waiter);
        if share.waiting.len() == 1 {
            self.turns.push_back(organization.clone());
        }
    }

    /// Takes a place for whoever has the turn; nothing when there is none, or nobody may have one.
    pub(super) fn next(&mut self, bounds: &Bounds, is_gone: impl Fn(&W) -> bool) -> Option<(OrganizationId, W)> {
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

    /// Gives a place back.
    pub(super) fn free(&mut self, organization: &OrganizationId) {
        self.running -= 1;
        if let Some(share) = self.organizations.get_mut(organization) {
            share.running -= 1;
        }
        self.forget(organization);
    }

    /// Lets pieces of work out.
    pub(super) fn leave(&mut self, organization: &OrganizationId, pieces: usize, is_gone: impl Fn(&W) -> bool) {
        self.inside -= pieces;
        if let Some(share) = self.organizations.get_mut(organization) {
            share.inside -= pieces;
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

    /// What is inside and has no place, whether it asked for one yet or not.
    pub(super) const fn waiting(&self) -> usize {
        self.inside.saturating_sub(self.running)
    }

    /// Nothing is kept of an organisation that has nothing inside.
    fn forget(&mut self, organization: &OrganizationId) {
        let is_over = |share: &Share<W>| share.inside == 0 && share.running == 0 && share.waiting.is_empty();
        if self.organizations.get(organization).is_some_and(is_over) {
            self.organizations.remove(organization);
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.inside == 0 && self.running == 0 && self.organizations.is_empty() && self.turns.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds =
        Bounds { parallel_max: 3, queued_max: 5, organization_parallel_max: 2, organization_queued_max: 3 };

    fn organization(name: &str) -> OrganizationId {
        OrganizationId::parse(name).unwrap()
    }

    /// A queue in which these wait, in this order.
    fn waiting(names: &[&'static str]) -> Queue<&'static str> {
        let mut queue = Queue::default();
        for name in names {
            queue
                .enter(&Bounds { queued_max: 100, organization_queued_max: 100, ..BOUNDS }, &organization(name), 1)
                .unwrap();
            queue.wait(&organization(name), *name);
        }
        queue
    }

    fn next(queue: &mut Queue<&'static str>) -> Option<&'static str> {
        queue.next(&BOUNDS, |_| false).map(|(_, waiter)| waiter)
    }

    #[test]
    fn organizations_take_turns_whoever_came_first() {
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
    fn who_waited_in_vain_before_has_no_more_turns() {
        let (a, mut queue) = (organization("a"), waiting(&["b", "b"]));
        for _ in 0..4 {
            queue.enter(&BOUNDS, &a, 1).unwrap();
            queue.wait(&a, "gone");
            // Something else of the organisation is inside, so that it is not forgotten.
            queue.enter(&Bounds { queued_max: 100, organization_queued_max: 100, ..BOUNDS }, &a, 1).unwrap();
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
    fn an_organization_alone_leaves_places_free_for_others() {
        let mut queue = waiting(&["a", "a", "a", "a"]);
        assert_eq!([next(&mut queue), next(&mut queue), next(&mut queue)], [Some("a"), Some("a"), None]);
        queue.enter(&BOUNDS, &organization("b"), 1).unwrap();
        queue.wait(&organization("b"), "b");
        assert_eq!(next(&mut queue), Some("b"));
        assert_eq!(next(&mut queue), None, "all three places are taken");
        queue.free(&organization("b"));
        assert_eq!(next(&mut queue), None, "the others of `a` are beyond its share");
        queue.free(&organization("a"));
        assert_eq!(next(&mut queue), Some("a"));
    }

    #[test]
    fn a_free_place_is_taken_at_once_unless_somebody_waits_for_it() {
        let ([a, b, c], mut queue) = (["a", "b", "c"].map(organization), Queue::default());
        let all = [&a, &a, &a, &b, &c];
        all.iter().for_each(|who| queue.enter(&BOUNDS, who, 1).unwrap());
        let taken = all.map(|who| queue.take(&BOUNDS, who));
        assert_eq!(taken, [true, true, false, true, false], "two of one, three of all");
        queue.wait(&c, "c");
        queue.free(&b);
        assert_eq!((queue.take(&BOUNDS, &b), next(&mut queue)), (false, Some("c")), "it is another's turn");
    }

    #[test]
    fn each_bound_refuses_in_its_own_name() {
        let (a, b, c) = (organization("a"), organization("b"), organization("c"));
        let mut queue = Queue::<()>::default();
        queue.enter(&BOUNDS, &a, 5).unwrap();
        assert_eq!(queue.enter(&BOUNDS, &a, 1), Err(Full::Organization));
        queue.enter(&BOUNDS, &b, 3).unwrap();
        assert_eq!(queue.enter(&BOUNDS, &c, 1), Err(Full::Process));
        assert_eq!(queue.enter(&BOUNDS, &a, 1), Err(Full::Process), "whose fault it is does not matter then");
        queue.leave(&b, 3, |()| false);
        queue.enter(&BOUNDS, &c, 3).unwrap();
        queue.leave(&a, 5, |()| false);
        queue.leave(&c, 3, |()| false);
        assert!(queue.is_empty());
    }

    #[test]
    fn one_call_of_any_size_goes_into_an_empty_house() {
        let mut queue = Queue::<()>::default();
        queue.enter(&BOUNDS, &organization("a"), 10).unwrap();
        assert_eq!(queue.enter(&BOUNDS, &organization("b"), 1), Err(Full::Process));
    }
}

/// Whatever comes, waits, gives up, runs and goes, in whichever order: who waits has one turn, and gets a place.
#[cfg(test)]
mod properties {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    const BOUNDS: Bounds =
        Bounds { parallel_max: 3, queued_max: 12, organization_parallel_max: 2, organization_queued_max: 8 };

    /// The numbers choose among those who can do it.
    #[derive(Debug, Clone, Copy)]
    enum Step {
        /// Comes in and waits.
        Wait(usize),
        /// Comes in and does not wait, yet or any more.
        Stay(usize),
        /// Of those who stay.
        Take(usize),
        GiveUp(usize),
        Start,
        End(usize),
        Leave(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let any = || 0..64_usize;
        prop_oneof![
            3 => any().prop_map(Step::Wait),
            1 => any().prop_map(Step::Stay),
            2 => any().prop_map(Step::Take),
            2 => any().prop_map(Step::GiveUp),
            2 => Just(Step::Start),
            2 => any().prop_map(Step::End),
            3 => any().prop_map(Step::Leave),
        ]
    }

    /// A queue, and what is known of it from outside.
    #[derive(Default)]
    struct House {
        queue: Queue<u64>,
        waiting: Vec<(OrganizationId, u64)>,
        staying: Vec<OrganizationId>,
        running: Vec<OrganizationId>,
        gone: HashSet<u64>,
        number: u64,
    }

    fn organization(which: usize) -> OrganizationId {
        OrganizationId::parse(["a", "b", "c"][which % 3]).unwrap()
    }

    fn chosen<T>(among: &mut Vec<T>, which: usize) -> Option<T> {
        (!among.is_empty()).then(|| among.remove(which % among.len()))
    }

    impl House {
        fn take(&mut self, step: Step) {
            match step {
                Step::Wait(which) if self.enter(which) => {
                    self.number += 1;
                    self.queue.wait(&organization(which), self.number);
                    self.waiting.push((organization(which), self.number));
                }
                Step::Stay(which) if self.enter(which) => self.staying.push(organization(which)),
                Step::Wait(_) | Step::Stay(_) => {}
                Step::Take(which) => {
                    let Some(organization) = chosen(&mut self.staying, which) else { return };
                    let is_taken = self.queue.take(&BOUNDS, &organization);
                    assert!(!is_taken || self.waiting.is_empty(), "somebody waited: {:?}", self.queue);
                    if is_taken { &mut self.running } else { &mut self.staying }.push(organization);
                }
                Step::GiveUp(which) => {
                    let Some((organization, waiter)) = chosen(&mut self.waiting, which) else { return };
                    self.gone.insert(waiter);
                    self.staying.push(organization);
                }
                Step::Start => self.start().unwrap_or_default(),
                Step::End(which) => {
                    let Some(organization) = chosen(&mut self.running, which) else { return };
                    self.queue.free(&organization);
                    self.staying.push(organization);
                }
                Step::Leave(which) => {
                    let Some(organization) = chosen(&mut self.staying, which) else { return };
                    self.queue.leave(&organization, 1, |waiter| self.gone.contains(waiter));
                }
            }
        }

        fn enter(&mut self, which: usize) -> bool {
            self.queue.enter(&BOUNDS, &organization(which), 1).is_ok()
        }

        fn start(&mut self) -> Option<()> {
            let next = self.queue.next(&BOUNDS, |waiter| self.gone.contains(waiter))?;
            let index = self.waiting.iter().position(|waiting| *waiting == next);
            self.waiting.remove(index.expect("who has given up gets no place"));
            self.running.push(next.0);
            Some(())
        }

        fn check(&self) {
            for which in 0..3 {
                let organization = organization(which);
                let share = self.queue.organizations.get(&organization);
                let waits = share.is_some_and(|share| !share.waiting.is_empty());
                let turns = self.queue.turns.iter().filter(|turn| **turn == organization).count();
                assert_eq!(turns, usize::from(waits), "turns of {organization}: {:?}", self.queue);
                let running = self.running.iter().filter(|other| **other == organization).count();
                assert!(running <= BOUNDS.organization_parallel_max && self.running.len() <= BOUNDS.parallel_max);
            }
        }

        /// Everybody who waits gets a place, and leaves.
        fn empty(&mut self) {
            while !self.running.is_empty() {
                self.take(Step::End(0));
            }
            while !self.waiting.is_empty() {
                self.start().expect("a place");
                self.take(Step::End(0));
                self.check();
            }
            while !self.staying.is_empty() {
                self.take(Step::Leave(0));
            }
            assert!(self.queue.is_empty(), "{:?}", self.queue);
        }
    }

    proptest! {
        #[test]
        fn who_waits_has_one_turn(steps in prop::collection::vec(step(), 0..80)) {
            let mut house = House::default();
            for step in steps {
                house.take(step);
                house.check();
            }
            house.empty();
        }
    }
}
