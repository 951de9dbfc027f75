//! Publications of one tool by several processes, which are paused beyond their leases and killed, on Postgres: every version is
//! published by one attempt, and no attempt publishes after another took its lease over.
//!
//! `LATHE_RACE_ATTEMPTS` is the number of attempts.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use registry::{BumpKind, DatabaseLocation, Error, Page, Principal, SecretValue, ToolId, ToolRef, VersionFilter};

use crate::database;
use crate::fixtures::{World, next_version};

/// The variable of a process that publishes: the database, the organisation's tool, and the number of its first attempt.
const PUBLISHER: &str = "LATHE_TEST_PUBLISHER";
const PUBLISHERS: usize = 3;
const ATTEMPTS: usize = 300;
/// Shorter than the pauses.
const LEASE: Duration = Duration::from_millis(150);

struct Publisher {
    child: Child,
    output: BufReader<ChildStdout>,
}

/// Attempts that were acknowledged, by version, and how many were refused or lost their lease.
#[derive(Default)]
struct Ledger {
    published: BTreeMap<String, String>,
    refused: usize,
    lost: usize,
    /// The connection was lost, also during a commit.
    unknown: usize,
    paused: usize,
    killed: usize,
}

#[tokio::test(flavor = "multi_thread")]
async fn publications_of_processes_that_pause_and_die_have_one_winner_each() {
    if !database::is_server() {
        return;
    }
    let attempts = std::env::var("LATHE_RACE_ATTEMPTS").map_or(ATTEMPTS, |text| text.parse().unwrap());
    let world = World::with(registry::Config { live_versions_max: 1_000_000, ..registry::Config::for_tests() }).await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "raced").await;
    let ledger = tokio::task::block_in_place(|| run(&world, &tool, attempts));
    let versions = published(&world, &acme, &tool).await;
    println!(
        "{attempts} attempts: {} acknowledged, {} versions, {} refused, {} lost their lease, {} unknown, {} pauses, {} kills",
        ledger.published.len(),
        versions.len(),
        ledger.refused,
        ledger.lost,
        ledger.unknown,
        ledger.paused,
        ledger.killed
    );
    let commits: BTreeSet<_> = versions.values().collect();
    assert_eq!(commits.len(), versions.len(), "an attempt published twice");
    for (version, commit) in &ledger.published {
        assert_eq!(versions.get(version), Some(commit), "{version} was acknowledged to another attempt");
    }
    let hidden = versions.len() - ledger.published.len();
    assert!(hidden <= ledger.killed + ledger.unknown, "{hidden} acknowledgements are missing");
    let numbers: BTreeSet<_> = versions.keys().map(|version| minor(version)).collect();
    assert!(numbers.into_iter().eq(0..versions.len() as u64), "versions without gaps");
    assert!(ledger.lost > 0 && ledger.paused > 0 && ledger.killed > 0, "nothing happened: not a race");
}

fn minor(version: &str) -> u64 {
    version.split('.').nth(1).unwrap().parse().unwrap()
}

/// All versions with their commits, which are the names of the attempts.
async fn published(world: &World, acme: &Principal, tool: &ToolId) -> BTreeMap<String, String> {
    let (mut found, mut page) = (BTreeMap::new(), Page::first(100));
    loop {
        let of = ToolRef { organization: &acme.organization, tool };
        let slice = world.store.versions().list_versions(of, &VersionFilter::default(), page).await.unwrap();
        found.extend(slice.items.into_iter().map(|version| (version.version.to_string(), version.commit)));
        let Some(token) = slice.next else { return found };
        page.token = token;
    }
}

/// Runs publishers until there were enough attempts. Every so often one of them is paused beyond its lease, or killed and replaced.
fn run(world: &World, tool: &ToolId, attempts: usize) -> Ledger {
    let (mut ledger, mut begun) = (Ledger::default(), 0);
    let mut publishers: Vec<_> = (0..PUBLISHERS).map(|_| start(world, tool, &mut begun)).collect();
    for attempt in 0..attempts {
        let index = attempt % PUBLISHERS;
        match attempt % 20 {
            7 => pause(&publishers[index], &mut ledger),
            13 => {
                let old = std::mem::replace(&mut publishers[index], start(world, tool, &mut begun));
                ledger.killed += 1;
                end(old, &mut ledger);
            }
            _ => {}
        }
        ledger.note(&publishers[index].line());
    }
    publishers.into_iter().for_each(|publisher| end(publisher, &mut ledger));
    ledger.killed += PUBLISHERS;
    ledger
}

