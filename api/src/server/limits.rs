//! The bounds of connections, with the reason of each. Their times end connections of clients that are slow or gone.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `connections_max` | concurrent connections | 768 |
//! | `connections_per_address_max` | connections of one address (IPv6: one network of 64 bits) | 512 |
//! | `header_time_max` | from the first byte of a request to the end of its headers; also until the first byte of a new connection | 10 s |
//! | `idle_time_max` | between two requests | 75 s |
//! | `response_silence_max` | how long a client may read nothing of its response; less for an address with many such connections | 30 s |
//! | `response_bytes_per_second_min` | below this rate the client uses up that time, above it the client regains it | 8 KiB/s |
//! | `body` | the body of every request except git's | see [`BodyLimits`] |
//! | `git_body` | the body of a push or fetch | see [`BodyLimits`] |
//! | `drain_time_max` | for requests and tasks that run when the shutdown begins | 30 s |

use std::time::Duration;

/// Request line and headers of one request, also what hyper reads ahead. [`crate::head_limits`] refuses less.
pub(super) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Each connection costs one file descriptor and up to two buffers of 64 KiB; below the usual limit of 1,024 descriptors.
const CONNECTIONS_MAX: usize = 768;

/// Two thirds of all connections: one address never holds all of them, and a proxy in front of the server, from whose
/// address all clients seem to come, still has enough.
const CONNECTIONS_PER_ADDRESS_MAX: usize = 512;

/// Headers fit into a packet or a few; a slow line needs a second.
const HEADER_TIME_MAX: Duration = Duration::from_secs(10);

/// Longer than the 60 seconds after which common load balancers close an idle connection. The side that sends the next
/// request should close first, or that request is lost.
const IDLE_TIME_MAX: Duration = Duration::from_secs(75);

/// Three heartbeats of an event stream: a client that reads nothing in this time has stopped reading.
const RESPONSE_SILENCE_MAX: Duration = Duration::from_secs(30);

/// A telephone line of 64 kbit/s. A client that reads less for a while is evicted or cut off, so that clients that hold all
/// 768 connections must read 6 MiB/s.
const RESPONSE_BYTES_PER_SECOND_MIN: u32 = 8 * 1024;

/// The time limit of a run by default. A run that takes longer is closed in the history at the next start.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(30);

/// Bounds of a listener's connections; the module's table describes the fields.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    pub connections_max: usize,
    pub connections_per_address_max: usize,
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
