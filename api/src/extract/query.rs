//! Query parameters: repeated keys, numbers within bounds, and every problem named in one answer.
//!
//! A parameter that should occur once and occurs more often counts with its last value. Unknown parameters are
//! ignored, as unknown fields and headers are.

use std::fmt::Display;
use std::ops::RangeInclusive;

use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use registry::Page;

use super::problem::{Place, Problem};
use crate::error::Error;

/// More values than this in one query has no use, and costs.
const PARAMETERS_MAX: usize = 200;

/// No token is as large; what is larger is no number that clients keep.
const TOKEN_MAX: u64 = i64::MAX as u64;

/// The query of a request while it is being read.
pub(crate) struct Parameters {
    pairs: Vec<(String, String)>,
    problems: Vec<Problem>,
}

impl<S: Send + Sync> FromRequestParts<S> for Parameters {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let refused = |kind, message: String| Error::Invalid {
            problems: vec![Problem::new(vec!["query".into()], kind, message)],
        };
        let Query(pairs) = Query::<Vec<(String, String)>>::from_request_parts(parts, state)
            .await
            .map_err(|rejection| refused("query_invalid", rejection.body_text()))?;
        if pairs.len() > PARAMETERS_MAX {
            return Err(refused("too_long", format!("A query should have at most {PARAMETERS_MAX} parameters")));
        }
        Ok(Self { pairs, problems: Vec::new() })
    }
}

impl Parameters {
    /// Every value of `name`, parsed, in order.
    pub(crate) fn many<T, E: Display>(&mut self, name: &str, parse: impl Fn(&str) -> Result<T, E>) -> Vec<T> {
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

    /// Every different value of `name`, in the order of first occurrence.
    pub(crate) fn distinct<T: PartialEq, E: Display>(
        &mut self,
        name: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Vec<T> {
        let mut values = Vec::new();
        for value in self.many(name, parse) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }

    /// The value of `name`, if it is given.
    pub(crate) fn one<T, E: Display>(&mut self, name: &str, parse: impl FnOnce(&str) -> Result<T, E>) -> Option<T> {
        let text = self.last(name)?;
        match parse(text) {
            Ok(value) => Some(value),
            Err(error) => {
                let message = error.to_string();
                self.note(name, "value_error", message);
                None
            }
        }
    }

    pub(crate) fn boolean(&mut self, name: &str) -> Option<bool> {
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

    /// A whole number within `bounds`, or `default`.
    pub(crate) fn integer(&mut self, name: &str, bounds: RangeInclusive<u64>, default: u64) -> u64 {
        let Some(text) = self.last(name) else { return default };
        let Ok(value) = text.trim().parse::<i128>() else {
            self.note(name, "int_parsing", "Input should be a whole number".into());
            return default;
        };
        let (least, most) = (*bounds.start(), *bounds.end());
        if value < i128::from(least) {
            self.note(name, "greater_than_equal", format!("Input should be at least {least}"));
        } else if value > i128::from(most) {
            self.note(name, "less_than_equal", format!("Input should be at most {most}"));
        }
        u64::try_from(value).unwrap_or(default)
    }

    /// `limit` and `continuation_token`.
    pub(crate) fn page(&mut self, limits: RangeInclusive<u64>, default: u64) -> Page {
        let limit = self.integer("limit", limits, default);
        let token = self.integer("continuation_token", 0..=TOKEN_MAX, 0);
        Page { limit: u32::try_from(limit).unwrap_or(u32::MAX), token }
    }

    /// Notes that `name`, which is required, is absent.
    pub(crate) fn missing(&mut self, name: &str) {
        self.note(name, "missing", "Field required".into());
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.last(name).is_some()
    }

    /// The problems as a refusal, if there are any; to be called once everything is read.
    pub(crate) fn finish(self) -> Result<(), Error> {
        if self.problems.is_empty() { Ok(()) } else { Err(Error::Invalid { problems: self.problems }) }
    }

    fn last(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn note(&mut self, name: &str, kind: &'static str, message: String) {
        self.problems.push(Problem::new(vec!["query".into(), name.into()], kind, message));
    }
}