fn pause(publisher: &Publisher, ledger: &mut Ledger) {
    let process = Pid::from_raw(publisher.child.id().try_into().unwrap());
    kill(process, Signal::SIGSTOP).unwrap();
    std::thread::sleep(LEASE * 2);
    kill(process, Signal::SIGCONT).unwrap();
    ledger.paused += 1;
}

/// Kills a publisher. What it had acknowledged before counts.
fn end(mut publisher: Publisher, ledger: &mut Ledger) {
    publisher.child.kill().unwrap();
    publisher.child.wait().unwrap();
    let mut line = String::new();
    while publisher.output.read_line(&mut line).unwrap() > 0 {
        if line.ends_with('\n') {
            ledger.note(&line);
        }
        line.clear();
    }
}

fn start(world: &World, tool: &ToolId, begun: &mut usize) -> Publisher {
    let DatabaseLocation::Url(url) = &world.database else { panic!("a server") };
    let keys = world.data.root().display();
    let first = *begun;
    *begun += 1_000_000;
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "race::a_publisher", "--nocapture"]);
    command.env(PUBLISHER, format!("{} {keys} {tool} {first}", url.expose()));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    Publisher { child, output }
}

impl Publisher {
    /// The next outcome. The test program prints other lines before.
    fn line(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "a publisher ended by itself");
            if line.starts_with('=') {
                return line;
            }
        }
    }
}

impl Ledger {
    fn note(&mut self, line: &str) {
        let words: Vec<_> = line.split_whitespace().collect();
        match words.as_slice() {
            ["=published", version, commit] => {
                let before = self.published.insert((*version).to_owned(), (*commit).to_owned());
                assert_eq!(before, None, "{version} was acknowledged twice");
            }
            ["=lost"] => self.lost += 1,
            ["=unknown"] => self.unknown += 1,
            ["=busy"] => self.refused += 1,
            _ => {}
        }
    }
}

/// Publishes until it is killed, when another test starts this one as a process.
#[tokio::test]
async fn a_publisher() {
    let Ok(settings) = std::env::var(PUBLISHER) else { return };
    let words: Vec<_> = settings.split(' ').collect();
    let [url, keys, tool, first] = words.as_slice() else { panic!("{settings}") };
    let database = DatabaseLocation::Url(SecretValue::new((*url).to_owned()));
    let (store, acme) = crate::fixtures::store_beside(keys.as_ref(), database).await;
    println!();
    let (tool, first) = (ToolId::parse(tool).unwrap(), first.parse::<usize>().unwrap());
    for attempt in first.. {
        let outcome = attempt_once(&store, &acme, &tool, attempt).await;
        println!("{outcome}");
        std::io::stdout().flush().unwrap();
    }
}

async fn attempt_once(store: &registry::Store, acme: &Principal, tool: &ToolId, attempt: usize) -> String {
    let lease = match store.versions().acquire_lease(acme, tool, LEASE).await {
        Ok(lease) => lease,
        Err(Error::Busy(_)) => {
            tokio::time::sleep(Duration::from_millis(3)).await;
            return "=busy".to_owned();
        }
        Err(error) => panic!("{error}"),
    };
    // The work of a build, in which the process may be paused.
    tokio::time::sleep(Duration::from_millis(2 + attempt as u64 % 5)).await;
    let commit = format!("{attempt:040x}");
    let publish = async {
        let new = next_version(store, &lease, BumpKind::Minor).await?;
        store.versions().publish_version(&lease, registry::NewVersion { commit: commit.clone(), ..new }).await
    };
    match publish.await {
        Ok(version) => format!("=published {} {commit}", version.version),
        Err(Error::LeaseLost) => "=lost".to_owned(),
        // The database ended the transaction of a paused process.
        Err(Error::DatabaseUnavailable { .. } | Error::DatabaseBusy { .. }) => "=unknown".to_owned(),
        Err(error) => panic!("{error}"),
    }
}
