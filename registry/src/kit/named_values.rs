//! The macro for enumerations with names.

/// Defines an enumeration whose values have names in the API and in the database.
#[macro_export]
macro_rules! named_values {
    ($(#[doc = $doc:literal])+ $type:ident = $what:literal, $rule:literal { $($(#[doc = $of:literal])* $value:ident = $name:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, schemars::JsonSchema)]
        pub enum $type { $($(#[doc = $of])* #[schemars(rename = $name)] $value,)+ }

        impl $type {
            pub const ALL: &'static [Self] = &[$(Self::$value,)+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $name,)+ }
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::InvalidValue;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().copied().find(|value| value.as_str() == text);
                found.ok_or($crate::InvalidValue::new($what, $rule))
            }
        }

        $crate::written_as_text!($type);
    };
}

pub(crate) use named_values;
