//! Fills the Library of one user with memories, and measures searches.
//!
//! `cargo bench -p agents --bench memories -- [MEMORIES] [--database URL]`. Without a database, a temporary SQLite file is used.

use std::time::{Duration, Instant};

use agents::{AgentStore, Library, LibraryContent, LibraryFamily, LibraryScope, Provenance, StoreConfig};
use fastrand::Rng;
use futures_util::stream::{self, StreamExt};
use registry::{
    AccountId, Clock, Config, DataDir, DatabaseLocation, KeyRing, NewOrganization, OrganizationId, SecretValue,
    StoreOptions,
};
use serde_json::json;

const MEMORIES_DEFAULT: usize = 100_000;
const SEARCHES: usize = 300;
/// Memories that are written at the same time.
const WRITES: usize = 64;
/// Different words. Each is as frequent as its number is low.
const WORDS: f64 = 30_000.0;
const WORDS_OF_A_MEMORY: std::ops::RangeInclusive<usize> = 8..=32;
const WORDS_OF_A_QUERY: std::ops::RangeInclusive<usize> = 2..=6;

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().expect("a directory");
    let (memories, database) = arguments();
    let store = open(folder.path(), database).await;
    let library = library(&store).await;
    let mut rng = Rng::with_seed(1);

    let began = now();
    let texts: Vec<_> = (0..memories).map(|_| text(&mut rng, WORDS_OF_A_MEMORY)).collect();
    stream::iter(texts).for_each_concurrent(WRITES, |text| remember(&library, text)).await;
    println!("{memories} memories written in {:.1?}", began.elapsed());

    let began = now();
    let vectors = store.embed_memories().await.expect("vectors");
    println!("{vectors} vectors made in {:.1?}", began.elapsed());

    println!("first search: {:.1?}", search(&library, &mut rng).await);
    let mut times = Vec::new();
    for _ in 0..SEARCHES {
        times.push(search(&library, &mut rng).await);
    }
    report("searches", times);
    let mut times = Vec::new();
    for _ in 0..SEARCHES {
        remember(&library, text(&mut rng, WORDS_OF_A_MEMORY)).await;
        times.push(search(&library, &mut rng).await);
    }
    report("searches, each after a write", times);
    store.registry().close().await;
}

fn arguments() -> (usize, DatabaseLocation) {
    let (mut memories, mut database) = (MEMORIES_DEFAULT, DatabaseLocation::DataDirectory);
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--database" => database = DatabaseLocation::Url(SecretValue::new(given.next().expect("a URL"))),
            // Cargo passes it to every benchmark.
            "--bench" => {}
            number => memories = number.parse().expect("a number of memories"),
        }
    }
    (memories, database)
}

async fn open(folder: &std::path::Path, database: DatabaseLocation) -> AgentStore {
    let data = DataDir::open(folder).expect("the data directory");
    let keys = KeyRing::load(&data).expect("the master key");
    let clock = Clock::system();
    let options = StoreOptions { data: &data, database, keys: &keys, clock, config: Config::default() };
    AgentStore::open(options, StoreConfig::default()).await.expect("the store")
}

async fn library(store: &AgentStore) -> Library {
    let organization = OrganizationId::parse("acme").expect("an organisation");
    let account = AccountId::parse("ada#1").expect("an account");
    let new = NewOrganization { organization: organization.clone(), user: account.user() };
    store.registry().access().create_organization(new).await.expect("an empty database");
    store.library(LibraryScope { organization, account, app: None }, Provenance::default())
}

async fn remember(library: &Library, text: String) {
    let body = json!({"content": text}).as_object().cloned().expect("an object");
    let content = LibraryContent { body, ..LibraryContent::default() };
    library.create(LibraryFamily::Memory, content).await.expect("a memory");
}

async fn search(library: &Library, rng: &mut Rng) -> Duration {
    let query = text(rng, WORDS_OF_A_QUERY);
    let began = now();
    let results = library.search_memories(&query, 10).await.expect("results");
    let took = began.elapsed();
    assert_eq!(results.semantic, Some("corpus"));
    took
}

/// Words whose frequency falls with their number, as in a language.
fn text(rng: &mut Rng, words: std::ops::RangeInclusive<usize>) -> String {
    let words = (0..rng.usize(words)).map(|_| format!("word{:.0}", WORDS.powf(rng.f64())));
    words.collect::<Vec<_>>().join(" ")
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    println!("{what}: p50 {:.1?}, p95 {:.1?}, highest {:.1?}", at(50), at(95), at(100));
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn now() -> Instant {
    Instant::now()
}
