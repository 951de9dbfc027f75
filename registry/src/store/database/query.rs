//! Queries: the text of a statement with the values of its parameters.

use std::borrow::Cow;
use std::fmt::Write;

use super::Value;

/// A statement with its values. The text may have fragments in braces, which each database writes in its own way
/// ([`super::expand`]).
#[derive(Clone, Debug)]
pub struct Query {
    pub text: Cow<'static, str>,
    pub values: Vec<Value>,
}

impl Query {
    pub fn new(text: &'static str) -> Self {
        Self { text: Cow::Borrowed(text), values: Vec::new() }
    }

    /// Binds the next parameter.
    #[must_use]
    pub fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }
}

/// A statement that is put together from parts of the program's text.
#[derive(Default)]
pub struct Statement {
    text: String,
    values: Vec<Value>,
}

impl Statement {
    /// Begins a statement whose `$1` is the value.
    pub fn with(value: impl Into<Value>) -> Self {
        Self { text: String::new(), values: vec![value.into()] }
    }

    /// Adds text without values.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds text in which every `?` stands for the value.
    pub fn bind(&mut self, text: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        for (index, part) in text.split('?').enumerate() {
            if index > 0 {
                // Writing to a string does not fail.
                let _ = write!(self.text, "${}", self.values.len());
            }
            self.text.push_str(part);
        }
    }

    /// Like [`Statement::bind`], when there is a value.
    pub fn bind_some(&mut self, text: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.bind(text, value);
        }
    }

    pub fn query(self) -> Query {
        Query { text: Cow::Owned(self.text), values: self.values }
    }
}
