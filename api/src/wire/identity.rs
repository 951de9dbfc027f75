//! Users and their tokens.

use registry::OrganizationId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Grant, SecretText};

/// A user with their role.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct User {
    pub user_id: String,
    pub org_id: String,
    pub role: String,
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
}

/// A variable of a user, which their runs receive.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UserVariable {
    pub name: String,
    pub is_sensitive: bool,
    /// `null` for a sensitive variable.
    pub value: Option<String>,
    /// The user who set it.
    pub updated_by: String,
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: String,
}

/// All variables of a user, by name.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UserVariableList {
    #[schemars(length(max = 40))]
    pub variables: Vec<UserVariable>,
}

/// The caller.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Me {
    pub user_id: String,
    pub org_id: String,
    pub role: String,
    pub permissions: Vec<Grant>,
}

/// The response to a sign-in.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Token {
    /// Valid for twelve hours, in this organisation.
    pub id_token: SecretText,
    /// Time of expiry (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: String,
}

impl User {
    pub(crate) fn new(organization: &OrganizationId, user: registry::User) -> Self {
        Self {
            user_id: user.account.user().into(),
            org_id: organization.to_string(),
            role: user.role.into(),
            created_at: user.created_at.to_string(),
        }
    }
}

impl From<registry::ShownUserVariable> for UserVariable {
    fn from(shown: registry::ShownUserVariable) -> Self {
        Self {
            name: shown.name.into(),
            is_sensitive: shown.value.is_none(),
            value: shown.value,
            updated_by: shown.updated_by.into(),
            updated_at: shown.updated_at.to_string(),
        }
    }
}
