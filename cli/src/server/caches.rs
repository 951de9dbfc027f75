//! Drops entries of caches in memory that have expired, so that an idle server does not hold what nobody asks for any more.

use std::time::Duration;

use agents::AgentServices;
use tokio::time::{MissedTickBehavior, interval};

/// Entries that are used expire at their use. The others may wait for a few times their age.
const PERIOD: Duration = Duration::from_secs(5);

pub async fn drop_expired_entries(agents: AgentServices) {
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        agents.drop_expired();
    }
}
