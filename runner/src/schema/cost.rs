//! The cost of matching an input, computed from the schema before it is compiled and from the input before it is
//! matched.
//!
//! The unit is a step, about five nanoseconds: one part of the schema is compared with one value of the input.
//! [`super::walk`] prices the schema, and [`Measured`] measures the input. Together they give an upper bound of the
//! steps. A recursive schema is followed as deep as its input is nested. Where two references may lead to the same
//! value, the number of ways doubles with every level.

use serde_json::Value;

/// Bytes of text that cost every part as much as one more value: characters are counted, or texts are compared.
const TEXT_BYTES: u64 = 32;
/// Parsing a pattern, as `format: regex` does, takes the square of its bytes divided by this.
const SQUARE_BYTES: u64 = 16;
/// Levels of the input for which a cycle check costs one step. The crate searches the references that it is following,
/// one for each level, whenever it follows one.
const CYCLE_LEVELS: u64 = 8;

/// Steps that the parts of a schema cost together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Steps {
    /// Steps for each value.
    pub parts: u64,
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
            bytes: self.bytes.saturating_add(other.bytes),
            squares: self.squares.saturating_add(other.squares),
            whole: self.whole.saturating_add(other.whole),
            compile: self.compile.saturating_add(other.compile),
        }
    }

    /// The larger value in each field. Compile steps are added, since both parts are compiled.
    pub fn max(self, other: Self) -> Self {
        Self {
            parts: self.parts.max(other.parts),
            bytes: self.bytes.max(other.bytes),
            squares: self.squares.max(other.squares),
            whole: self.whole.max(other.whole),
            compile: self.compile.saturating_add(other.compile),
        }
    }

    /// One figure for all fields: the price for an input of ordinary size, to compare keywords of one schema.
    pub const fn weight(self) -> u64 {
        self.parts
            .saturating_add(self.bytes.saturating_mul(TEXT_BYTES))
            .saturating_add(self.whole.saturating_mul(TEXT_BYTES))
            .saturating_add(self.squares.saturating_mul(TEXT_BYTES * TEXT_BYTES))
    }
}

/// The price of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cost {
    pub steps: Steps,
    /// Ways that references add with each level of the input; `None` when no reference is recursive.
    pub ways: Option<u64>,
    /// Nesting of the schema, with references followed up to the first recursive one.
    pub depth: u64,
    /// JSON pointer to the most expensive keyword.
    pub most_expensive: String,
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
    pub fn expensive(&self) -> String {
        if self.most_expensive.is_empty() {
            "the schema".to_owned()
        } else {
            format!("{} in the schema", self.most_expensive)
        }
    }

    /// An upper bound of the steps of listing the violations of this input.
    pub fn explained(&self, input: &Value) -> u64 {
        self.with(input).steps.saturating_mul(self.depth)
    }

    /// An upper bound of the steps of matching this input.
    pub fn with(&self, input: &Value) -> Price {
        let mut measured = Measured { ways: self.ways.unwrap_or(1), ..Measured::default() };
        measured.add(input, 1, 1);
        let Steps { parts, bytes, squares, whole, .. } = self.steps;
        let texts = measured.bytes / TEXT_BYTES;
        let cycles = if self.ways.is_some() { 1 + measured.depth / CYCLE_LEVELS } else { 1 };
        let steps = [
            parts.saturating_mul(measured.values.saturating_add(texts)).saturating_mul(cycles),
            bytes.saturating_mul(measured.bytes),
            squares.saturating_mul(measured.squares / SQUARE_BYTES),
            whole.saturating_mul(measured.sizes),
        ];
        let levels = if self.ways.is_some() { measured.depth } else { 1 };
        Price { steps: steps.into_iter().fold(0, u64::saturating_add), depth: self.depth.saturating_mul(levels) }
    }
}

/// The measurements of an input. Each value counts as often as references lead to it.
#[derive(Default)]
struct Measured {
    ways: u64,
    values: u64,
    bytes: u64,
    squares: u64,
    /// Sum of the sizes of all values. The size of a value includes the values that it contains.
    sizes: u64,
    depth: u64,
}

impl Measured {
    /// Counts a value to which references lead `times` times, and returns its size.
    fn add(&mut self, value: &Value, times: u64, depth: u64) -> u64 {
        self.depth = self.depth.max(depth);
        self.values = self.values.saturating_add(times);
        let inner = times.saturating_mul(self.ways);
        let mut size = 1_u64;
        match value {
            Value::Array(items) => {
                for item in items {
                    size += self.add(item, inner, depth + 1);
                }
            }
            Value::Object(members) => {
                for (name, member) in members {
                    size += self.text(name, times) + self.add(member, inner, depth + 1);
                }
            }
            Value::String(text) => size += self.text(text, times),
            _ => {}
        }
        self.sizes = self.sizes.saturating_add(times.saturating_mul(size));
        size
    }

    fn text(&mut self, text: &str, times: u64) -> u64 {
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
        Cost { steps, ways, depth: 1, most_expensive: String::new() }
    }

    #[test]
    fn an_input_costs_its_values_times_the_parts_of_the_schema() {
        let parts = cost(Steps { parts: 10, ..Steps::default() }, None);
        assert_eq!(parts.with(&json!([1, [2, 3]])).steps, 50);
        assert_eq!(parts.with(&json!("x".repeat(320))).steps, 110);
        let ways = cost(Steps { parts: 1, ..Steps::default() }, Some(2));
        assert_eq!(ways.with(&json!({"c": {"c": {"c": 1}}})).steps, 1 + 2 + 4 + 8);
        let deep = (0..100).fold(json!(1), |inner, _| json!([inner, inner.is_null()]));
        assert_eq!(ways.with(&deep).steps, u64::MAX);
        assert_eq!(ways.with(&deep).depth, 101);
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
