//! The store's settings.
//!
//! | field | meaning | default |
//! |---|---|---|
//! | `live_versions_max` | versions of one tool that are not deprecated | 50 |
//! | `token_lifetime` | how long a token is accepted | 12 hours |
//! | `reader_connections` | reads that run at the same time | 4 |
//! | `database_bytes_max` | size of the database, beyond which writes are refused | none |

use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Config {
    pub live_versions_max: u32,
    pub token_lifetime: Duration,
    pub reader_connections: u32,
    pub database_bytes_max: Option<u64>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            live_versions_max: 50,
            token_lifetime: Duration::from_hours(12),
            reader_connections: 4,
            database_bytes_max: None,
        }
    }
}

impl Config {
    /// Small bounds, so that tests reach them.
    pub fn for_tests() -> Self {
        Self {
            live_versions_max: 5,
            token_lifetime: Duration::from_mins(10),
            reader_connections: 2,
            database_bytes_max: None,
        }
    }
}
