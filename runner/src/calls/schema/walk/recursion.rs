//! The recursive references of a walk.

use std::collections::BTreeMap;

/// Definitions that a computation visits without its result being kept: the crate keeps that of one with sixteen visits, its own included.
const VISITS_MAX: u64 = 14;

/// A step from a definition to a part of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step<'a> {
    Any,
    Named(&'a str),
}

/// Targets of recursive references. Each reference has the first and the last step on the way to its target.
#[derive(Debug, Default)]
pub struct Recursions<'a>(BTreeMap<&'a str, Vec<(Step<'a>, Step<'a>)>>);

impl<'a> Recursions<'a> {
    /// Adds a reference with the steps on the way to its target.
    pub fn add(&mut self, target: &'a str, steps: &[Step<'a>]) {
        self.0.entry(target).or_default().extend(steps.first().copied().zip(steps.last().copied()));
    }

    /// Adds a definition that is reached from elsewhere.
    pub fn add_target(&mut self, target: &'a str) {
        self.0.entry(target).or_default();
    }

    pub fn targets(&self) -> impl Iterator<Item = &'a str> {
        self.0.keys().copied()
    }

    /// The names of the members that references lead to; `None` for one that leads to any value.
    pub fn members(&self) -> impl Iterator<Item = Option<&'a str>> {
        self.0.values().flatten().map(|(_, last)| match last {
            Step::Named(name) => Some(*name),
            Step::Any => None,
        })
    }

    /// Number of ways in which references reach one value: a value is reached by one first step.
    pub fn count_ways(&self) -> u64 {
        count_most_of_one(self.0.values().flatten().map(|(first, _)| *first))
    }

    /// Number of references to a target that lead to one value from all values above it: a value is reached by one last step.
    pub fn count_calls_of(&self, target: &str) -> u64 {
        count_most_of_one(self.0.get(target).into_iter().flatten().map(|(_, last)| *last))
    }
}

/// The largest number of steps that one value can be reached by.
fn count_most_of_one<'a>(steps: impl Iterator<Item = Step<'a>>) -> u64 {
    let mut counts = BTreeMap::<Step<'_>, u64>::new();
    for step in steps {
        *counts.entry(step).or_default() += 1;
    }
    let anywhere = counts.remove(&Step::Any).unwrap_or_default();
    anywhere + counts.into_values().max().unwrap_or_default()
}

/// How often a computation whose result is not kept may match one definition with one value, when each level adds at most so many ways.
pub fn compute_repeats(ways: u64) -> u64 {
    compute_most_repeats(ways, VISITS_MAX, 1)
}

/// Tries all numbers of ways for each level, until the visits are used up.
fn compute_most_repeats(ways: u64, left: u64, visits: u64) -> u64 {
    let next =
        (2..=ways.min(left / visits)).map(|more| compute_most_repeats(ways, left - visits * more, visits * more));
    next.max().unwrap_or(visits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_reached_by_one_step() {
        let mut recursions = Recursions::default();
        for name in ["left", "left", "right"] {
            recursions.add("#", &[Step::Named(name), Step::Any, Step::Named("node")]);
        }
        recursions.add("#/$defs/a", &[Step::Any]);
        recursions.add_target("#/$defs/b");
        assert_eq!(recursions.count_ways(), 3);
        assert_eq!(["#", "#/$defs/a", "#/$defs/b"].map(|target| recursions.count_calls_of(target)), [3, 1, 0]);
        assert_eq!(Recursions::default().count_ways(), 0);
    }

    #[test]
    fn repeats_end_where_results_are_kept() {
        assert_eq!([1, 2, 3, 5, 6, 14, 1_000].map(compute_repeats), [1, 8, 9, 10, 12, 14, 14]);
    }
}
