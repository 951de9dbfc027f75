//! Differences between a run and its replay.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contents::{End, Tape, TapeEntry};
use super::effect::Effect;
use super::exchange::TapedRequest;

/// Differences that one comparison returns; more would not help a reader.
const CHANGES_MAX: usize = 100;

const ENDED: &str = "ended";
const TIMED_OUT: &str = "exceeded its time limit";

/// One difference between the recorded run and the replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    pub what: DifferenceKind,
    /// Index of the effect, from zero, when the difference is about one effect.
    pub position: Option<usize>,
    pub recorded: Option<String>,
    pub replayed: Option<String>,
}

/// The part of a run that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ReplayDifferenceKind")]
pub enum DifferenceKind {
    /// The output; or type, message and stack trace of the exception.
    Outcome,
    /// The printed output.
    Logs,
    /// An effect, or the events before it.
    Effect,
    /// The number of events of one kind.
    Count,
}

impl DifferenceKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Outcome => "outcome",
            Self::Logs => "logs",
            Self::Effect => "effect",
            Self::Count => "count",
        }
    }
}

impl Difference {
    /// Sets both texts.
    pub(crate) fn set_texts(&mut self, recorded: String, replayed: String) {
        (self.recorded, self.replayed) = (Some(recorded), Some(replayed));
    }

    /// Rewrites both texts.
    pub(crate) fn map_texts(&mut self, change: impl Fn(String) -> String) {
        self.recorded = self.recorded.take().map(&change);
        self.replayed = self.replayed.take().map(&change);
    }

    fn at(position: usize, recorded: impl ToString, replayed: impl ToString) -> Self {
        let (recorded, replayed) = (Some(recorded.to_string()), Some(replayed.to_string()));
        Self { what: DifferenceKind::Effect, position: Some(position), recorded, replayed }
    }

    /// A difference whose texts are set later.
    const fn of(what: DifferenceKind) -> Self {
        Self { what, position: None, recorded: None, replayed: None }
    }
}

/// Returns the first place where a replay of the same code differs from its tape. A run that exceeded its time limit is
/// compared up to that point.
pub(crate) fn find_first_difference(then: &Tape, now: &Tape) -> Option<Difference> {
    let same = then.entries.iter().zip(&now.entries).take_while(|(then, now)| then == now).count();
    match (then.entries.get(same), now.entries.get(same)) {
        (Some(was), Some(is)) => Some(of_entries(same, was, is)),
        (None, Some(_)) if then.end == End::Clock => None,
        (None, Some(is)) => Some(Difference::at(same, ENDED, &is.effect)),
        (Some(_), None) => of_end(same, then, now),
        (None, None) if then.end == End::Clock => None,
        (None, None) => of_end(same, then, now).or_else(|| of_complete_runs(then, now)),
    }
}

fn of_entries(position: usize, was: &TapeEntry, is: &TapeEntry) -> Difference {
    if was.before == is.before {
        return Difference::at(position, &was.effect, &is.effect);
    }
    Difference::at(position, was.before, is.before)
}

/// Compares a tape from `position` on with a replay that has no more effects.
fn of_end(position: usize, then: &Tape, now: &Tape) -> Option<Difference> {
    let entry = then.entries.get(position);
    let (before, next) = (entry.map_or(then.rest, |entry| entry.before), entry.map(|entry| &entry.effect));
    match (&now.end, next) {
        (End::Clock, Some(next)) => Some(Difference::at(position, next, TIMED_OUT)),
        (End::Clock, None) => Some(Difference::at(position, ENDED, TIMED_OUT)),
        (End::Whole { .. } | End::Stopped, _) if now.rest != before => Some(Difference::at(position, before, now.rest)),
        (End::Whole { .. }, Some(next)) => Some(Difference::at(position, next, ENDED)),
        (End::Whole { .. } | End::Stopped, _) => None,
    }
}

fn of_complete_runs(then: &Tape, now: &Tape) -> Option<Difference> {
    match (&then.end, &now.end) {
        (End::Whole { outcome: was, .. }, End::Whole { outcome: is, .. }) if was != is => {
            Some(Difference::of(DifferenceKind::Outcome))
        }
        (End::Whole { printed: was, .. }, End::Whole { printed: is, .. }) if was != is => {
            Some(Difference::of(DifferenceKind::Logs))
        }
        _ => None,
    }
}

