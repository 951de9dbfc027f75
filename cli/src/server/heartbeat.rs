//! Fires the tasks that are due, and notes the ends of their runs.

use std::time::Duration;

use agents::DueTasks;
use tokio::time::{MissedTickBehavior, interval};

/// Tasks are due at times that have seconds.
const PERIOD: Duration = Duration::from_secs(1);

/// Every server looks for due tasks; each task is fired by one of them.
pub async fn fire_tasks(tasks: DueTasks) {
    let mut seconds = interval(PERIOD);
    seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut fails = false;
    loop {
        seconds.tick().await;
        let ended = fire_all(&tasks).await;
        match &ended {
            Err(error) if !fails => tracing::warn!(%error, "tasks that are due have to wait"),
            Ok(()) if fails => tracing::info!("tasks that are due are fired again"),
            _ => {}
        }
        fails = ended.is_err();
    }
}

async fn fire_all(tasks: &DueTasks) -> Result<(), registry::Error> {
    while tasks.fire().await? > 0 {}
    while tasks.note_ended_run().await? {}
    Ok(())
}
