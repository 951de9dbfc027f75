//! What differs between a run and its replay.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Body, Counts, Effect, End, Entry, Tape, TapedRequest};

/// More of them tell nobody more.
const CHANGES_MAX: usize = 100;

const OF_THE_END: &str = "ended";
const BY_THE_CLOCK: &str = "was stopped by the clock";

/// One thing that was one way when it was recorded, and another way now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    pub what: What,
    /// Which effect it is, from zero, where it is about one.
    pub position: Option<usize>,
    pub recorded: Option<String>,
    pub replayed: Option<String>,
}

/// What a difference is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum What {
    /// The output, or how it failed.
    Outcome,
    /// What it printed.
    Logs,
    /// An effect, or what came before one.
    Effect,
    /// How often something happened.
    Count,
}

impl Difference {
    /// Says what the two were.
    pub(crate) fn say(&mut self, recorded: String, replayed: String) {
        (self.recorded, self.replayed) = (Some(recorded), Some(replayed));
    }

    /// Says both otherwise.
    pub(crate) fn change(&mut self, change: impl Fn(String) -> String) {
        self.recorded = self.recorded.take().map(&change);
        self.replayed = self.replayed.take().map(&change);
    }

    fn at(position: usize, recorded: impl ToString, replayed: impl ToString) -> Self {
        let (recorded, replayed) = (Some(recorded.to_string()), Some(replayed.to_string()));
        Self { what: What::Effect, position: Some(position), recorded, replayed }
    }

    /// One whose texts are elsewhere.
    const fn of(what: What) -> Self {
        Self { what, position: None, recorded: None, replayed: None }
    }
}

/// Where a replay of the same code left its tape. A run that its clock stopped is compared up to there.
pub(crate) fn first_difference(then: &Tape, now: &Tape) -> Option<Difference> {
    let same = then.entries.iter().zip(&now.entries).take_while(|(then, now)| then == now).count();
    match (then.entries.get(same), now.entries.get(same)) {
        (Some(was), Some(is)) => Some(of_entries(same, was, is)),
        (None, Some(_)) if then.end == End::Clock => None,
        (None, Some(is)) => Some(Difference::at(same, OF_THE_END, &is.effect)),
        (Some(was), None) => of_end(same, was.before, Some(&was.effect), now),
        (None, None) if then.end == End::Clock => None,
        (None, None) => of_end(same, then.rest, None, now).or_else(|| of_wholes(then, now)),
    }
}

fn of_entries(position: usize, was: &Entry, is: &Entry) -> Difference {
    if was.before == is.before {
        return Difference::at(position, &was.effect, &is.effect);
    }
    Difference::at(position, was.before, is.before)
}

/// The replay has no more effects. Its tape went on with `before`, and then with `next` or the end.
fn of_end(position: usize, before: Counts, next: Option<&Effect>, now: &Tape) -> Option<Difference> {
    match (&now.end, next) {
        (End::Clock, Some(next)) => Some(Difference::at(position, next, BY_THE_CLOCK)),
        (End::Clock, None) => Some(Difference::at(position, OF_THE_END, BY_THE_CLOCK)),
        (End::Whole { .. } | End::Stopped, _) if now.rest != before => Some(Difference::at(position, before, now.rest)),
        (End::Whole { .. }, Some(next)) => Some(Difference::at(position, next, OF_THE_END)),
        (End::Whole { .. } | End::Stopped, _) => None,
    }
}

fn of_wholes(then: &Tape, now: &Tape) -> Option<Difference> {
    match (&then.end, &now.end) {
        (End::Whole { outcome: was, .. }, End::Whole { outcome: is, .. }) if was != is => {
            Some(Difference::of(What::Outcome))
        }
        (End::Whole { printed: was, .. }, End::Whole { printed: is, .. }) if was != is => {
            Some(Difference::of(What::Logs))
        }
        _ => None,
    }
}

