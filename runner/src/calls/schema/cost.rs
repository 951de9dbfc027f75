//! The cost of matching an input, computed from the schema before it is compiled and from the input before it is
//! matched.
//!
//! The unit is a step, about five nanoseconds: one part of the schema is compared with one value of the input.
//! [`super::walk`] prices the schema, and [`Measured`] measures the input. Together they give an upper bound of the
//! steps. A recursive schema is followed as deep as its input is nested. Where two references may lead to the same
//! value, the number of ways doubles with every level.
//!
//! The crate keeps the results of recursive definitions for lists and objects, so that matching takes no more than a bounded number of
//! steps for each value. Of both bounds, the lower one counts. It keeps nothing when it lists violations.

use serde_json::Value;

/// Bytes of text that cost every part as much as one more value: characters are counted, or texts are compared.
const TEXT_BYTES: u64 = 32;
/// Parsing a pattern, as `format: regex` does, takes the square of its bytes divided by this.
const SQUARE_BYTES: u64 = 16;
/// Levels of the input for which a cycle check costs one step. The crate searches the references that it is following,
/// one for each level, whenever it follows one.
const CYCLE_LEVELS: u64 = 8;
/// Steps of following a recursive reference, besides the cycle check: the result may be kept.
const VISIT: u64 = 4;
/// Weight of a recursive reference in the search for the most expensive keyword.
const VISIT_WEIGHT: u64 = 100;

/// Steps that the parts of a schema cost together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steps {
    /// Steps for each value.
    pub parts: u64,
    /// Those of them that may meet many values below the one where matching begins, such as the items of a list.
    pub deep: u64,
    /// Recursive references, which are followed for each value.
    pub visits: u64,
    /// Steps for each byte of each text and name.
    pub bytes: u64,
    /// Steps for the square of each text's bytes, in units of [`SQUARE_BYTES`].
    pub squares: u64,
    /// Steps for each value, and again for each value below it.
    pub whole: u64,
    /// Steps of compiling the schema once.
    pub compile: u64,
}

impl Steps {
    pub const fn plus(self, other: Self) -> Self {
        Self {
            parts: self.parts.saturating_add(other.parts),
            deep: self.deep.saturating_add(other.deep),
            visits: self.visits.saturating_add(other.visits),
            bytes: self.bytes.saturating_add(other.bytes),
            squares: self.squares.saturating_add(other.squares),
            whole: self.whole.saturating_add(other.whole),
            compile: self.compile.saturating_add(other.compile),
        }
    }

    /// The steps of matching so many times.
    pub const fn times(self, times: u64) -> Self {
        Self {
            parts: self.parts.saturating_mul(times),
            deep: self.deep.saturating_mul(times),
            visits: self.visits.saturating_mul(times),
            bytes: self.bytes.saturating_mul(times),
            squares: self.squares.saturating_mul(times),
            whole: self.whole.saturating_mul(times),
            compile: self.compile,
        }
    }

    /// The larger value in each field. Compile steps are added, since both parts are compiled.
    pub fn max(self, other: Self) -> Self {
        Self {
            parts: self.parts.max(other.parts),
            deep: self.deep.max(other.deep),
            visits: self.visits.max(other.visits),
            bytes: self.bytes.max(other.bytes),
            squares: self.squares.max(other.squares),
            whole: self.whole.max(other.whole),
            compile: self.compile.saturating_add(other.compile),
        }
    }

    /// One figure for all fields: the price for an input of ordinary size, to compare keywords of one schema.
    pub const fn weight(self) -> u64 {
        self.parts
            .saturating_add(self.visits.saturating_mul(VISIT_WEIGHT))
            .saturating_add(self.bytes.saturating_mul(TEXT_BYTES))
            .saturating_add(self.whole.saturating_mul(TEXT_BYTES))
            .saturating_add(self.squares.saturating_mul(TEXT_BYTES * TEXT_BYTES))
    }
}