/// Returns all differences between a recording and a run of other code: end, effects and counts.
pub(crate) fn find_changes(then: &Tape, now: &Tape) -> Vec<Difference> {
    let ends = match (&then.end, &now.end) {
        (End::Whole { outcome, printed }, End::Whole { outcome: new_outcome, printed: new_printed }) => [
            (outcome != new_outcome).then_some(Difference::of(DifferenceKind::Outcome)),
            (printed != new_printed).then_some(Difference::of(DifferenceKind::Logs)),
        ],
        (then, now) => [(then != now).then_some(Difference::of(DifferenceKind::Outcome)), None],
    };
    let mut changes: Vec<_> = ends.into_iter().flatten().collect();
    changes.extend(compare_in_order(then, now, is_status_event));
    changes.extend(compare_in_order(then, now, is_content));
    changes.extend(compare_in_order(then, now, is_question));
    changes.extend(compare_requests(then, now));
    changes.extend(compare_numbers(then, now));
    changes.truncate(CHANGES_MAX);
    changes
}

/// Compares effects of one kind by their position among effects of this kind.
fn compare_in_order<'t>(then: &'t Tape, now: &'t Tape, is_of_kind: fn(&Effect) -> bool) -> Vec<Difference> {
    let of = |tape: &'t Tape| -> Vec<&Effect> {
        tape.entries.iter().map(|entry| &entry.effect).filter(|effect| is_of_kind(effect)).collect()
    };
    let (was, is) = (of(then), of(now));
    let pairs = (0..was.len().max(is.len())).map(|index| (was.get(index), is.get(index)));
    let changed = pairs.enumerate().filter(|(_, (was, is))| was != is);
    let difference = |(index, (was, is)): (usize, (Option<&&Effect>, Option<&&Effect>))| Difference {
        what: DifferenceKind::Effect,
        position: Some(index),
        recorded: was.map(ToString::to_string),
        replayed: is.map(ToString::to_string),
    };
    changed.map(difference).collect()
}

const fn is_status_event(effect: &Effect) -> bool {
    matches!(effect, Effect::StatusSent { is_accepted: true, .. })
}

const fn is_content(effect: &Effect) -> bool {
    matches!(effect, Effect::ContentAdded { is_accepted: true, .. })
}

const fn is_question(effect: &Effect) -> bool {
    matches!(effect, Effect::InputRequested { .. })
}

/// Finds requests that only one of the two runs made. Their order does not matter.
fn compare_requests(then: &Tape, now: &Tape) -> Vec<Difference> {
    let mut balance: BTreeMap<&TapedRequest, i64> = BTreeMap::new();
    then.collect_exchanges().into_iter().for_each(|(request, _)| *balance.entry(request).or_default() -= 1);
    now.collect_exchanges().into_iter().for_each(|(request, _)| *balance.entry(request).or_default() += 1);
    let difference = |(request, balance): (&TapedRequest, i64)| {
        let text = Some(format!("requested {request}"));
        let (recorded, replayed) = if balance < 0 { (text, None) } else { (None, text) };
        Difference { what: DifferenceKind::Effect, position: None, recorded, replayed }
    };
    let changed = balance.into_iter().filter(|(_, balance)| *balance != 0);
    changed.map(difference).collect()
}

fn compare_numbers(then: &Tape, now: &Tape) -> Vec<Difference> {
    let (was, is) = (count_kinds(then), count_kinds(now));
    let names: std::collections::BTreeSet<_> = was.keys().chain(is.keys()).copied().collect();
    let number = |counts: &BTreeMap<&str, u64>, name: &str| counts.get(name).copied().unwrap_or_default();
    let changed = names.into_iter().filter(|name| number(&was, name) != number(&is, name));
    let difference = |name: &str| Difference {
        what: DifferenceKind::Count,
        position: None,
        recorded: Some(format!("{name}: {}", number(&was, name))),
        replayed: Some(format!("{name}: {}", number(&is, name))),
    };
    changed.map(difference).collect()
}