/// What other code did otherwise: how it ended, what it said, what it took.
pub(crate) fn changes(then: &Tape, now: &Tape) -> Vec<Difference> {
    let ends = match (&then.end, &now.end) {
        (End::Whole { outcome, printed }, End::Whole { outcome: new_outcome, printed: new_printed }) => [
            (outcome != new_outcome).then_some(Difference::of(What::Outcome)),
            (printed != new_printed).then_some(Difference::of(What::Logs)),
        ],
        (then, now) => [(then != now).then_some(Difference::of(What::Outcome)), None],
    };
    let mut changes: Vec<_> = ends.into_iter().flatten().collect();
    changes.extend(events(then, now));
    changes.extend(requests(then, now));
    changes.extend(numbers(then, now));
    changes.truncate(CHANGES_MAX);
    changes
}

/// Status events by their position among themselves.
fn events(then: &Tape, now: &Tape) -> Vec<Difference> {
    let (was, is) = (told(then), told(now));
    let pairs = (0..was.len().max(is.len())).map(|index| (was.get(index), is.get(index)));
    let changed = pairs.enumerate().filter(|(_, (was, is))| was != is);
    let difference = |(index, (was, is)): (usize, (Option<&&Body>, Option<&&Body>))| Difference {
        what: What::Effect,
        position: Some(index),
        recorded: was.map(|said| format!("sent the status event {said}")),
        replayed: is.map(|said| format!("sent the status event {said}")),
    };
    changed.map(difference).collect()
}

/// Requests that only one of the two made, in whichever order.
fn requests(then: &Tape, now: &Tape) -> Vec<Difference> {
    let mut balance: BTreeMap<&TapedRequest, i64> = BTreeMap::new();
    then.exchanges().into_iter().for_each(|(request, _)| *balance.entry(request).or_default() -= 1);
    now.exchanges().into_iter().for_each(|(request, _)| *balance.entry(request).or_default() += 1);
    let difference = |(request, balance): (&TapedRequest, i64)| {
        let said = Some(format!("requested {request}"));
        let (recorded, replayed) = if balance < 0 { (said, None) } else { (None, said) };
        Difference { what: What::Effect, position: None, recorded, replayed }
    };
    let changed = balance.into_iter().filter(|(_, balance)| *balance != 0);
    changed.map(difference).collect()
}

fn told(tape: &Tape) -> Vec<&Body> {
    let effects = tape.entries.iter().map(|entry| &entry.effect);
    let said = effects.filter_map(|effect| match effect {
        Effect::Told { said, is_taken: true } => Some(said),
        _ => None,
    });
    said.collect()
}

fn numbers(then: &Tape, now: &Tape) -> Vec<Difference> {
    let (was, is) = (counted(then), counted(now));
    let names: std::collections::BTreeSet<_> = was.keys().chain(is.keys()).copied().collect();
    let number = |counts: &BTreeMap<&str, u64>, name: &str| counts.get(name).copied().unwrap_or_default();
    let changed = names.into_iter().filter(|name| number(&was, name) != number(&is, name));
    let difference = |name: &str| Difference {
        what: What::Count,
        position: None,
        recorded: Some(format!("{name}: {}", number(&was, name))),
        replayed: Some(format!("{name}: {}", number(&is, name))),
    };
    changed.map(difference).collect()
}

fn counted(tape: &Tape) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for before in tape.entries.iter().map(|entry| entry.before).chain([tape.rest]) {
        *counts.entry("looks at the time of day").or_default() += before.wall_reads;
        *counts.entry("looks at the time since the start").or_default() += before.monotonic_reads;
        *counts.entry("random bytes").or_default() += before.random_bytes;
        *counts.entry("bytes printed").or_default() += before.printed_bytes;
    }
    for entry in &tape.entries {
        *counts.entry(entry.effect.kind()).or_default() += 1;
    }
    counts
}

