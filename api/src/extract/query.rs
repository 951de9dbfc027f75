//! Query parameters: repeated keys, numbers within bounds, and every problem named in one answer.
//!
//! A parameter that should occur once and occurs more often counts with its last value. Unknown parameters are
//! ignored, as unknown fields and headers are.
//!
//! A reader of queries describes itself: run over an empty query, it notes every parameter that it asks for, with the
//! form, bounds and default that it asks with.

use std::fmt::Display;
use std::ops::RangeInclusive;

use axum::extract::{self, FromRequestParts};
use axum::http::request::Parts;
use registry::Page;
use serde_json::json;

use super::field::{Field, PARAMETERS_MAX};
use super::problem::{Place, Problem};
use crate::error::Error;
use crate::openapi::{Inputs, Parameter, Reads};

/// No token is as large; what is larger is no number that clients keep.
const TOKEN_MAX: u64 = i64::MAX as u64;

/// A type that is read from a query.
pub(crate) trait FromQuery: Sized {
    /// Asks for every parameter, whatever the values of others are.
    fn from_query(query: &mut Parameters) -> Self;
}

/// The parsed query of a request.
pub(crate) struct Query<T>(pub(crate) T);

/// The query of a request while it is being read.
pub(crate) struct Parameters {
    pairs: Vec<(String, String)>,
    problems: Vec<Problem>,
    /// What was asked for, when the reader describes itself.
    asked: Option<Vec<Parameter>>,
}

/// A query within its bounds, of which nothing is read yet.
impl<S: Send + Sync> FromRequestParts<S> for Parameters {
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
        Ok(Self { pairs, problems: Vec::new(), asked: None })
    }
}

impl<S: Send + Sync, T: FromQuery> FromRequestParts<S> for Query<T> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let mut query = Parameters::from_request_parts(parts, state).await?;
        let value = T::from_query(&mut query);
        query.finish().map(|()| Self(value))
    }
}

impl<T: FromQuery> Reads for Query<T> {
    fn reads(inputs: &mut Inputs) {
        let mut query = Parameters { pairs: Vec::new(), problems: Vec::new(), asked: Some(Vec::new()) };
        T::from_query(&mut query);
        inputs.parameters.extend(query.asked.unwrap_or_default());
    }
}

impl Parameters {
    /// Every value of a parameter, parsed, in order.
    pub(crate) fn many<T, E: Display>(&mut self, field: &Field, parse: impl Fn(&str) -> Result<T, E>) -> Vec<T> {
        self.ask(|| field.optional_list());
        self.values(field.name, parse)
    }

    /// Every different value of a parameter, in the order of first occurrence.
    pub(crate) fn distinct<T: PartialEq, E: Display>(
        &mut self,
        field: &Field,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Vec<T> {
        different(self.many(field, parse))
    }

    /// The same, of a parameter that must occur.
    pub(crate) fn distinct_required<T: PartialEq, E: Display>(
        &mut self,
        field: &Field,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Vec<T> {
        self.ask(|| field.required_list());
        self.require(field.name);
        different(self.values(field.name, parse))
    }

    /// The value of a parameter, if it is given.
    pub(crate) fn one<T, E: Display>(&mut self, field: &Field, parse: impl Fn(&str) -> Result<T, E>) -> Option<T> {
        self.ask(|| field.one());
        self.value(field.name, parse)
    }

    /// The value of a parameter that must occur; `None` when that was noted as a problem.
    pub(crate) fn one_required<T, E: Display>(
        &mut self,
        field: &Field,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        self.ask(|| field.one().required());
        self.require(field.name);
        self.value(field.name, parse)
    }

    pub(crate) fn boolean(&mut self, name: &'static str, says: &'static str) -> Option<bool> {
        self.ask(|| Parameter::query(name, says, json!({"type": "boolean"})));
        let value = match self.last(name)?.to_ascii_lowercase().as_str() {
            "true" | "1" | "on" | "t" | "y" | "yes" => Some(true),
            "false" | "0" | "off" | "f" | "n" | "no" => Some(false),
            _ => None,
        };
        if value.is_none() {
            self.note(name, "bool_parsing", "Input should be true or false".into());
        }
        value
    }

    /// `limit` and `continuation_token`.
    pub(crate) fn page(&mut self, limits: RangeInclusive<u64>, default: u64) -> Page {
        let limit = self.integer("limit", "At most so many.", limits, default);
        let says = "Where to go on, as the page before said it; 0 is the beginning.";
        let token = self.integer("continuation_token", says, 0..=TOKEN_MAX, 0);
        Page { limit: u32::try_from(limit).unwrap_or(u32::MAX), token }
    }

    /// A whole number within `bounds`, or `default`.
    fn integer(&mut self, name: &'static str, says: &'static str, bounds: RangeInclusive<u64>, default: u64) -> u64 {
        let (least, most) = (*bounds.start(), *bounds.end());
        self.ask(|| {
            let form = json!({"type": "integer", "minimum": least, "maximum": most, "default": default});
            Parameter::query(name, says, form)
        });
        let Some(text) = self.last(name) else { return default };
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

    /// The problems as a refusal, if there are any; to be called once everything is read.
    fn finish(self) -> Result<(), Error> {
        if self.problems.is_empty() { Ok(()) } else { Err(Error::Invalid { problems: self.problems }) }
    }

    fn ask(&mut self, parameter: impl FnOnce() -> Parameter) {
        if let Some(asked) = &mut self.asked {
            asked.push(parameter());
        }
    }

    fn require(&mut self, name: &str) {
        if self.last(name).is_none() {
            self.note(name, "missing", "Field required".into());
        }
    }

    fn values<T, E: Display>(&mut self, name: &str, parse: impl Fn(&str) -> Result<T, E>) -> Vec<T> {
        let mut values = Vec::new();
        let given = self.pairs.iter().filter(|(key, _)| key == name);
        for (index, (_, text)) in given.enumerate() {
            match parse(text) {
                Ok(value) => values.push(value),
                Err(error) => {
                    let place = vec!["query".into(), name.into(), Place::Index(index)];
                    self.problems.push(Problem::new(place, "value_error", error.to_string()));
                }
            }
        }
        values
    }

    fn value<T, E: Display>(&mut self, name: &str, parse: impl Fn(&str) -> Result<T, E>) -> Option<T> {
        match parse(self.last(name)?) {
            Ok(value) => Some(value),
            Err(error) => {
                let message = error.to_string();
                self.note(name, "value_error", message);
                None
            }
        }
    }

    fn last(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn note(&mut self, name: &str, kind: &'static str, message: String) {
        self.problems.push(Problem::new(vec!["query".into(), name.into()], kind, message));
    }
}

fn different<T: PartialEq>(values: Vec<T>) -> Vec<T> {
    let mut kept = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}
