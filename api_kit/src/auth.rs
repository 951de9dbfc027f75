//! Authentication and authorisation: one check in front of every route that is not public, for every form of
//! credentials.
//!
//! 1. No credentials, or wrong ones: 401 for every path.
//! 2. Credentials of another organisation than the path's (or than `X-ORG-ID`): 404, the same for an organisation that
//!    exists, for one that does not, and for an unknown id. The path's organisation is only compared, never looked up.
//!    Paths below `/api/v1/` and `/agents/` have no organisation: it is that of the credentials, and another one in `X-ORG-ID` is 403.
//! 3. Credentials of a user without the route's permission: 403 ([`permit`]).
//!
//! Handlers receive the [`Caller`](crate::caller::Caller) and cannot be reached without one. The check is repeated while a
//! body arrives ([`recheck`]).

mod auth_request;
mod check;
mod credentials;
mod guard;
mod organization;
mod permit;
mod recheck;
mod resource;
mod rights;

pub use check::Bearers;
pub use guard::Guard;
pub use organization::OrganizationSource;
pub use permit::Requirement;
pub use resource::ResourceKind;
pub use rights::Rights;
