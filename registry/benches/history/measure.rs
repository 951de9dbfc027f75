//! Measuring the queries, one after the other. The table is in Markdown. Times are in milliseconds; the ratio compares the
//! median with that of a trivial query, the row of a user by its key.

use std::time::Duration;

use fastrand::Rng;
use registry::{Page, RunFilter, Timestamp, UserId};
use tokio::time::Instant;

use crate::arguments::Arguments;
use crate::cases::{Case, Kind, cases};
use crate::world::{Organization, SPAN_MS, START, World};

/// Records of a page.
const PAGE: u32 = 50;
/// Organisations whose queries are measured: with half of all runs, with some hundredths, and with a ten-thousandth.
const MEASURED: [&str; 3] = ["large", "north", "tiny"];
const LIST_MS_MAX: f64 = 20.0;
const SEARCH_MS_MAX: f64 = 100.0;

/// Times of one row of the table, sorted.
struct Times(Vec<Duration>);

pub async fn measure(world: &World, arguments: &Arguments) {
    let mut rng = Rng::with_seed(arguments.seed);
    let trivial = trivial(world, arguments.queries).await;
    println!("| query | organisation | rows | p50 | p95 | p99 | ratio | p95 within target |");
    println!("|---|---|---:|---:|---:|---:|---:|---|");
    println!("| trivial | large | 1 | {:.2} | {:.2} | {:.2} | 1 | |", trivial.at(50), trivial.at(95), trivial.at(99));
    for case in cases().into_iter().filter(|case| case.name.contains(&arguments.only)) {
        for name in MEASURED {
            let (times, rows) = time_queries(world, &mut rng, &case, name, arguments.queries).await;
            print_row(&case, name, &times, rows, trivial.at(50));
        }
    }
}

/// Returns the times of the queries of a case, and the mean of the rows that they found.
async fn time_queries(world: &World, rng: &mut Rng, case: &Case, name: &str, queries: usize) -> (Times, f64) {
    let organization = world.named(name);
    let (mut times, mut rows) = (Vec::new(), 0);
    for _ in 0..queries {
        let (time, found) = query(world, rng, organization, case.kind).await;
        times.push(time);
        rows += found;
    }
    (Times::of(times), rows as f64 / queries as f64)
}

/// Prints the times of a case with an organisation; `trivial` is the median of the trivial query in milliseconds.
fn print_row(case: &Case, name: &str, times: &Times, rows: f64, trivial: f64) {
    let target = if matches!(case.kind, Kind::Search(_)) { SEARCH_MS_MAX } else { LIST_MS_MAX };
    let verdict = if times.at(95) <= target { "yes" } else { "**no**" };
    let (p50, p95, p99) = (times.at(50), times.at(95), times.at(99));
    let ratio = p50 / trivial;
    println!("| {} | {name} | {rows:.0} | {p50:.2} | {p95:.2} | {p99:.2} | {ratio:.0} | {verdict} |", case.name);
}

async fn query(world: &World, rng: &mut Rng, organization: &Organization, kind: Kind) -> (Duration, usize) {
    let (store, page) = (&world.store, Page::first(PAGE));
    match kind {
        Kind::List(filter) => {
            let filter = filter(rng, organization);
            let began = Instant::now();
            let found = store.history().list_invocations(&organization.id, &filter, page).await.expect("a list");
            (began.elapsed(), found.items.len())
        }
        Kind::DeepList => {
            let page = Page { token: token_within(world, rng, organization).await, ..page };
            let began = Instant::now();
            let found =
                store.history().list_invocations(&organization.id, &RunFilter::default(), page).await.expect("a list");
            (began.elapsed(), found.items.len())
        }
        Kind::Search(query) => {
            let query = query(rng, organization);
            let began = Instant::now();
            let found = store.history().search_invocations(&organization.id, &query, page).await.expect("a search");
            (began.elapsed(), found.items.len())
        }
    }
}

/// Returns the token of a page that begins at a random time.
async fn token_within(world: &World, rng: &mut Rng, organization: &Organization) -> u64 {
    let at = START + rng.i64(..i64::try_from(SPAN_MS).unwrap_or(i64::MAX));
    let filter = RunFilter { created_before: Some(Timestamp::from_milliseconds(at)), ..RunFilter::default() };
    let slice =
        world.store.history().list_invocations(&organization.id, &filter, Page::first(1)).await.expect("a list");
    slice.next.unwrap_or_default()
}

async fn trivial(world: &World, queries: usize) -> Times {
    let (organization, user) = (world.named("large"), UserId::parse("ann").expect("a name"));
    let mut times = Vec::new();
    for _ in 0..queries {
        let began = Instant::now();
        world.store.access().get_user(&organization.id, &user).await.expect("a user");
        times.push(began.elapsed());
    }
    Times::of(times)
}

impl Times {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self(times)
    }

    /// Returns a percentile in milliseconds.
    fn at(&self, percent: usize) -> f64 {
        let index = (self.0.len() * percent / 100).min(self.0.len() - 1);
        self.0[index].as_secs_f64() * 1000.0
    }
}
