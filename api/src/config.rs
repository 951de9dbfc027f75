//! The settings of the HTTP API.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `connections` | bounds of connections, headers, bodies and responses | [`ConnectionLimits::default`] |
//! | `requests` | bounds of the requests in progress of a user and an organisation | shares of the connections |
//! | `public_url` | the URL under which clients reach the server; hosts and origins of MCP clients | loopback addresses only |
//! | `oauth_registration` | whether OAuth clients may register themselves | no |
//! | `rate_limits` | requests per minute and user, by operation | none |

use api_kit::in_progress::RequestBounds;
use api_kit::public_url::PublicUrl;
use api_kit::rate::RateLimits;
use api_kit::server::ConnectionLimits;

#[derive(Clone, Debug, Default)]
pub struct Config {
    pub connections: ConnectionLimits,
    pub requests: RequestBounds,
    pub public_url: Option<PublicUrl>,
    pub rate_limits: RateLimits,
    pub oauth_registration: bool,
}
