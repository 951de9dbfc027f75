//! Query parameters: repeated keys, numbers within bounds, and all problems in one response.
//!
//! The last value counts when a parameter that should occur once occurs several times. Unknown parameters are ignored,
//! as unknown fields and headers are.
//!
//! The same function reads a query and describes its parameters: over an empty query it collects name, schema and
//! default of each parameter that it asks for.

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;

use axum::extract::{self, FromRequestParts};
use axum::http::request::Parts;
use registry::Page;
use serde_json::{Value, json};

use super::TextDecoder;
use crate::error::{Error, LocationStep, Problem};
use crate::openapi::{DocumentedInput, Inputs, Parameter};

/// Values in one query. No operation needs more, and each value costs time.
const PARAMETERS_MAX: usize = 200;

/// Maximum of a continuation token: no token is larger, and clients in other languages can represent it.
const TOKEN_MAX: u64 = i64::MAX as u64;

/// A type that is read from a query.
pub trait FromQuery: Sized {
    /// Asks for every parameter, also after a problem.
    fn from_query(query: &mut QueryParameters) -> Self;
}

/// The parsed query of a request.
pub struct Query<T>(pub T);

/// The query of a request while it is read.
pub struct QueryParameters {
    pairs: Vec<(String, String)>,
    problems: Vec<Problem>,
    /// The parameters asked for so far; `None` unless they are being described.
    described: Option<Vec<Parameter>>,
}

/// A query within its bounds.
impl<S: Send + Sync> FromRequestParts<S> for QueryParameters {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let refused = |kind, message: String| Error::Invalid {
            problems: vec![Problem::new(vec!["query".into()], kind, message)],
        };
        let extract::Query(pairs) = extract::Query::<Vec<(String, String)>>::from_request_parts(parts, state)
            .await
            .map_err(|rejection| refused("query_invalid", rejection.body_text()))?;
        if pairs.len() > PARAMETERS_MAX {
            return Err(refused("too_long", format!("A query should have at most {PARAMETERS_MAX} parameters")));
        }
        Ok(Self { pairs, problems: Vec::new(), described: None })
    }
}

impl<S: Send + Sync, T: FromQuery> FromRequestParts<S> for Query<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let mut query = QueryParameters::from_request_parts(parts, state).await?;
        let value = T::from_query(&mut query);
        query.finish().map(|()| Self(value))
    }
}

impl<T: FromQuery> DocumentedInput for Query<T> {
    fn describe(inputs: &mut Inputs) {
        let mut query = QueryParameters { pairs: Vec::new(), problems: Vec::new(), described: Some(Vec::new()) };
        T::from_query(&mut query);
        inputs.parameters.extend(query.described.unwrap_or_default());
    }
}

impl QueryParameters {
    /// All values, in order, by the name of their parameter.
    pub fn by_name(self) -> BTreeMap<String, Vec<String>> {
        let mut values = BTreeMap::<_, Vec<_>>::new();
        for (name, value) in self.pairs {
            values.entry(name).or_default().push(value);
        }
        values
    }

    /// The values of a parameter, in order.
    pub fn read_many<D: TextDecoder>(&mut self, name: &'static str, text: &'static str, decoder: &D) -> Vec<D::Value> {
        self.describe(|| Parameter::query(name, text, make_list_optional(build_list_schema(decoder))));
        self.parse_values(name, decoder)
    }

    /// The values of a parameter, in order. A repeated value is a problem.
    pub fn read_distinct<D: TextDecoder>(
        &mut self,
        name: &'static str,
        text: &'static str,
        decoder: &D,
    ) -> Vec<D::Value> {
        self.describe(|| Parameter::query(name, text, make_list_optional(build_set_schema(decoder))));
        self.parse_different_values(name, decoder)
    }

    /// Like [`Self::read_distinct`], for a parameter that must occur.
    pub fn read_distinct_required<D: TextDecoder>(
        &mut self,
        name: &'static str,
        text: &'static str,
        decoder: &D,
    ) -> Vec<D::Value> {
        self.describe(|| {
            let mut schema = build_set_schema(decoder);
            schema["minItems"] = json!(1);
            Parameter::query(name, text, schema).required()
        });
        self.require(name);
        self.parse_different_values(name, decoder)
    }

    /// The value of a parameter that may be absent.
    pub fn read_one<D: TextDecoder>(
        &mut self,
        name: &'static str,
        text: &'static str,
        decoder: &D,
    ) -> Option<D::Value> {
        self.describe(|| Parameter::query(name, text, build_item_schema(decoder)));
        self.parse_value(name, decoder)
    }

    /// The value of a parameter that must occur; `None` when a problem was noted.
    pub fn read_one_required<D: TextDecoder>(
        &mut self,
        name: &'static str,
        text: &'static str,
        decoder: &D,
    ) -> Option<D::Value> {
        self.describe(|| Parameter::query(name, text, build_item_schema(decoder)).required());
        self.require(name);
        self.parse_value(name, decoder)
    }

