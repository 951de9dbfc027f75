//! The store's settings.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `live_versions_max` | versions of one tool that are not deprecated | 50 |
//! | `operation_retention` | how long an operation and its idempotency key are remembered | 24 hours |
//! | `token_lifetime` | how long a token is accepted | 12 hours |
//! | `reader_connections` | reads of single things that run at the same time | 4 |
//! | `list_connections` | lists and searches that run at the same time, half of them for one organisation | 4 |
//! | `list_time_max` | how long a list or a search may read | 2 seconds |
//! | `list_wait_max` | how long a list or a search waits for others before it is refused | 5 seconds |
//! | `users_max` | users of one organisation | 10,000 |
//! | `roles_max` | roles of one organisation beside the built-in ones | 100 |
//! | `keys_max` | API keys of one organisation that have not ended; of each user the 200 youngest ended ones are listed | 20,000 |
//! | `tokens_max` | tokens of one API key that are accepted at once; the oldest makes room for the newest | 10,000 |
//! | `tape_retention` | how long the tape of a run and recorded answers are kept; nothing for neither | 7 days |
//! | `recorded_answers_max` | answers of one tool that are kept for simulations; the oldest makes room for the newest | 1,000 |
//! | `database_bytes_max` | size of the database, beyond which writes are refused | none |

use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Config {
    pub live_versions_max: u32,
    pub operation_retention: Duration,
    pub token_lifetime: Duration,
    pub reader_connections: u32,
    pub list_connections: u32,
    pub list_time_max: Duration,
    pub list_wait_max: Duration,
    pub users_max: u32,
    pub roles_max: u32,
    pub keys_max: u32,
    pub tokens_max: u32,
    pub tape_retention: Duration,
    pub recorded_answers_max: u32,
    pub database_bytes_max: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            live_versions_max: 50,
            operation_retention: Duration::from_hours(24),
            token_lifetime: Duration::from_hours(12),
            reader_connections: 4,
            list_connections: 4,
            list_time_max: Duration::from_secs(2),
            list_wait_max: Duration::from_secs(5),
            users_max: 10_000,
            roles_max: 100,
            keys_max: 20_000,
            tokens_max: 10_000,
            tape_retention: Duration::from_hours(7 * 24),
            recorded_answers_max: 1_000,
            database_bytes_max: None,
        }
    }
}

impl Config {
    /// Small bounds, so that tests reach them.
    pub fn for_tests() -> Self {
        Self {
            live_versions_max: 5,
            operation_retention: Duration::from_hours(1),
            token_lifetime: Duration::from_mins(10),
            reader_connections: 2,
            list_connections: 2,
            list_time_max: Duration::from_secs(20),
            list_wait_max: Duration::from_secs(20),
            users_max: 100,
            roles_max: 60,
            keys_max: 120,
            tokens_max: 30,
            tape_retention: Duration::from_hours(1),
            recorded_answers_max: 40,
            database_bytes_max: None,
        }
    }
}
