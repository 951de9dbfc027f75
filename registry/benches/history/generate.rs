//! Filling the database: batches of starts and of ends, several at a time, so that the database always has work.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use registry::{Error, RecordEvent};
use tokio::time::Instant;

use crate::arguments::Arguments;
use crate::run::run;
use crate::world::{SPAN_MS, World};

/// Runs of one write.
const BATCH: u64 = 2_000;
/// Batches at a time.
const AT_ONCE: usize = 4;
const REPORT_EVERY: Duration = Duration::from_secs(10);

pub async fn fill(world: &Arc<World>, arguments: &Arguments) {
    let runs = arguments.runs;
    let began = Instant::now();
    let first = arguments.from / BATCH;
    move_clock(world, first * BATCH, runs).await;
    let batches = (first..runs.div_ceil(BATCH)).map(|batch| {
        let world = world.clone();
        async move { tokio::spawn(async move { write(&world, batch, runs).await }).await.expect("a batch") }
    });
    let mut written = stream::iter(batches).buffered(AT_ONCE);
    let (mut done, mut reported) = (first * BATCH, began);
    while let Some(count) = written.next().await {
        done += count;
        move_clock(world, count, runs).await;
        if reported.elapsed() > REPORT_EVERY || done == runs {
            let rate = (done - first * BATCH) as f64 / began.elapsed().as_secs_f64();
            eprintln!("{done} of {runs} runs, {rate:.0} runs/s");
            reported = Instant::now();
        }
    }
}

async fn write(world: &World, batch: u64, runs: u64) -> u64 {
    let numbers = batch * BATCH..runs.min((batch + 1) * BATCH);
    let (starts, ends): (Vec<_>, Vec<_>) = numbers.map(|number| run(world, number, runs)).unzip();
    let count = starts.len() as u64;
    let started = RecordEvent::Started { operation: None, runs: starts };
    let store = &world.writers[batch as usize % world.writers.len()];
    store.history().record(&started).await.expect("the starts are recorded");
    match store.history().record(&RecordEvent::Finished(ends)).await {
        // An interrupted generation had written them.
        Ok(_) | Err(Error::AlreadyFinished { .. }) => {}
        Err(error) => panic!("the ends are not recorded: {error}"),
    }
    count
}

/// Moves the clock with the runs, and lets the store prepare the months that come.
async fn move_clock(world: &World, count: u64, runs: u64) {
    let day = |world: &World| world.clock.now().as_milliseconds() / 86_400_000;
    let before = day(world);
    world.clock.advance(Duration::from_millis(SPAN_MS * count / runs));
    if day(world) > before {
        world.store.prepare().await.expect("the months are prepared");
    }
}