/// The price of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    pub steps: Steps,
    /// `None` when no reference is recursive.
    pub recursion: Option<Recursion>,
    /// Nesting of the schema, with references followed up to the first recursive one.
    pub depth: u64,
    /// JSON pointer to the most expensive keyword.
    pub most_expensive: String,
}

/// The recursive references of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recursion {
    /// Ways in which references of the whole schema reach a value.
    pub first: u64,
    /// Ways that the references of recursive definitions add with each further level of the input.
    pub further: u64,
    /// Steps of recursive definitions, each matched with a value as often as its result is not kept.
    pub kept: Steps,
    /// Steps of the whole schema, which is matched once.
    pub once: Steps,
    /// Names of the members that a recursive reference can lead to; `None` when it can lead to any value.
    pub members: Option<Box<[String]>>,
}

/// The price of one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    pub steps: u64,
    /// Nested calls of the matcher.
    pub depth: u64,
}

impl Cost {
    /// The part of the schema to simplify, for a message.
    pub fn show_most_expensive(&self) -> String {
        if self.most_expensive.is_empty() {
            "the schema".to_owned()
        } else {
            format!("{} in the schema", self.most_expensive)
        }
    }

    /// An upper bound of the steps of listing the violations of this input.
    pub fn price_explanation(&self, input: &Value) -> u64 {
        let ways = self
            .recursion
            .as_ref()
            .map_or(Ways::ONE, |recursion| Ways { first: recursion.first, further: recursion.further });
        self.steps.of(&Measured::of(input, ways, None)).saturating_mul(self.depth)
    }

    /// An upper bound of the steps of matching this input.
    pub fn with(&self, input: &Value) -> Price {
        let Some(Recursion { first, further, kept, once, members }) = &self.recursion else {
            return Price { steps: self.steps.of(&Measured::of(input, Ways::ONE, None)), depth: self.depth };
        };
        let measured = Measured::of(input, Ways { first: *first, further: *further }, None);
        let mut steps = self.steps.of(&measured);
        if *further > 1 {
            let each_once = Measured::of(input, Ways::ONE, None);
            let reached = Measured::of(input, Ways::ONE, members.as_deref());
            steps = steps.min(kept.of(&reached).saturating_add(once.of(&each_once)));
        }
        Price { steps, depth: self.depth.saturating_mul(measured.depth) }
    }
}

impl Steps {
    /// The steps of matching an input.
    fn of(self, measured: &Measured<'_>) -> u64 {
        let Self { parts, deep, visits, bytes, squares, whole, .. } = self;
        let texts = measured.bytes / TEXT_BYTES;
        let visit = VISIT + measured.depth / CYCLE_LEVELS;
        let steps = [
            (parts - deep).saturating_mul(measured.reached.saturating_add(texts)),
            deep.saturating_mul(measured.values.saturating_add(texts)),
            visits.saturating_mul(measured.values).saturating_mul(visit),
            bytes.saturating_mul(measured.bytes),
            squares.saturating_mul(measured.squares / SQUARE_BYTES),
            whole.saturating_mul(measured.sizes),
        ];
        steps.into_iter().fold(0, u64::saturating_add)
    }
}

/// Ways in which references lead from the first level to the second one, and from each further level to the next one.
#[derive(Clone, Copy, Default)]
struct Ways {
    first: u64,
    further: u64,
}

impl Ways {
    const ONE: Self = Self { first: 1, further: 1 };
}

/// The measurements of an input. Each value counts as often as references lead to it.
#[derive(Default)]
struct Measured<'a> {
    ways: Ways,
    /// Names of the members that count as reached; `None` when all values do.
    members: Option<&'a [String]>,
    values: u64,
    /// Values with which a definition may be matched.
    reached: u64,
    bytes: u64,
    squares: u64,
    /// Sum of the sizes of all values. The size of a value includes the values that it contains.
    sizes: u64,
    depth: u64,
}

impl<'a> Measured<'a> {
    fn of(input: &Value, ways: Ways, members: Option<&'a [String]>) -> Self {
        let mut measured = Self { ways, members, reached: 1, ..Self::default() };
        measured.add(input, 1, 1);
        measured
    }

