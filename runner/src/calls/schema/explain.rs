//! The text about a violation: what the schema expects, within a bound. Values of the input are not repeated, since they may be
//! secrets.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use registry::{closest, did_you_mean};
use serde_json::Value;

use crate::text::cut;

/// Bytes of the listed values or names of one violation: what a reader looks through.
const LIST_BYTES_MAX: usize = 300;
/// Bytes of one listed value, which may be a document.
const VALUE_BYTES_MAX: usize = 100;
/// Alternatives of which a message tells what is wrong with each.
const ALTERNATIVES_MAX: usize = 4;
/// Bytes about one alternative.
const ALTERNATIVE_BYTES_MAX: usize = 150;
/// Alternatives within alternatives that a message tells about.
const NESTING_MAX: usize = 2;

/// The schemas of a document, for the names of properties.
pub trait FindSchema {
    /// The names of the properties of the object that has the keyword at a JSON pointer.
    fn find_properties_beside(&self, keyword: &str) -> Vec<String>;
}

/// Where a violation is explained.
#[derive(Clone, Copy)]
struct Within<'s> {
    schemas: &'s dyn FindSchema,
    /// Alternatives around the violation.
    depth: usize,
}

/// Says what is wrong, and what the schema expects.
pub fn explain(error: &ValidationError<'_>, schemas: &dyn FindSchema) -> String {
    explain_nested(error, Within { schemas, depth: 0 })
}

fn explain_nested(error: &ValidationError<'_>, within: Within<'_>) -> String {
    let known = || within.schemas.find_properties_beside(error.schema_path().as_str());
    match error.kind() {
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
            format!("value is not one of {}{}", list(options.iter().map(show_value)), suggest(error, options))
        }
        ValidationErrorKind::Constant { expected_value } => format!("value is not {}", show_value(expected_value)),
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => explain_unexpected(unexpected, &known()),
        ValidationErrorKind::PropertyNames { error } => {
            format!("a name of a property is wrong: {}", explain_nested(error, within))
        }
        ValidationErrorKind::Required { property } => {
            format!("{}{}", error.masked(), suggest_rename(error, property, &known()))
        }
        ValidationErrorKind::Not { .. } => "value matches what `not` of the schema excludes".to_owned(),
        ValidationErrorKind::OneOfMultipleValid { .. } => {
            "value matches several of the alternatives of `oneOf`, and must match exactly one".to_owned()
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }
            if within.depth < NESTING_MAX =>
        {
            let within = Within { depth: within.depth + 1, ..within };
            Alternatives { error, branches: context }.explain(within)
        }
        _ => error.masked().to_string(),
    }
}

/// The alternatives of `anyOf` or `oneOf`, none of which a value matches.
struct Alternatives<'e, 'i> {
    error: &'e ValidationError<'i>,
    branches: &'e [Vec<ValidationError<'static>>],
}

impl Alternatives<'_, '_> {
    fn explain(&self, within: Within<'_>) -> String {
        if let Some(expected) = self.describe_plain_kinds() {
            return format!("value is not {expected}");
        }
        if let Some((place, values)) = self.tag() {
            let meant = self.suggest_tag(&place, &values);
            return format!("{place} is not one of {}{meant}", list(values.iter().map(show_value)));
        }
        let told = |branch: &[ValidationError<'static>]| {
            let told = branch.iter().take(2).map(|error| match self.place_of(error) {
                "" => explain_nested(error, within),
                place => format!("{place}: {}", explain_nested(error, within)),
            });
            cut(told.collect::<Vec<_>>().join(" and "), ALTERNATIVE_BYTES_MAX)
        };
        let branches = self.find_likely();
        if branches.len() == 1 {
            return branches.into_iter().map(told).collect();
        }
        let more = branches.len().saturating_sub(ALTERNATIVES_MAX);
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        let listed: Vec<_> = branches.into_iter().take(ALTERNATIVES_MAX).map(told).collect();
        format!("value matches none of {} alternatives: {}{more}", self.branches.len(), listed.join("; or "))
    }

    /// The types and the values of the alternatives, if each is nothing else.
    fn describe_plain_kinds(&self) -> Option<String> {
        let (mut types, mut values) = (Vec::new(), Vec::new());
        for branch in self.branches {
            let [error] = &branch[..] else { return None };
            if !self.place_of(error).is_empty() {
                return None;
            }
            match error.kind() {
                ValidationErrorKind::Type { kind: TypeKind::Single(one) } => types.push(one.to_string()),
                ValidationErrorKind::Type { kind: TypeKind::Multiple(several) } => {
                    types.extend(several.iter().map(|one| one.to_string()));
                }
                _ => values.extend(read_tag_values(error)?.iter().map(show_value)),
            }
        }
        Some(match (types.is_empty(), values.is_empty()) {
            (_, true) => format!("of type {}", types.join(" or ")),
            (true, false) => format!("one of {}", list(values.into_iter())),
            (false, false) => format!("of type {}, and not one of {}", types.join(" or "), list(values.into_iter())),
        })
    }

