//! A JSON value with its place in the body, read step by step; every problem is noted, so that one answer names all.
//!
//! A reader returns `None` when it noted a problem (or when an optional value is absent); whoever owns the
//! [`Problems`] decides at the end.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;

use serde_json::{Map, Number, Value};

use super::problem::{Place, Problem};
use super::whole::whole;
use crate::error::Error;

/// What was found wrong so far.
#[derive(Default)]
pub(crate) struct Problems {
    noted: RefCell<Vec<Problem>>,
    refusal: RefCell<Option<Error>>,
}

impl Problems {
    /// The value when nothing was noted; the problems otherwise, those of form before those of meaning.
    pub(super) fn finish<T>(self, value: Option<T>) -> Result<T, Error> {
        let mut problems = self.noted.into_inner();
        problems.dedup();
        if !problems.is_empty() {
            return Err(Error::Invalid { problems });
        }
        if let Some(refusal) = self.refusal.into_inner() {
            return Err(refusal);
        }
        value.ok_or_else(|| Error::Internal { detail: "a body was refused without a problem".into() })
    }
}

/// One value and where it stands.
#[derive(Clone)]
pub(crate) struct Node<'a> {
    value: &'a Value,
    place: Vec<Place>,
    problems: &'a Problems,
}

impl<'a> Node<'a> {
    pub(super) fn root(value: &'a Value, problems: &'a Problems) -> Self {
        Self { value, place: vec!["body".into()], problems }
    }

    pub(crate) fn value(&self) -> &'a Value {
        self.value
    }

    /// The value under `key`; its absence is a problem.
    pub(crate) fn required(&self, key: &str) -> Option<Self> {
        let found = self.object()?.get(key);
        if found.is_none() {
            self.child(self.value, key.into()).note::<()>("missing", "Field required");
        }
        found.map(|value| self.child(value, key.into()))
    }

    /// The value under `key`, absent or null meaning the same.
    pub(crate) fn optional(&self, key: &str) -> Option<Self> {
        let value = self.object()?.get(key)?;
        (!value.is_null()).then(|| self.child(value, key.into()))
    }

    pub(crate) fn object(&self) -> Option<&'a Map<String, Value>> {
        match self.value {
            Value::Object(map) => Some(map),
            _ => self.note("dict_type", "Input should be an object"),
        }
    }

    pub(crate) fn text(&self) -> Option<&'a str> {
        match self.value {
            Value::String(text) => Some(text),
            _ => self.note("string_type", "Input should be a string"),
        }
    }

    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(*value),
            _ => self.note("bool_type", "Input should be true or false"),
        }
    }

    /// A whole number within `bounds`.
    pub(crate) fn whole_number(&self, bounds: RangeInclusive<u64>) -> Option<u64> {
        let whole = self.value.as_number().and_then(whole);
        match whole.as_ref().or(self.value.as_number()).and_then(Number::as_u64) {
            Some(number) if bounds.contains(&number) => Some(number),
            Some(_) => self.note("range", &format!("Input should be from {} to {}", bounds.start(), bounds.end())),
            None => self.note("int_type", "Input should be a whole number"),
        }
    }

    /// A string that `parse` accepts.
    pub(crate) fn parsed<T, E: Display>(&self, parse: impl FnOnce(&str) -> Result<T, E>) -> Option<T> {
        match parse(self.text()?) {
            Ok(value) => Some(value),
            Err(error) => self.note("value_error", &error.to_string()),
        }
    }

    /// One of a few fixed words.
    pub(crate) fn one_of<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        let found = choices.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            return self.note("enum", &format!("Input should be one of: {}", words.join(", ")));
        }
        found.map(|(_, value)| *value)
    }

    /// The items of a list whose length is within `length`.
    pub(crate) fn items(&self, length: RangeInclusive<usize>) -> Option<Vec<Self>> {
        let Value::Array(items) = self.value else {
            return self.note("list_type", "Input should be a list");
        };
        if items.len() < *length.start() {
            return self.note("too_short", &format!("List should have at least {} items", length.start()));
        }
        if items.len() > *length.end() {
            return self.note("too_long", &format!("List should have at most {} items", length.end()));
        }
        Some(items.iter().enumerate().map(|(index, value)| self.child(value, Place::Index(index))).collect())
    }

    /// The entries of an object that has at most `count_max` of them.
    pub(crate) fn entries(&self, count_max: usize) -> Option<Vec<(&'a str, Self)>> {
        let map = self.object()?;
        if map.len() > count_max {
            return self.note("too_long", &format!("Object should have at most {count_max} entries"));
        }
        Some(map.iter().map(|(key, value)| (key.as_str(), self.child(value, key.as_str().into()))).collect())
    }

    /// An object from names that `parse_key` accepts to strings.
    pub(crate) fn text_entries<K: Ord, E: Display>(
        &self,
        count_max: usize,
        parse_key: impl Fn(&str) -> Result<K, E>,
    ) -> Option<BTreeMap<K, String>> {
        let mut map = BTreeMap::new();
        for (key, node) in self.entries(count_max)? {
            let parsed = node.key(key, &parse_key);
            if let (Some(key), Some(text)) = (parsed, node.text()) {
                map.insert(key, text.to_owned());
            }
        }
        Some(map)
    }

    /// The key under which this value stands, parsed.
    pub(crate) fn key<K, E: Display>(&self, key: &str, parse: impl FnOnce(&str) -> Result<K, E>) -> Option<K> {
        match parse(key) {
            Ok(key) => Some(key),
            Err(error) => self.note("value_error", &error.to_string()),
        }
    }

    /// Notes a problem of form: a 422.
    pub(crate) fn note<T>(&self, kind: &'static str, message: &str) -> Option<T> {
        self.problems.noted.borrow_mut().push(Problem::new(self.place.clone(), kind, message));
        None
    }

    /// Notes a problem of meaning: a 400, shown only when the form is right.
    pub(crate) fn refuse<T>(&self, code: &'static str, detail: String) -> Option<T> {
        self.problems.refusal.borrow_mut().get_or_insert(Error::Refused { code, detail });
        None
    }

    fn child(&self, value: &'a Value, step: Place) -> Self {
        let mut place = Vec::with_capacity(self.place.len() + 1);
        place.extend_from_slice(&self.place);
        place.push(step);
        Self { value, place, problems: self.problems }
    }
}
