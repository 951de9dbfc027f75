//! The bounds of connections, with the reason of each. Their times end connections of clients that are slow or gone.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `connections_max` | concurrent connections | 768 |
//! | `connections_per_address_max` | connections of one address (IPv6: one network of 64 bits) | 512 |
//! | `trusted_proxies` | addresses whose connections are those of many clients, and which name the client of each request | none |
//! | `header_time_max` | from the first byte of a request to the end of its headers; also until the first byte of a new connection | 10 s |
//! | `idle_time_max` | between two requests | 75 s |
//! | `response_silence_max` | how long a client may read nothing of its response; less for an address with many such connections | 30 s |
//! | `response_bytes_per_second_min` | below this rate the client uses up that time, above it the client regains it | 8 KiB/s |
//! | `body` | the body of every request except git's | see [`BodyLimits`] |
//! | `git_body` | the body of a push or fetch | see [`BodyLimits`] |
//! | `drain_time_max` | for requests and tasks that run when the server stops listening | 30 s |

use std::time::Duration;

use super::trusted_proxies::TrustedProxies;

/// Size of the request line and the headers, and of hyper's read buffer. [`crate::head_limits`] has lower bounds.
pub(super) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Concurrent connections. Each takes a file descriptor, of which processes usually have 1,024, and up to two buffers of
/// 64 KiB.
const CONNECTIONS_MAX: usize = 768;

/// Connections of one address: two thirds of all, so that no address can hold all of them. A trusted proxy, from whose address
/// many clients connect, has no bound of its own.
const CONNECTIONS_PER_ADDRESS_MAX: usize = 512;

/// Time for the headers of a request. They fit into a few packets; a slow line needs a second.
const HEADER_TIME_MAX: Duration = Duration::from_secs(10);

/// Time between two requests. Common load balancers close idle connections after 60 seconds. They must close first: a
/// request that they send while the server closes is lost.
const IDLE_TIME_MAX: Duration = Duration::from_secs(75);

/// Time in which a client may read nothing of its response: three heartbeats of an event stream.
const RESPONSE_SILENCE_MAX: Duration = Duration::from_secs(30);

/// Rate at which a client must read its response: that of a line of 64 kbit/s. Slower clients are evicted or disconnected
/// after a while, so clients that hold all 768 connections must read 6 MiB/s.
const RESPONSE_BYTES_PER_SECOND_MIN: u32 = 8 * 1024;

/// Time for requests and tasks to end at shutdown: the default time limit of a run. The next start closes the records of
/// longer runs.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(30);

/// Bounds of a listener's connections; the module's table describes the fields.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    pub connections_max: usize,
    pub connections_per_address_max: usize,
    pub trusted_proxies: TrustedProxies,
    pub header_time_max: Duration,
    pub idle_time_max: Duration,
    pub response_silence_max: Duration,
    pub response_bytes_per_second_min: u32,
    pub body: BodyLimits,
    pub git_body: BodyLimits,
    pub drain_time_max: Duration,
}

/// How slowly a body may arrive. Only time in which the server waits for the client counts.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Time without a single byte.
    pub silence_max: Duration,
    /// Time of the whole body.
    pub time_max: Duration,
    /// Lowest average rate, from the end of `grace` on.
    pub bytes_per_second_min: u32,
    pub grace: Duration,
}

impl BodyLimits {
    /// The times of a JSON body. A client that sends nothing for 10 seconds is gone, and a minute is enough for the largest
    /// body at 140 kbit/s.
    pub const JSON: Self = Self {
        silence_max: Duration::from_secs(10),
        time_max: Duration::from_secs(60),
        bytes_per_second_min: 1024,
        grace: Duration::from_secs(10),
    };

    /// The times of a body that git sends, which packs in pauses while it sends. Ten minutes are enough for the largest
    /// pack at 1.5 Mbit/s.
    pub const GIT: Self = Self {
        silence_max: Duration::from_secs(30),
        time_max: Duration::from_secs(600),
        bytes_per_second_min: 1024,
        grace: Duration::from_secs(30),
    };
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections_max: CONNECTIONS_MAX,
            connections_per_address_max: CONNECTIONS_PER_ADDRESS_MAX,
            trusted_proxies: TrustedProxies::default(),
            header_time_max: HEADER_TIME_MAX,
            idle_time_max: IDLE_TIME_MAX,
            response_silence_max: RESPONSE_SILENCE_MAX,
            response_bytes_per_second_min: RESPONSE_BYTES_PER_SECOND_MIN,
            body: BodyLimits::JSON,
            git_body: BodyLimits::GIT,
            drain_time_max: DRAIN_TIME_MAX,
        }
    }
}
