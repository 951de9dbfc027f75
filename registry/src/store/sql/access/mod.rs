//! Statements about organisations, users, roles, API keys, tokens, and OAuth clients with their authorisations.

mod administrators;
mod api_keys;
mod handle;
mod key_checks;
pub(super) mod keys;
mod oauth_clients;
pub(in crate::store) mod oauth_grants;
mod oauth_tokens;
mod organizations;
mod rate_limits;
mod removed_users;
mod roles;
mod tokens;
mod user_variables;
mod users;

pub use handle::Access;
pub use rate_limits::CountedRequest;
