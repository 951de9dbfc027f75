//! The macro behind every checked text: parsed once at the border, private inside, never checked again.

macro_rules! text_type {
    ($(#[doc = $doc:literal])+ $name:ident = $what:literal, $rule:literal, $parse:expr;) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[derive(schemars::JsonSchema)]
        #[schemars(inline)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub fn parse(text: &str) -> Result<Self, $crate::error::InvalidValue> {
                let parse: fn(&str) -> Option<String> = $parse;
                parse(text).map(Self).ok_or($crate::error::InvalidValue::new($what, $rule))
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
            type Err = $crate::error::InvalidValue;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::parse(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::error::InvalidValue;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.0
            }
        }
    };
}

/// Keeps `text` when it is 1 to `length_max` bytes long and made of allowed characters only.
pub(crate) fn made_of(text: &str, length_max: usize, allowed: fn(char) -> bool) -> Option<String> {
    let fits = !text.is_empty() && text.len() <= length_max && text.chars().all(allowed);
    fits.then(|| text.to_owned())
}

pub(crate) use text_type;
