//! The variables of users. Every run of a user receives them, unless the caller sends variables of the same names.

use std::collections::BTreeMap;

use crate::kit::account::UserId;
use crate::kit::byte_cache::heap_bytes;
use crate::kit::clock::Timestamp;
use crate::kit::text_type::{made_of, text_type};
use crate::tools::SecretValue;

text_type! {
    /// The name of a variable of a user.
    UserVariableName = "user variable name", "must be 2 to 128 characters of a-z 0-9 _, the first no digit", |text| {
        let allowed = |c| matches!(c, 'a'..='z' | '0'..='9' | '_');
        let name = made_of(text, UserVariableName::BYTES_MAX, allowed)?;
        let is_right = name.len() > 1 && !name.starts_with(|c: char| c.is_ascii_digit());
        is_right.then_some(name)
    };
}

impl UserVariableName {
    /// Length of a name. A longer one is probably a mistake.
    pub const BYTES_MAX: usize = 128;
}

/// A variable to set. An existing one of the same name is replaced.
#[derive(Clone, Debug)]
pub struct NewUserVariable {
    pub name: UserVariableName,
    pub value: SecretValue,
    pub is_sensitive: bool,
}

/// A variable as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownUserVariable {
    pub name: UserVariableName,
    /// `None` for a sensitive variable: only runs receive its value.
    pub value: Option<String>,
    pub updated_by: UserId,
    pub updated_at: Timestamp,
}

/// The variables of a user with their values, for a run.
#[derive(Clone, Debug, Default)]
pub struct UserVariables {
    pub nonsensitive: BTreeMap<UserVariableName, String>,
    pub sensitive: BTreeMap<UserVariableName, SecretValue>,
}

/// The encrypted variable of a user.
#[derive(Clone, Debug)]
pub(crate) struct SealedUserVariable {
    pub name: UserVariableName,
    pub is_sensitive: bool,
    pub sealed: Vec<u8>,
}

heap_bytes! {
    SealedUserVariable { name, sealed }
}
