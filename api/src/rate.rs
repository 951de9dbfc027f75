//! Rate limits: requests per minute for each user and operation. Off by default.
//!
//! A user may use a whole minute's requests in a burst; they are replenished evenly. The responses of a limited
//! operation say how many are left. A refused request does not count.
//!
//! Signing in is limited by the names that the request gives, which are not checked yet, and by its address. These are
//! counted in a table of their own. The check of an API key in another request counts as a sign-in ([`key_limit`]).
//!
//! The crate `governor` counts. Its own tables grow without bound, so that [`usage`] has a bounded one.

mod clock;
mod key_limit;
mod limit;
mod limits;
mod usage;

pub(crate) use key_limit::{KeyCheck, KeyLimit};
pub(crate) use limit::{Limit, LimitFactory};
pub use limits::{RateLimits, UnknownOperation};