fn count_kinds(tape: &Tape) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for before in tape.entries.iter().map(|entry| entry.before).chain([tape.rest]) {
        *counts.entry("readings of the wall clock").or_default() += before.wall_reads;
        *counts.entry("readings of the monotonic clock").or_default() += before.monotonic_reads;
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
            Self::ReadinessChecked { .. } => "readiness checks",
            Self::StatusSent { is_accepted: true, .. } => "status events",
            Self::StatusSent { is_accepted: false, .. } => "status events refused",
            Self::RequestStarted { .. } => "HTTP requests",
            Self::ResponsesAwaited { .. } => "waits for HTTP responses",
            Self::ResponseTaken { .. } => "HTTP responses",
            Self::RequestCancelled { .. } => "HTTP requests cancelled",
            Self::ContentAdded { is_accepted: true, .. } => "content blocks",
            Self::ContentAdded { is_accepted: false, .. } => "content blocks refused",
            Self::InputRequested { .. } => "questions",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sandbox::outcome::Outcome;
    use crate::sandbox::tape::contents::tests::tape as any_tape;
    use crate::sandbox::tape::effect::Counts;
    use crate::sandbox::tape::{Body, Readings};

    fn tape(texts: &[&str], end: End) -> Tape {
        let entry = |text: &&str| TapeEntry {
            before: Counts { wall_reads: 1, ..Counts::default() },
            effect: Effect::StatusSent { event: Body::whole(text.as_bytes()), is_accepted: true },
        };
        Tape {
            seed: [0; 32],
            wall: Readings::default(),
            monotonic: Readings::default(),
            entries: texts.iter().map(entry).collect(),
            rest: Counts::default(),
            end,
            bodies: crate::sandbox::tape::Bodies::default(),
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
        let found = |now: &Tape| find_first_difference(&then, now).unwrap();
        let other = found(&tape(&["a", "c"], End::Stopped));
        assert_eq!(texts(&other), (Some(1), "sent the status event b", "sent the status event c"));
        let more = found(&tape(&["a", "b", "c"], End::Stopped));
        assert_eq!(texts(&more), (Some(2), "ended", "sent the status event c"));
        let fewer = found(&Tape { rest: Counts { wall_reads: 1, ..Counts::default() }, ..tape(&["a"], whole("x")) });
        assert_eq!(texts(&fewer), (Some(1), "sent the status event b", "ended"));
        assert_eq!(found(&tape(&["a", "b"], whole("y"))).what, DifferenceKind::Outcome);
        let slow = found(&tape(&["a", "b"], End::Clock));
        assert_eq!(texts(&slow), (Some(2), "ended", "exceeded its time limit"));
        let mut looks = tape(&["a", "b"], End::Stopped);
        looks.rest.monotonic_reads = 1;
        assert!(texts(&found(&looks)).2.contains("the monotonic clock 1 times"));
    }

    #[test]
    fn a_run_that_timed_out_is_compared_up_to_that_point() {
        let then = tape(&["a"], End::Clock);
        for now in [tape(&["a"], End::Stopped), tape(&["a"], whole("x")), tape(&["a", "b"], whole("x"))] {
            assert_eq!(find_first_difference(&then, &now), None);
        }
        assert!(find_first_difference(&then, &tape(&["b"], End::Stopped)).is_some());
        assert!(find_first_difference(&then, &tape(&[], whole("x"))).is_some());
    }

    #[test]
    fn all_changes_of_other_code_are_listed() {
        let found = find_changes(&tape(&["a", "b"], whole("x")), &tape(&["a", "c", "d"], whole("y")));
        let kinds: Vec<_> = found.iter().map(|difference| (difference.what, difference.position)).collect();
        assert_eq!(
            kinds,
            [
                (DifferenceKind::Outcome, None),
                (DifferenceKind::Effect, Some(1)),
                (DifferenceKind::Effect, Some(2)),
                (DifferenceKind::Count, None),
                (DifferenceKind::Count, None)
            ]
        );
        assert_eq!(texts(&found[3]), (None, "readings of the wall clock: 2", "readings of the wall clock: 3"));
        assert!(find_changes(&tape(&["a"], whole("x")), &tape(&["a"], whole("x"))).is_empty());
        assert_eq!(find_changes(&tape(&[], End::Clock), &tape(&vec!["x"; 500], whole("x"))).len(), 100);
    }

    #[test]
    fn content_is_compared_by_its_position() {
        let content = |text: &str| Tape {
            entries: vec![TapeEntry {
                before: Counts::default(),
                effect: Effect::ContentAdded { block: Body::whole(text.as_bytes()), is_accepted: true },
            }],
            ..tape(&[], whole("x"))
        };
        let found = find_changes(&content("a"), &content("b"));
        assert_eq!(found.len(), 1);
        assert_eq!(texts(&found[0]), (Some(0), "added the content block a", "added the content block b"));
        let missing = find_changes(&content("a"), &tape(&[], whole("x")));
        assert_eq!(texts(&missing[0]), (Some(0), "added the content block a", ""));
        assert!(find_changes(&content("a"), &content("a")).is_empty());
        assert!(find_first_difference(&content("a"), &content("b")).is_some());
    }

    proptest! {
        #[test]
        fn a_tape_does_not_differ_from_itself(tape in any_tape()) {
            prop_assert_eq!(find_first_difference(&tape, &tape), None);
        }
    }
}