    /// Counts a value that the member of an object has, or an item of a list.
    fn reach(&mut self, name: Option<&str>, times: u64) {
        let is_reached =
            self.members.is_none_or(|members| name.is_some_and(|name| members.iter().any(|one| one == name)));
        self.reached = self.reached.saturating_add(if is_reached { times } else { 0 });
    }

    /// Counts a value to which references lead `times` times, and returns its size.
    fn add(&mut self, value: &Value, times: u64, depth: u64) -> u64 {
        self.depth = self.depth.max(depth);
        self.values = self.values.saturating_add(times);
        let inner = times.saturating_mul(if depth == 1 { self.ways.first } else { self.ways.further });
        let mut size = 1_u64;
        match value {
            Value::Array(items) => {
                for item in items {
                    self.reach(None, inner);
                    size += self.add(item, inner, depth + 1);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    self.reach(Some(name), inner);
                    size += self.add_text(name, times) + self.add(member, inner, depth + 1);
                }
            }
            Value::String(text) => size += self.add_text(text, times),
            _ => {}
        }
        self.sizes = self.sizes.saturating_add(times.saturating_mul(size));
        size
    }

    fn add_text(&mut self, text: &str, times: u64) -> u64 {
        let bytes = text.len() as u64;
        self.bytes = self.bytes.saturating_add(times.saturating_mul(bytes));
        self.squares = self.squares.saturating_add(times.saturating_mul(bytes.saturating_mul(bytes)));
        bytes / TEXT_BYTES
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cost(steps: Steps, ways: Option<u64>) -> Cost {
        let (kept, once) = (steps.times(1_000), Steps::default());
        let recursion = ways.map(|ways| Recursion { first: ways, further: ways, kept, once, members: None });
        Cost { steps, recursion, depth: 1, most_expensive: String::new() }
    }

    #[test]
    fn an_input_costs_its_values_times_the_parts_of_the_schema() {
        let parts = cost(Steps { parts: 10, ..Steps::default() }, None);
        assert_eq!(parts.with(&json!([1, [2, 3]])).steps, 50);
        assert_eq!(parts.with(&json!("x".repeat(320))).steps, 110);
        let ways = cost(Steps { parts: 1, ..Steps::default() }, Some(2));
        assert_eq!(ways.with(&json!({"c": {"c": {"c": 1}}})).steps, 1 + 2 + 4 + 8);
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner, inner.is_null()]));
        assert_eq!(ways.price_explanation(&deep), u64::MAX);
        let kept = ways.with(&deep);
        assert_eq!((kept.steps, kept.depth), (1_000 * 201, 101));
        let visits = cost(Steps { visits: 1, ..Steps::default() }, Some(1));
        assert_eq!(visits.with(&json!([1])).steps, 2 * VISIT);
    }

    #[test]
    fn definitions_cost_the_values_that_references_lead_to() {
        let (kept, once) = (Steps { parts: 10, deep: 4, ..Steps::default() }, Steps::default());
        let recursion = Recursion { first: 9, further: 9, kept, once, members: Some(["next".to_owned()].into()) };
        let steps = Steps { parts: 1_000_000, ..Steps::default() };
        let cost = Cost { steps, recursion: Some(recursion), depth: 1, most_expensive: String::new() };
        // Two of six values are reached, besides the whole input.
        assert_eq!(cost.with(&json!({"a": 1, "next": {"a": [1], "next": 2}})).steps, 6 * 3 + 4 * 6);
    }

    #[test]
    fn texts_and_lists_cost_the_bytes_that_are_read() {
        let bytes = cost(Steps { bytes: 3, ..Steps::default() }, None);
        assert_eq!(bytes.with(&json!({"name": "text"})).steps, 3 * 8);
        let squares = cost(Steps { squares: 1, ..Steps::default() }, None);
        assert_eq!(squares.with(&json!("x".repeat(160))).steps, 1_600);
        let whole = cost(Steps { whole: 1, ..Steps::default() }, None);
        assert_eq!(whole.with(&json!([[[]], 1])).steps, 4 + 2 + 1 + 1);
    }
}
