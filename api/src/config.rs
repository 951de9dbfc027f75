//! What an operator may set of the HTTP door.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `connections` | bounds of connections and of what travels on them | [`ConnectionLimits::default`] |

use crate::server::ConnectionLimits;

#[derive(Clone, Debug, Default)]
pub struct Config {
    pub connections: ConnectionLimits,
}
