//! What is told of a query's parameter beside how it is read.

use serde_json::{Value, json};

use crate::openapi::Parameter;

/// More values than this in one query has no use, and costs.
pub(super) const PARAMETERS_MAX: usize = 200;

/// Name, words and form of a parameter.
pub(crate) struct Field {
    pub(super) name: &'static str,
    says: &'static str,
    /// The form of one value.
    form: fn() -> Value,
    /// Whether the order and number of equal values mean nothing.
    is_set: bool,
}

impl Field {
    pub(crate) const fn new(name: &'static str, says: &'static str, form: fn() -> Value) -> Self {
        Self { name, says, form, is_set: false }
    }

    /// A parameter whose values are a set.
    pub(crate) const fn set(name: &'static str, says: &'static str, form: fn() -> Value) -> Self {
        Self { name, says, form, is_set: true }
    }

    pub(super) fn one(&self) -> Parameter {
        Parameter::query(self.name, self.says, (self.form)())
    }

    fn list(&self) -> Value {
        let mut form = json!({"type": "array", "items": (self.form)(), "maxItems": PARAMETERS_MAX});
        if self.is_set {
            form["uniqueItems"] = json!(true);
        }
        form
    }

    pub(super) fn optional_list(&self) -> Parameter {
        let mut form = self.list();
        form["default"] = json!([]);
        Parameter::query(self.name, self.says, form)
    }

    pub(super) fn required_list(&self) -> Parameter {
        let mut form = self.list();
        form["minItems"] = json!(1);
        Parameter::query(self.name, self.says, form).required()
    }
}