    /// The place of the value that tells the alternatives apart, and its possible values, if no alternative has the given one.
    fn tag(&self) -> Option<(String, Vec<Value>)> {
        let (first, others) = self.branches.split_first()?;
        let (place, mut values) = self.find_tags(first).into_iter().find(|(place, _)| !place.is_empty())?;
        for branch in others {
            values.extend(self.find_tags(branch).into_iter().find(|(other, _)| *other == place)?.1);
        }
        Some((place, values))
    }

    fn find_tags(&self, branch: &[ValidationError<'static>]) -> Vec<(String, Vec<Value>)> {
        let tag = |error: &ValidationError<'static>| Some((self.place_of(error).to_owned(), read_tag_values(error)?));
        branch.iter().filter_map(tag).collect()
    }

    fn suggest_tag(&self, place: &str, values: &[Value]) -> String {
        let given = self.error.instance().pointer(place).and_then(Value::as_str).unwrap_or_default();
        did_you_mean(given, values.iter().filter_map(Value::as_str))
    }

    /// The alternatives that were probably meant: those of the value's type and tag, if there are any.
    fn find_likely(&self) -> Vec<&[ValidationError<'static>]> {
        let is_other = |error: &ValidationError<'static>| {
            let is_own = self.place_of(error).is_empty();
            (is_own && matches!(error.kind(), ValidationErrorKind::Type { .. })) || read_tag_values(error).is_some()
        };
        let all = self.branches.iter().map(Vec::as_slice);
        let likely: Vec<_> = all.clone().filter(|branch| !branch.iter().any(is_other)).collect();
        if likely.is_empty() { all.collect() } else { likely }
    }

    /// The place of an error below the value.
    fn place_of<'p>(&self, error: &'p ValidationError<'static>) -> &'p str {
        let place = error.instance_path().as_str();
        place.strip_prefix(self.error.instance_path().as_str()).unwrap_or(place)
    }
}

/// The values that a tag can have: a constant, or the values of an enumeration.
fn read_tag_values(error: &ValidationError<'_>) -> Option<Vec<Value>> {
    match error.kind() {
        ValidationErrorKind::Constant { expected_value } => Some(vec![expected_value.as_ref().clone()]),
        ValidationErrorKind::Enum { options } => options.as_array().cloned(),
        _ => None,
    }
}

/// Names the property by whose name the missing one was probably meant.
fn suggest_rename(error: &ValidationError<'_>, property: &Value, known: &[String]) -> String {
    let given = error.instance().as_object().into_iter().flat_map(|members| members.keys().map(String::as_str));
    let unknown = given.filter(|name| known.iter().all(|known| known != name));
    let meant = property.as_str().and_then(|name| closest(name, unknown));
    meant.map(|found| format!(", and not `{}`", cut(found.to_owned(), VALUE_BYTES_MAX))).unwrap_or_default()
}

fn explain_unexpected(unexpected: &[String], known: &[String]) -> String {
    let quoted = |name: &String| format!("`{}`", cut(name.clone(), VALUE_BYTES_MAX));
    let found = list(unexpected.iter().map(quoted));
    let be = if unexpected.len() == 1 { "is no property" } else { "are no properties" };
    if known.is_empty() {
        return format!("{found} {be} of the schema");
    }
    let meant = unexpected.first().map(|name| did_you_mean(name, known.iter().map(String::as_str)));
    format!("{found} {be} of the schema, which has {}{}", list(known.iter().map(quoted)), meant.unwrap_or_default())
}

fn suggest(error: &ValidationError<'_>, options: &[Value]) -> String {
    let given = error.instance().as_str().unwrap_or_default().to_owned();
    did_you_mean(&given, options.iter().filter_map(Value::as_str))
}

fn show_value(value: &Value) -> String {
    cut(value.to_string(), VALUE_BYTES_MAX)
}

/// Lists texts up to a bound, with the number of the others.
fn list(texts: impl Iterator<Item = String>) -> String {
    let texts: Vec<String> = texts.collect();
    let mut bytes = 0;
    let is_fitting = |text: &&String| {
        bytes += text.len() + 2;
        bytes <= LIST_BYTES_MAX
    };
    let count = texts.iter().take_while(is_fitting).count().max(1).min(texts.len());
    match texts.len() - count {
        0 => texts.join(", "),
        more => format!("{} and {more} more", texts[..count].join(", ")),
    }
}
