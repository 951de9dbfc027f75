//! The store's settings.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `live_versions_max` | live versions (not deprecated) of one tool | 50 |
//! | `operation_retention` | time for which an operation and its idempotency key are stored | 24 hours |
//! | `token_lifetime` | lifetime of a token | 12 hours |
//! | `reader_connections` | concurrent reads other than lists and searches | 4 |
//! | `counter_connections` | concurrent counts of requests, on a database that servers share | 4 |
//! | `list_connections` | concurrent lists and searches; one organisation may use half of them | 4 |
//! | `list_time_max` | time limit of a list or a search | 2 seconds |
//! | `list_wait_max` | time for which a list or a search waits for a connection before it is refused | 5 seconds |
//! | `list_sorted_runs_max` | runs that a list reads to sort them; of more runs, it reads those of its page alone | 16,384 |
//! | `users_max` | users of one organisation | 10,000 |
//! | `roles_max` | custom roles of one organisation | 100 |
//! | `keys_max` | valid API keys of one organisation | 20,000 |
//! | `tokens_max` | valid tokens of one API key; a new token replaces the oldest | 10,000 |
//! | `tape_retention` | time for which tapes and recorded answers are stored; zero stores neither | 7 days |
//! | `history_retention` | time for which ended runs stay in the history, unless a legal hold keeps them | for ever |
//! | `holds_max` | legal holds of one organisation, with those that are released | 10,000 |
//! | `recorded_answers_max` | recorded answers of one tool; a new answer replaces the oldest | 1,000 |
//! | `copied_rows_max` | rows in one transaction of a copy to a database server | 2,000 |
//! | `database_bytes_max` | size of the database above which writes are refused | none |

use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Config {
    pub live_versions_max: u32,
    pub operation_retention: Duration,
    pub token_lifetime: Duration,
    pub reader_connections: u32,
    pub counter_connections: u32,
    pub list_connections: u32,
    pub list_time_max: Duration,
    pub list_wait_max: Duration,
    pub list_sorted_runs_max: u32,
    pub users_max: u32,
    pub roles_max: u32,
    pub keys_max: u32,
    pub tokens_max: u32,
    pub tape_retention: Duration,
    pub history_retention: Option<Duration>,
    pub holds_max: u32,
    pub recorded_answers_max: u32,
    pub copied_rows_max: u32,
    pub database_bytes_max: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            live_versions_max: 50,
            operation_retention: Duration::from_hours(24),
            token_lifetime: Duration::from_hours(12),
            reader_connections: 4,
            counter_connections: 4,
            list_connections: 4,
            list_time_max: Duration::from_secs(2),
            list_wait_max: Duration::from_secs(5),
            list_sorted_runs_max: 16_384,
            users_max: 10_000,
            roles_max: 100,
            keys_max: 20_000,
            tokens_max: 10_000,
            tape_retention: Duration::from_hours(7 * 24),
            history_retention: None,
            holds_max: 10_000,
            recorded_answers_max: 1_000,
            copied_rows_max: 2_000,
            database_bytes_max: None,
        }
    }
}

/// Connections of a server to a database server beside those of its pools: the one that writes, the one that hears of changes, and
/// the one that prepares the months, for a moment each day.
const SINGLE_CONNECTIONS: u32 = 3;

impl Config {
    /// The most connections that a server has to a database server at the same time.
    #[must_use]
    pub const fn database_connections_max(&self) -> u32 {
        self.reader_connections + self.counter_connections + self.list_connections + SINGLE_CONNECTIONS
    }

    /// Small bounds, so that tests reach them.
    pub fn for_tests() -> Self {
        Self {
            live_versions_max: 5,
            operation_retention: Duration::from_hours(1),
            token_lifetime: Duration::from_mins(10),
            reader_connections: 2,
            counter_connections: 2,
            list_connections: 2,
            list_time_max: Duration::from_secs(20),
            list_wait_max: Duration::from_secs(20),
            list_sorted_runs_max: 2,
            users_max: 100,
            roles_max: 60,
            keys_max: 120,
            tokens_max: 30,
            tape_retention: Duration::from_hours(1),
            history_retention: Some(Duration::from_hours(24)),
            holds_max: 10,
            recorded_answers_max: 40,
            copied_rows_max: 50,
            database_bytes_max: None,
        }
    }
}
