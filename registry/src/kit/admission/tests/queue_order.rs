//! In any order of events, each organisation with waiters has one turn, and each waiter gets a permit.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

const BOUNDS: AdmissionBounds =
    AdmissionBounds { parallel_max: 3, queued_max: 12, organization_parallel_max: 2, organization_queued_max: 8 };

/// Numbers choose among the candidates for a step.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Is admitted and waits.
    Wait(usize),
    /// Is admitted and does not wait.
    Stay(usize),
    /// Takes a permit without waiting.
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

/// A queue, and a model of its state.
#[derive(Default)]
struct Model {
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

impl Model {
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
                assert!(!is_taken || self.waiting.is_empty(), "there was a waiter: {:?}", self.queue);
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
        self.waiting.remove(index.expect("a cancelled waiter gets no permit"));
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

    /// Gives every waiter a permit, and removes all work.
    fn empty(&mut self) {
        while !self.running.is_empty() {
            self.take(Step::End(0));
        }
        while !self.waiting.is_empty() {
            self.start().expect("a permit");
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
    fn organizations_with_waiters_have_one_turn(steps in prop::collection::vec(step(), 0..80)) {
        let mut model = Model::default();
        for step in steps {
            model.take(step);
            model.check();
        }
        model.empty();
    }
}
