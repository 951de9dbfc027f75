//! The variables of users, which their runs receive: the caller's own, and those of any user for administrators.

pub(crate) mod list;
pub(crate) mod remove;
pub(crate) mod set;

use api_kit::error::Error;
use registry::{AccountId, Principal, Store, UserId};

/// Finds the account of the user in the path.
async fn find_account(store: &Store, principal: &Principal, user: &UserId) -> Result<AccountId, Error> {
    let found = store.access().get_user(&principal.organization, user).await?;
    Ok(found.ok_or(registry::Error::NotFound { what: "user" })?.account)
}
