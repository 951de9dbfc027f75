//! Who may do what: organisations, users, roles with their grants, API keys, and authorisations of OAuth clients.

pub(crate) mod api_key;
mod caller_names;
mod condition;
mod credentials;
mod grant;
mod oauth;
mod organization;
mod pattern;
mod permission;
mod principal;
mod role;
mod user;
mod user_variable;

pub use api_key::{ApiKey, ApiKeyId, ApiKeyName, NewApiKey};
pub use caller_names::{CallerName, CallerNames};
pub use condition::Condition;
pub(crate) use credentials::IssuedToken;
pub use credentials::{IssuedKey, KeyEnd, NewOrganization, SignIn, SignInRefused, SignedIn};
pub use grant::{CONDITIONS_MAX, GRANTS_MAX, Grant, Grants};
pub use oauth::{
    ACCESS_LIFETIME, AuthorizationTerms, IssuedAccess, PkceChallenge, Refresh, RegisteredClient, is_access_token,
    is_registered_client_id,
};
pub(crate) use oauth::{CODE_LIFETIME, OauthSecret, REFRESH_GRACE, REFRESH_LIFETIME, generate_client_id};
pub use organization::Organization;
pub use permission::Permission;
pub use principal::{Principal, SignInKey};
pub(crate) use role::{ADMINISTRATOR, RoleTimes};
pub use role::{Role, RoleName};
pub use user::{NewUser, User};
pub(crate) use user_variable::SealedUserVariable;
pub use user_variable::{NewUserVariable, ShownUserVariable, UserVariableName, UserVariables};
