//! The macro that defines validated text types. A value is validated once, when it is parsed. Clones are cheap, because ids
//! such as that of the organisation are passed everywhere: short texts are stored inline, long texts are shared.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{Error, Visitor};

/// Defines a validated text type by its name in errors, its rule, and its parser.
#[macro_export]
macro_rules! text_type {
    ($(#[doc = $doc:literal])+ $name:ident = $what:literal, $rule:literal, $parse:expr;) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(smol_str::SmolStr);

        impl $name {
            pub fn parse(text: &str) -> Result<Self, $crate::InvalidValue> {
                let parse: fn(&str) -> Option<String> = $parse;
                parse(text).map(|text| Self(text.into())).ok_or($crate::InvalidValue::new($what, $rule))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::InvalidValue;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl $crate::HeapBytes for $name {
            fn heap_bytes(&self) -> usize {
                self.0.heap_bytes()
            }
        }

        $crate::described_as_text!($name);
        $crate::written_as_text!($name);
    };
}

/// Serialises a validated text as a string.
#[macro_export]
macro_rules! written_as_text {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::Checked::default())
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.as_str().to_owned()
            }
        }
    };
}

/// Gives a validated text the JSON Schema of any text. Fields describe their rules.
#[macro_export]
macro_rules! described_as_text {
    ($name:ident) => {
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                String::json_schema(generator)
            }
        }
    };
}

/// Parses a borrowed string without a copy.
pub struct Checked<T>(PhantomData<T>);

impl<T> Default for Checked<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: FromStr<Err: Display>> Visitor<'_> for Checked<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Returns `text` when it has 1 to `length_max` bytes and only allowed characters.
pub fn made_of(text: &str, length_max: usize, allowed: fn(char) -> bool) -> Option<String> {
    let fits = !text.is_empty() && text.len() <= length_max && text.chars().all(allowed);
    fits.then(|| text.to_owned())
}

pub(crate) use {described_as_text, text_type, written_as_text};
