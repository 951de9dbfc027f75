//! A server under work, its kills and restarts, and the comparison after each restart.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::action::ANY;
use super::client::{Client, NewClient};
use super::database::{Database, Location, VersionRow};
use super::evidence::Evidence;
use super::findings::Findings;
use super::ledger::Entries;
use super::moments::Moment;
use super::records::{Records, compare_marks};
use super::repository::HostedRepository;
use super::stage::Stage;
use super::tally::Tally;
use super::values::{possible_values, value_of};
use super::versions::{Versions, is_recent};
use crate::harness::{Options, Server, Team, eventually};

pub struct Run {
    /// Dropped before the server, whose last holder removes its data.
    _evidence: Vec<Evidence>,
    pub clients: Vec<Client>,
    /// The servers, which share a database when there are several.
    pub servers: Vec<Arc<Server>>,
    pub stage: Stage,
    pub findings: Findings,
    pub tally: Tally,
    pub entries: Entries,
    /// The time of the last start.
    pub start: Duration,
    pub founder: Team,
    pub records: Records,
    location: Location,
}

/// The settings of a run.
pub struct Setting {
    pub name: &'static str,
    pub seed: u64,
    pub clients: u64,
    /// The options of each server. Only a server that is alone may have no database.
    pub servers: Vec<Options>,
    pub is_faulty: bool,
}

impl Run {
    pub fn new(setting: Setting) -> Self {
        let Setting { name, seed, clients, servers: options, is_faulty } = setting;
        let mut servers: Vec<Arc<Server>> = Vec::new();
        for options in options {
            servers.push(Server::private(&with_shared_artifacts(options, servers.first())));
        }
        let evidence =
            |(node, server): (usize, &Arc<Server>)| Evidence::of(server.data(), format!("{name}-{seed}-{node}"));
        let evidence = servers.iter().enumerate().map(evidence).collect();
        let founder = Team::on(&servers[0]);
        let stage = Stage::new(servers[0].data().parent().expect("a directory"), servers.len(), is_faulty);
        let new = |number| NewClient { number, seed, servers: &servers };
        let clients = (0..clients).map(|number| Client::join(&founder, &stage, &new(number))).collect();
        let location = match servers[0].database() {
            Some(url) => Location::Postgres(url.to_owned()),
            None => Location::Sqlite(servers[0].data().to_owned()),
        };
        Self {
            _evidence: evidence,
            clients,
            servers,
            stage,
            findings: Findings::default(),
            tally: Tally::begin(),
            entries: Entries::default(),
            start: Duration::from_secs(1),
            founder,
            records: Records::default(),
            location,
        }
    }

    /// Kills the server at a moment.
    pub fn kill(&mut self, moment: Moment) {
        match moment {
            Moment::Busy(time) => {
                self.work(|killer| {
                    std::thread::sleep(time);
                    killer.kill_now();
                });
                self.tally.killed("a busy server");
            }
            Moment::Quiet(time) => {
                std::thread::sleep(time);
                self.kill_now();
                self.tally.killed("a quiet one");
            }
            Moment::Start(time) => {
                self.kill_now();
                self.servers[0].starts_and_is_killed(time);
                self.tally.killed("a quiet one");
                self.tally.killed("a starting one");
            }
        }
    }

