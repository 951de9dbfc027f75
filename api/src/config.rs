//! What an operator may set of the HTTP door.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `connections` | bounds of connections and of what travels on them | [`ConnectionLimits::default`] |
//! | `rate_limits` | requests per minute of a user, by operation | none |

use crate::rate::RateLimits;
use crate::server::ConnectionLimits;

#[derive(Clone, Debug, Default)]
pub struct Config {
    pub connections: ConnectionLimits,
    pub rate_limits: RateLimits,
}
