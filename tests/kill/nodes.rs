//! Two servers on one Postgres database. Each strike hits one of them, both, or the database; the others go on serving.
//!
//! The servers share their artifacts, and each has repositories of its own. One of them reaches the database through a proxy.

use std::collections::BTreeMap;
use std::time::Duration;

use fastrand::Rng;
use tokio::time::Instant;

use super::database::{Database, Location};
use super::proxy::Proxy;
use super::run::{Killer, Run, Setting};
use super::stage::TAKEOVER_MAX;
use super::strike::{STRIKES, Strike};
use crate::harness::Cluster;
use crate::harness::{Options, Server, eventually};

const NODES: usize = 2;
const CLIENTS: u64 = 4;
/// The database of the servers.
const DATABASE: &str = "postgres";
/// Longest work before a strike.
const BUSY_MAX: Duration = Duration::from_millis(1_500);
/// Work of the other server after a strike.
const AFTER: Duration = Duration::from_millis(700);
/// Of so many strikes, one waits until the work of the dead server is taken over.
const SAMPLED: u64 = 10;
/// Comparisons of everything in a run.
const DEEP_COMPARISONS: u64 = 10;
const PAUSE: Duration = Duration::from_millis(50);
/// Time in which a server notices that the database is away.
const NOTICE_MAX: Duration = Duration::from_secs(10);

