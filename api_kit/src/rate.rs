//! Rate limits: requests per minute for each user and operation. Off by default.
//!
//! A user may use a whole minute's requests in a burst; they are replenished evenly. The responses of a limited
//! operation say how many are left. A refused request does not count.
//!
//! Signing in is counted after the check of the key: a sign-in that succeeds for its key, and one that fails for the names that the
//! request gives and its address, in a table of its own. So nobody's mistakes refuse a right key, and what fails has no
//! second try. The check of an API key in another request counts as a sign-in ([`key_limit`]).
//!
//! The crate `governor` counts. Its own tables grow without bound, so that [`usage`] has a bounded one.

mod clock;
mod key_limit;
mod limit;
mod limits;
mod sign_in;
mod usage;

pub use key_limit::{KeyCheck, KeyLimit};
pub use limit::{Limit, LimitFactory};
pub use limits::RateLimits;