impl Effect {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Polled { .. } | Self::Blocked => "waits",
            Self::Asked { .. } => "questions whether something has happened",
            Self::Told { is_taken: true, .. } => "status events",
            Self::Told { is_taken: false, .. } => "status events refused",
            Self::Started { .. } => "HTTP requests",
            Self::Awaited { .. } => "waits for answers",
            Self::Finished { .. } => "answers",
            Self::Cancelled { .. } => "HTTP requests given up",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;
    use crate::tape::Readings;

    fn tape(texts: &[&str], end: End) -> Tape {
        let entry = |text: &&str| Entry {
            before: Counts { wall_reads: 1, ..Counts::default() },
            effect: Effect::Told { said: Body::whole(text.as_bytes()), is_taken: true },
        };
        Tape {
            seed: [0; 32],
            wall: Readings::default(),
            monotonic: Readings::default(),
            entries: texts.iter().map(entry).collect(),
            rest: Counts::default(),
            end,
            bodies: crate::tape::Bodies::default(),
        }
    }

    fn whole(output: &str) -> End {
        End::whole(&Outcome::Succeeded { output: output.into() }, b"")
    }

    fn texts(difference: &Difference) -> (Option<usize>, &str, &str) {
        (
            difference.position,
            difference.recorded.as_deref().unwrap_or_default(),
            difference.replayed.as_deref().unwrap_or_default(),
        )
    }

    #[test]
    fn the_first_difference_is_named_with_its_place() {
        let then = tape(&["a", "b"], whole("x"));
        let found = |now: &Tape| first_difference(&then, now).unwrap();
        let other = found(&tape(&["a", "c"], End::Stopped));
        assert_eq!(texts(&other), (Some(1), "sent the status event b", "sent the status event c"));
        let more = found(&tape(&["a", "b", "c"], End::Stopped));
        assert_eq!(texts(&more), (Some(2), "ended", "sent the status event c"));
        let fewer = found(&Tape { rest: Counts { wall_reads: 1, ..Counts::default() }, ..tape(&["a"], whole("x")) });
        assert_eq!(texts(&fewer), (Some(1), "sent the status event b", "ended"));
        assert_eq!(found(&tape(&["a", "b"], whole("y"))).what, What::Outcome);
        let slow = found(&tape(&["a", "b"], End::Clock));
        assert_eq!(texts(&slow), (Some(2), "ended", "was stopped by the clock"));
        let mut looks = tape(&["a", "b"], End::Stopped);
        looks.rest.monotonic_reads = 1;
        assert!(texts(&found(&looks)).2.contains("1 times at the time since the start"));
    }

    #[test]
    fn a_run_that_its_clock_stopped_is_compared_up_to_there() {
        let then = tape(&["a"], End::Clock);
        for now in [tape(&["a"], End::Stopped), tape(&["a"], whole("x")), tape(&["a", "b"], whole("x"))] {
            assert_eq!(first_difference(&then, &now), None);
        }
        assert!(first_difference(&then, &tape(&["b"], End::Stopped)).is_some());
        assert!(first_difference(&then, &tape(&[], whole("x"))).is_some());
    }

    #[test]
    fn all_changes_of_other_code_are_listed() {
        let found = changes(&tape(&["a", "b"], whole("x")), &tape(&["a", "c", "d"], whole("y")));
        let kinds: Vec<_> = found.iter().map(|difference| (difference.what, difference.position)).collect();
        assert_eq!(
            kinds,
            [
                (What::Outcome, None),
                (What::Effect, Some(1)),
                (What::Effect, Some(2)),
                (What::Count, None),
                (What::Count, None)
            ]
        );
        assert_eq!(texts(&found[3]), (None, "looks at the time of day: 2", "looks at the time of day: 3"));
        assert!(changes(&tape(&["a"], whole("x")), &tape(&["a"], whole("x"))).is_empty());
        assert_eq!(changes(&tape(&[], End::Clock), &tape(&vec!["x"; 500], whole("x"))).len(), 100);
    }
}