    /// Lets all clients work until `meanwhile` has killed the server.
    pub fn work(&mut self, meanwhile: impl FnOnce(&Killer<'_>)) {
        let Self { clients, stage, servers, .. } = self;
        let stage = &*stage;
        std::thread::scope(|scope| {
            for client in clients {
                scope.spawn(move || client.work(stage));
            }
            meanwhile(&Killer { stage, servers });
        });
    }

    pub fn kill_now(&self) {
        Killer { stage: &self.stage, servers: &self.servers }.kill_now();
    }

    /// Starts the killed server again on the same data.
    pub fn restart(&mut self) {
        (0..self.servers.len()).for_each(|node| self.restart_one(node));
        self.restarted();
    }

    pub fn restart_one(&mut self, node: usize) {
        let began = Instant::now();
        self.servers[node] = self.servers[node].restarted(|_| {});
        self.servers[node].request("GET", "/health/live").send().expect(200);
        self.start = began.elapsed();
        self.tally.restarted(self.start);
        self.stage.set_killed(node, false);
    }

    /// Tells the clients the addresses of the servers that were started.
    pub fn restarted(&mut self) {
        self.founder.server = self.servers[0].clone();
        for client in &mut self.clients {
            client.servers.clone_from(&self.servers);
            client.team.server = self.servers[client.home].clone();
        }
        self.stage.set_over(false);
    }

    /// Compares the ledger with the restarted server: its last lines, or all of it. Fails the test if they differ.
    pub fn compare(&mut self, is_deep: bool) {
        self.look(is_deep);
        if self.findings.is_any() {
            self.tally.print(&self.entries, &self.findings);
        }
        self.findings.assert_none();
    }

    /// Compares like [`Run::compare`], and only collects findings.
    pub fn look(&mut self, is_deep: bool) {
        self.entries.update(&self.stage.ledger);
        let rows = self.look_at_database(is_deep);
        self.look_at_repository(is_deep);
        self.ask(&rows);
        let panics = self.servers.iter().map(|server| server.log_about("panicked"));
        self.findings.other.extend(panics.filter(|lines| !lines.is_empty()));
        self.findings.other.extend(self.stage.take_findings());
    }

    fn look_at_database(&mut self, is_deep: bool) -> Vec<VersionRow> {
        let Self { entries, findings, records, .. } = self;
        let mut database = Database::open(&self.location);
        if !records.may_lack_ends {
            let open = database.unfinished_work();
            findings.other.extend(open.into_iter().map(|what| format!("{what} after the start")));
        }
        // Servers that share a database commit in another order than they number.
        if is_deep || self.stage.is_shared() {
            records.forget();
        }
        if is_deep {
            findings.other.extend(database.damage());
        }
        records.update(&mut database);
        self.tally.orphans = records.orphans();
        records.compare(entries, is_deep, findings);
        compare_marks(entries, is_deep, findings);
        let rows = database.versions();
        Versions { rows: &rows, data: self.servers[0].data() }.compare(entries, is_deep, findings);
        rows
    }

    fn look_at_repository(&mut self, is_deep: bool) {
        let Self { entries, findings, clients, .. } = self;
        for (node, server) in self.servers.iter().enumerate() {
            let repository = HostedRepository::of(&self.founder, server);
            let own = clients.iter().filter(|client| client.home == node).map(Client::branch).collect();
            repository.compare(&own, entries.selected(is_deep), findings);
            findings.other.extend(repository.leftovers().into_iter().map(|path| format!("{} is left", path.display())));
            if is_deep {
                findings.other.extend(repository.damage());
            }
        }
    }

    /// Compares what the server says with the ledger.
    fn ask(&mut self, rows: &[VersionRow]) {
        let Self { clients, stage, findings, entries, founder, .. } = self;
        super::answers::compare(founder, entries, findings);
        for client in clients {
            let tool = client.tool.clone();
            for row in rows.iter().filter(|row| row.tool == tool && is_recent(entries, row)) {
                super::answers::compare_version(founder, row, findings);
                if !row.is_deprecated
                    && let Err(error) = client.run(stage, &row.version)
                {
                    findings.half_published.push(format!("{row:?} does not run: {error}"));
                }
            }
            let values = possible_values(entries, &tool, stage.is_shared());
            let output = client.run(stage, ANY).unwrap_or_else(|error| format!("no output: {error}"));
            if !value_of(&output).is_some_and(|value| values.contains(value)) {
                findings.lost.push(format!("the variable of {tool} has none of {values:?}: {output}"));
            }
            findings.doubled.extend(client.repeat_answered());
        }
    }

    /// Lets the clients send again what was cut off.
    pub fn settle(&mut self) {
        self.settle_all(false);
    }

    /// Like [`Run::settle`], with what was cut off a moment ago when nothing comes after.
    pub fn settle_all(&mut self, is_last: bool) {
        let Self { clients, stage, findings, .. } = self;
        for client in clients {
            let outcomes = client.settle(stage, is_last).into_iter();
            let refused = outcomes.filter(|outcome| !outcome.is_acknowledged() && !outcome.is_open());
            // The stage judges refusals by several servers.
            let refused = refused.filter(|_| !stage.is_shared());
            findings.other.extend(refused.map(|outcome| format!("a repetition was refused: {outcome:?}")));
        }
    }

    /// Moves the branch of a client back to the parent of its tip, behind the server's back.
    pub fn rewind(&self, client: usize) {
        HostedRepository::of(&self.founder, &self.servers[0]).rewind(self.clients[client].branch());
    }

    /// Fails the test if an action was refused: nothing that the clients do is wrong.
    pub fn refuses_nothing(&mut self) {
        let refused = self.entries.all.iter().filter(|(_, entry)| !entry.is_acknowledged() && !entry.is_open());
        self.findings.other.extend(refused.map(|(number, entry)| format!("{number} was refused: {entry:?}")));
    }
}

/// Lets a server use the artifacts of the first one, as a store that all servers reach.
fn with_shared_artifacts(mut options: Options, first: Option<&Arc<Server>>) -> Options {
    // No publication is refused because of limits.
    let arguments = ["--live-versions", "1000000", "--parallel-builds", "4"];
    options.arguments.extend(arguments.map(str::to_owned));
    options.artifacts = first.map(|server| server.data().join("artifacts"));
    options
}

/// Ends the servers of a run.
pub struct Killer<'a> {
    pub stage: &'a Stage,
    pub servers: &'a [Arc<Server>],
}

impl Killer<'_> {
    /// Waits until the server acknowledges an action.
    pub fn is_acknowledged(&self) {
        let before = self.stage.ledger.acknowledged();
        eventually("an acknowledgement", || (self.stage.ledger.acknowledged() > before).then_some(()));
    }

    /// Kills the only server, and ends the work.
    pub fn kill_now(&self) {
        self.stage.set_over(true);
        self.kill(0);
    }

    pub fn kill(&self, node: usize) {
        // Connections end from here on.
        self.stage.set_killed(node, true);
        self.servers[node].kill();
    }
}
