//! The bounds of connections, with the reason of each. Times are lost on clients that are slow or gone; an honest one
//! meets none of them.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `connections_max` | connections at once | 768 |
//! | `connections_per_address_max` | of these from one address (IPv6: one network of 64 bits) | 512 |
//! | `header_time_max` | from the first byte of a request to the end of its headers; also for a new connection's first | 10 s |
//! | `idle_time_max` | between two requests | 75 s |
//! | `answer_silence_max` | how long a client may take nothing of its answer | 30 s |
//! | `answer_bytes_per_second_min` | below this rate it uses up that time, above it gets it back | 8 KiB/s |
//! | `body` | the body of every request but git's | see [`BodyLimits`] |
//! | `git_body` | the body of a push or fetch | see [`BodyLimits`] |
//! | `drain_time_max` | for what runs when the shutdown begins | 30 s |

use std::time::Duration;

/// Each costs one file descriptor and up to two buffers of 64 KiB; below the usual limit of 1,024 descriptors.
const CONNECTIONS_MAX: usize = 768;

/// Two thirds: one address alone never holds all of them, and a proxy in front of the server, from which all clients
/// seem to come, is not in its way.
const CONNECTIONS_PER_ADDRESS_MAX: usize = 512;

/// Headers fit into a packet or a few; a slow line needs a second.
const HEADER_TIME_MAX: Duration = Duration::from_secs(10);

/// Longer than the 60 seconds after which common load balancers close an idle connection: who closes first should be
/// the side that sends the next request, or that request is lost.
const IDLE_TIME_MAX: Duration = Duration::from_secs(75);

/// Three heartbeats of an event stream; a client that takes nothing for so long has stopped reading.
const ANSWER_SILENCE_MAX: Duration = Duration::from_secs(30);

/// A telephone line of 64 kbit/s. A connection that is sent an answer cannot make room for others, so this is also what
/// it costs to hold one: all 768 of them take 6 MiB/s.
const ANSWER_BYTES_PER_SECOND_MIN: u32 = 8 * 1024;

/// The longest that a run takes by default; what takes longer is closed in the history at the next start.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(30);

/// See the module.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    pub connections_max: usize,
    pub connections_per_address_max: usize,
    pub header_time_max: Duration,
    pub idle_time_max: Duration,
    pub answer_silence_max: Duration,
    pub answer_bytes_per_second_min: u32,
    pub body: BodyLimits,
    pub git_body: BodyLimits,
    pub drain_time_max: Duration,
}

/// How slowly a body may arrive. Only the time counts in which the server waits for the client.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Without a single byte.
    pub silence_max: Duration,
    /// For all of it.
    pub time_max: Duration,
    /// After `grace`, the average must not be below this.
    pub bytes_per_second_min: u32,
    pub grace: Duration,
}

impl BodyLimits {
    /// For JSON: a client that says nothing for 10 seconds is gone, and a minute is enough for the largest body at
    /// 140 kbit/s.
    pub const JSON: Self = Self {
        silence_max: Duration::from_secs(10),
        time_max: Duration::from_secs(60),
        bytes_per_second_min: 1024,
        grace: Duration::from_secs(10),
    };

    /// For git: it packs while it sends, and thinks in between. Ten minutes are enough for the largest pack at
    /// 1.5 Mbit/s.
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
            answer_silence_max: ANSWER_SILENCE_MAX,
            answer_bytes_per_second_min: ANSWER_BYTES_PER_SECOND_MIN,
            body: BodyLimits::JSON,
            git_body: BodyLimits::GIT,
            drain_time_max: DRAIN_TIME_MAX,
        }
    }
}