    pub fn read_boolean(&mut self, name: &'static str, text: &'static str) -> Option<bool> {
        self.describe(|| Parameter::query(name, text, json!({"type": "boolean"})));
        let value = match self.find_last(name)?.to_ascii_lowercase().as_str() {
            "true" | "1" | "on" | "t" | "y" | "yes" => Some(true),
            "false" | "0" | "off" | "f" | "n" | "no" => Some(false),
            _ => None,
        };
        if value.is_none() {
            self.note(name, "bool_parsing", "Input should be true or false".into());
        }
        value
    }

    /// Reads `limit` and `continuation_token`.
    pub fn read_page(&mut self, limits: RangeInclusive<u64>, default: u64) -> Page {
        let limit = self.read_integer("limit", "Items on the page, at most.", limits, default);
        let text = "The `continuation_token` of the page before; 0 starts at the beginning.";
        let token = self.read_integer("continuation_token", text, 0..=TOKEN_MAX, 0);
        Page { limit: u32::try_from(limit).unwrap_or(u32::MAX), token }
    }

    /// A whole number within `bounds`, or `default`.
    pub fn read_integer(
        &mut self,
        name: &'static str,
        text: &'static str,
        bounds: RangeInclusive<u64>,
        default: u64,
    ) -> u64 {
        let (least, most) = (*bounds.start(), *bounds.end());
        self.describe(|| {
            let schema = json!({"type": "integer", "minimum": least, "maximum": most, "default": default});
            Parameter::query(name, text, schema)
        });
        let Some(text) = self.find_last(name) else { return default };
        let Ok(value) = text.trim().parse::<i128>() else {
            self.note(name, "int_parsing", "Input should be a whole number".into());
            return default;
        };
        if value < i128::from(least) {
            self.note(name, "greater_than_equal", format!("Input should be at least {least}"));
        } else if value > i128::from(most) {
            self.note(name, "less_than_equal", format!("Input should be at most {most}"));
        }
        u64::try_from(value).unwrap_or(default)
    }

    /// Returns the problems as an error, once every parameter is read.
    fn finish(self) -> Result<(), Error> {
        if self.problems.is_empty() { Ok(()) } else { Err(Error::Invalid { problems: self.problems }) }
    }

    fn describe(&mut self, parameter: impl FnOnce() -> Parameter) {
        if let Some(described) = &mut self.described {
            described.push(parameter());
        }
    }

    fn require(&mut self, name: &str) {
        if self.find_last(name).is_none() {
            self.note(name, "missing", "Field required".into());
        }
    }

    fn parse_values<D: TextDecoder>(&mut self, name: &str, decoder: &D) -> Vec<D::Value> {
        let mut values = Vec::new();
        let given = self.pairs.iter().filter(|(key, _)| key == name);
        for (index, (_, text)) in given.enumerate() {
            match parse(decoder, text) {
                Ok(value) => values.push(value),
                Err(error) => {
                    let location = vec!["query".into(), name.into(), LocationStep::Index(index)];
                    self.problems.push(Problem::new(location, "value_error", error));
                }
            }
        }
        values
    }

    /// The values of a set. As `uniqueItems` has it, what must differ is the text that was sent: `0,0` and `0, 0` are
    /// two items of one value.
    fn parse_different_values<D: TextDecoder>(&mut self, name: &str, decoder: &D) -> Vec<D::Value> {
        let mut seen = HashSet::new();
        let given = self.pairs.iter().filter(|(key, _)| key == name);
        if !given.map(|(_, text)| text).all(|text| seen.insert(text)) {
            self.note(name, "unique_items", "List should have unique items".into());
        }
        self.parse_values(name, decoder)
    }

    fn parse_value<D: TextDecoder>(&mut self, name: &str, decoder: &D) -> Option<D::Value> {
        match parse(decoder, self.find_last(name)?) {
            Ok(value) => Some(value),
            Err(error) => {
                self.note(name, "value_error", error);
                None
            }
        }
    }

    fn find_last(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn note(&mut self, name: &str, kind: &'static str, message: String) {
        self.problems.push(Problem::new(vec!["query".into(), name.into()], kind, message));
    }
}

/// Reads a text. No value has the character NUL, which some databases refuse.
fn parse<D: TextDecoder>(decoder: &D, text: &str) -> Result<D::Value, String> {
    if text.contains('\0') { Err("should not have the character NUL".to_owned()) } else { decoder.parse(text) }
}

/// The schema of a text. One that says nothing about its characters gets the rule about NUL.
fn build_item_schema(decoder: &impl TextDecoder) -> Value {
    let mut schema = decoder.schema();
    let has_rule = ["pattern", "enum", "format", "x-parsed"].iter().any(|rule| schema.get(rule).is_some());
    if schema["type"] == "string" && !has_rule {
        schema["pattern"] = json!(r"^[^\u0000]*$");
    }
    schema
}

fn build_list_schema(decoder: &impl TextDecoder) -> Value {
    json!({"type": "array", "items": build_item_schema(decoder), "maxItems": PARAMETERS_MAX})
}

/// The schema of a list without repetition.
fn build_set_schema(decoder: &impl TextDecoder) -> Value {
    let mut schema = build_list_schema(decoder);
    schema["uniqueItems"] = json!(true);
    schema
}

fn make_list_optional(mut schema: Value) -> Value {
    schema["default"] = json!([]);
    schema
}
