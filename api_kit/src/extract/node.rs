//! A JSON value of a body and its location. Readers note every problem, so that one response lists all of them.
//!
//! A reader returns `None` when it noted a problem or when an optional value is absent. [`Problems::finish`] decides at
//! the end whether the body is accepted.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::numbers::find_whole;
use crate::error::{Error, LocationStep, Problem};

/// Problems that one response lists. Nobody reads more, and a body of a megabyte can have hundreds of thousands.
const PROBLEMS_MAX: usize = 100;

/// The problems noted so far, up to a bound.
#[derive(Default)]
pub struct Problems {
    noted: RefCell<Vec<Problem>>,
    refusal: RefCell<Option<Error>>,
    /// The fields of the whole body that its reader asked for.
    asked: RefCell<BTreeSet<String>>,
}

/// Ignored fields that a response names.
const IGNORED_MAX: usize = 8;

impl Problems {
    /// Returns the fields of a body that were read without a problem and that nobody asked for. A body that has such fields alone
    /// would do nothing, and is refused: its fields are misspelt.
    pub(super) fn find_ignored(&self, body: &Value) -> Vec<String> {
        let (Some(fields), asked) = (body.as_object(), self.asked.borrow()) else { return Vec::new() };
        let unknown: Vec<&String> = fields.keys().filter(|name| !asked.contains(*name)).collect();
        if !unknown.is_empty() && unknown.len() == fields.len() && self.noted.borrow().is_empty() {
            let known = asked.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            let message = format!("Unknown field; the body may have: {known}");
            for name in unknown.iter().take(IGNORED_MAX) {
                let location = vec!["body".into(), name.as_str().into()];
                self.noted.borrow_mut().push(Problem::new(location, "extra_forbidden", message.as_str()));
            }
        }
        unknown.into_iter().take(IGNORED_MAX).cloned().collect()
    }

    /// Returns the value when no problem was noted. Problems of form take precedence over a refusal by meaning.
    pub(super) fn finish<T>(self, value: Option<T>) -> Result<T, Error> {
        let mut problems = self.noted.into_inner();
        problems.dedup();
        if !problems.is_empty() {
            return Err(Error::Invalid { problems });
        }
        if let Some(refusal) = self.refusal.into_inner() {
            return Err(refusal);
        }
        value.ok_or_else(|| Error::Internal { detail: "a body was refused without a noted problem".into() })
    }
}

/// A value and its location in the body.
#[derive(Clone)]
pub struct Node<'a> {
    value: &'a Value,
    location: Vec<LocationStep>,
    problems: &'a Problems,
}

impl<'a> Node<'a> {
    pub(super) fn root(value: &'a Value, problems: &'a Problems) -> Self {
        Self { value, location: vec!["body".into()], problems }
    }

    pub fn is_null(&self) -> bool {
        self.value.is_null()
    }

    pub fn is_text(&self) -> bool {
        self.value.is_string()
    }

    /// Returns the value under `key`; its absence is a problem.
    pub fn require_child(&self, key: &str) -> Option<Self> {
        self.note_asked(key);
        let found = self.read_object()?.get(key);
        if found.is_none() {
            self.build_child(self.value, key.into()).note::<()>("missing", "Field required");
        }
        found.map(|value| self.build_child(value, key.into()))
    }

    /// Returns the value under `key`, or `None` when it is absent or null.
    pub fn find_child(&self, key: &str) -> Option<Self> {
        self.note_asked(key);
        let value = self.read_object()?.get(key)?;
        (!value.is_null()).then(|| self.build_child(value, key.into()))
    }

    pub fn read_object(&self) -> Option<&'a Map<String, Value>> {
        match self.value {
            Value::Object(map) => Some(map),
            _ => self.note("dict_type", "Input should be an object"),
        }
    }

    pub fn read_text(&self) -> Option<&'a str> {
        match self.value {
            Value::String(text) => Some(text),
            _ => self.note("string_type", "Input should be a string"),
        }
    }

    pub fn read_boolean(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(*value),
            _ => self.note("bool_type", "Input should be true or false"),
        }
    }

    /// A whole number within `bounds`.
    pub(super) fn read_whole_number(&self, bounds: &RangeInclusive<i64>) -> Option<i64> {
        let Some(number) = self.value.as_number() else {
            return self.note("int_type", "Input should be a whole number");
        };
        match find_whole(number) {
            Some(whole) if bounds.contains(&whole) => Some(whole),
            Some(whole) if whole < 0 && *bounds.start() >= 0 => self.note("int_type", "Input should be a whole number"),
            None if !number.is_u64() => self.note("int_type", "Input should be a whole number"),
            _ => self.note("range", &format!("Input should be from {} to {}", bounds.start(), bounds.end())),
        }
    }

    /// A number within `bounds`.
    pub(super) fn read_number(&self, bounds: &RangeInclusive<f64>) -> Option<f64> {
        match self.value.as_number().and_then(serde_json::Number::as_f64) {
            Some(number) if bounds.contains(&number) => Some(number),
            Some(_) => self.note("range", &format!("Input should be from {} to {}", bounds.start(), bounds.end())),
            None => self.note("float_type", "Input should be a number"),
        }
    }

    /// A text that `parse` accepts.
    pub fn parse_text<T>(&self, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        parse(self.read_text()?).map_or_else(|error| self.note("value_error", &error), Some)
    }

    /// The items of a list whose length is within `length`.
    pub(super) fn read_items(&self, length: &RangeInclusive<usize>) -> Option<Vec<Self>> {
        let Value::Array(items) = self.value else {
            return self.note("list_type", "Input should be a list");
        };
        if items.len() < *length.start() {
            return self.note("too_short", &format!("List should have at least {} items", length.start()));
        }
        if items.len() > *length.end() {
            return self.note("too_long", &format!("List should have at most {} items", length.end()));
        }
        Some(
            items
                .iter()
                .enumerate()
                .map(|(index, value)| self.build_child(value, LocationStep::Index(index)))
                .collect(),
        )
    }

    /// The entries of an object with at most `count_max` entries.
    pub fn read_entries(&self, count_max: usize) -> Option<Vec<(&'a str, Self)>> {
        let map = self.read_object()?;
        if map.len() > count_max {
            return self.note("too_long", &format!("Object should have at most {count_max} entries"));
        }
        Some(map.iter().map(|(key, value)| (key.as_str(), self.build_child(value, key.as_str().into()))).collect())
    }

    /// Notes a problem of form; the response is 422.
    pub fn note<T>(&self, kind: &'static str, message: &str) -> Option<T> {
        let mut noted = self.problems.noted.borrow_mut();
        if noted.len() < PROBLEMS_MAX {
            noted.push(Problem::new(self.location.clone(), kind, message));
        }
        None
    }

    /// Rejects a body that breaks a rule. The response is 400 with this error if the body is well-formed, otherwise 422.
    pub fn refuse<T>(&self, code: &'static str, detail: String) -> Option<T> {
        self.problems.refusal.borrow_mut().get_or_insert(Error::Refused { code, detail });
        None
    }

    fn note_asked(&self, key: &str) {
        // The location of the whole body.
        if self.location.len() == 1 {
            self.problems.asked.borrow_mut().insert(key.to_owned());
        }
    }

    fn build_child(&self, value: &'a Value, step: LocationStep) -> Self {
        let mut location = self.location.clone();
        location.push(step);
        Self { value, location, problems: self.problems }
    }
}