#[test]
fn kills_of_servers_and_of_their_database_lose_and_double_nothing() {
    if std::env::var("LATHE_KILLS_DATABASE").is_ok_and(|database| database != "postgres") {
        return;
    }
    let Some(cluster) = Cluster::start() else { return };
    let kills = super::number("LATHE_KILLS").unwrap_or(STRIKES.len() as u64);
    let seed = super::number("LATHE_KILL_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("LATHE_KILL_SEED={seed} LATHE_KILLS={kills} LATHE_KILLS_DATABASE=postgres");
    let mut nodes = Nodes::start(cluster, seed);
    let mut strikes = strikes(seed);
    while nodes.run.tally.count() < kills {
        nodes.strike(strikes.next().expect("a strike"));
    }
    nodes.finish();
}

/// All kinds of strikes in turn, in another order each time.
fn strikes(seed: u64) -> impl Iterator<Item = Strike> {
    let mut rng = Rng::with_seed(seed);
    std::iter::repeat_with(move || {
        let mut strikes = STRIKES;
        rng.shuffle(&mut strikes);
        strikes
    })
    .flatten()
}

struct Nodes {
    run: Run,
    cluster: Cluster,
    proxy: Proxy,
    rng: Rng,
    /// The start of each server, as the database names it.
    boots: [String; NODES],
    location: Location,
    count: u64,
    outcomes: BTreeMap<Strike, Outcomes>,
    /// Longest time until the work of a dead server was closed, and the number of times it was awaited.
    takeover: (Duration, u64),
}

/// What happened in the rounds of one kind of strike.
#[derive(Default)]
struct Outcomes {
    strikes: u64,
    acknowledged: u64,
    refused: u64,
    cut_off: u64,
}

impl Nodes {
    fn start(cluster: Cluster, seed: u64) -> Self {
        let url = cluster.url(DATABASE);
        let port = url.rsplit_once(':').and_then(|(_, rest)| rest.split('/').next()?.parse().ok()).expect("a port");
        let proxy = Proxy::before(port);
        let through_proxy = url.replace(&format!(":{port}/"), &format!(":{}/", proxy.port()));
        let server = |url: &str| Options { database: Some(url.to_owned()), ..Options::default() };
        let servers = vec![server(&through_proxy), server(&url)];
        let mut run = Run::new(Setting { name: "nodes", seed, clients: CLIENTS, servers, is_faulty: false });
        run.records.may_lack_ends = true;
        let location = Location::Postgres(url);
        let boots = Database::open(&location).boots().try_into().expect("two servers");
        Self {
            run,
            cluster,
            proxy,
            rng: Rng::with_seed(seed),
            boots,
            location,
            count: 0,
            outcomes: BTreeMap::new(),
            takeover: (Duration::ZERO, 0),
        }
    }

    /// Works, strikes, works on, starts what ended, and compares.
    fn strike(&mut self, strike: Strike) {
        self.count += 1;
        let busy = BUSY_MAX.mul_f64(self.rng.f64());
        let is_sampled = self.count % SAMPLED == 1;
        let strike = if is_sampled { Strike::Node(self.rng.usize(..NODES)) } else { strike };
        let Self { run, cluster, proxy, boots, location, takeover, .. } = self;
        run.work(|killer| {
            std::thread::sleep(busy);
            let began = Instant::now();
            strike.hit(killer, cluster, proxy);
            if let (Strike::Node(dead), true) = (strike, is_sampled) {
                let closed = closed_after(location, &boots[1 - dead..][..1], began);
                *takeover = (takeover.0.max(closed), takeover.1 + 1);
            }
            if !killer.stage.alive().is_empty() {
                killer.is_acknowledged();
                std::thread::sleep(AFTER);
            }
            killer.stage.set_over(true);
        });
        run.tally.killed(strike.name());
        self.restart();
        let is_deep = self.count.is_multiple_of(DEEP_COMPARISONS);
        self.run.founder.server = self.run.servers[self.rng.usize(..NODES)].clone();
        self.run.compare(is_deep);
        self.note(strike);
        self.run.settle();
    }

    /// Starts the dead servers, one after the other. A third of them is killed in its start once more.
    fn restart(&mut self) {
        let dead: Vec<_> = (0..NODES).filter(|node| self.run.stage.is_killed(*node)).collect();
        for node in &dead {
            if self.rng.u8(..3) == 0 {
                self.run.servers[*node].starts_and_is_killed(self.run.start.mul_f64(self.rng.f64()));
                self.run.tally.killed("a starting server");
            }
        }
        for node in dead {
            let known = self.boots_in_database();
            self.run.restart_one(node);
            let new = self.boots_in_database().into_iter().rfind(|boot| !known.contains(boot));
            self.boots[node] = new.expect("the start of a server");
        }
        self.run.restarted();
    }

    fn boots_in_database(&self) -> Vec<String> {
        Database::open(&self.location).boots()
    }

    fn note(&mut self, strike: Strike) {
        let outcomes = self.outcomes.entry(strike).or_default();
        outcomes.strikes += 1;
        for (_, entry) in self.run.entries.selected(false) {
            match &entry.outcome {
                None => outcomes.cut_off += 1,
                Some(outcome) if outcome.is_acknowledged() => outcomes.acknowledged += 1,
                Some(_) => outcomes.refused += 1,
            }
        }
    }

    /// Waits until nothing goes on, and compares everything.
    fn finish(&mut self) {
        let closed = closed_after(&self.location, &self.boots, Instant::now());
        self.takeover = (self.takeover.0.max(closed), self.takeover.1 + 1);
        self.run.settle_all(true);
        self.run.records.may_lack_ends = false;
        self.run.look(true);
        self.print();
        self.run.findings.assert_none();
    }

    fn print(&self) {
        println!("{:<28}{:>8}{:>14}{:>10}{:>10}", "strikes", "count", "acknowledged", "refused", "cut off");
        for (strike, Outcomes { strikes, acknowledged, refused, cut_off }) in &self.outcomes {
            println!("{:<28}{strikes:>8}{acknowledged:>14}{refused:>10}{cut_off:>10}", strike.name());
        }
        let ((longest, times), longest_call) = (self.takeover, self.run.stage.longest_call());
        self.run.tally.print(&self.run.entries, &self.run.findings);
        println!(
            "longest takeover {} ms, of {times}; longest call {} ms",
            longest.as_millis(),
            longest_call.as_millis()
        );
    }
}

/// Waits until no work is open but that of these servers. Returns the time since the death of the others.
fn closed_after(location: &Location, alive: &[String], death: Instant) -> Duration {
    let mut database = Database::open(location);
    loop {
        let open = database.work_of_others(alive);
        let time = death.elapsed();
        if open.is_empty() {
            return time;
        }
        assert!(time < TAKEOVER_MAX, "{time:?} after the death of its server: {open:?}");
        std::thread::sleep(PAUSE);
    }
}

/// Waits until a server says what it lacks.
pub fn notices(server: &Server) {
    let deadline = Instant::now() + NOTICE_MAX;
    loop {
        let answer = server.request("GET", "/health/ready").send();
        if answer.status == 503 {
            assert!(answer.detail().contains("database"), "{answer}");
            return;
        }
        assert!(Instant::now() < deadline, "a server without a database is ready: {answer}");
        std::thread::sleep(PAUSE);
    }
}

/// Waits until all servers have the database again.
pub fn recover(killer: &Killer<'_>) {
    for server in killer.servers {
        eventually("readiness", || (server.request("GET", "/health/ready").send().status == 200).then_some(()));
    }
}
