//! The settings of the HTTP API.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `connections` | bounds of connections, headers, bodies and responses | [`ConnectionLimits::default`] |
//! | `rate_limits` | requests per minute and user, by operation | none |

use crate::rate::RateLimits;
use crate::server::ConnectionLimits;

#[derive(Clone, Debug, Default)]
pub struct Config {
    pub connections: ConnectionLimits,
    pub rate_limits: RateLimits,
}
