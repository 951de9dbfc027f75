//! A server under work, its kills and restarts, and the comparison after each restart.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::action::ANY;
use super::client::Client;
use super::database::{Database, VersionRow};
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
    _evidence: Evidence,
    pub clients: Vec<Client>,
    pub server: Arc<Server>,
    pub stage: Stage,
    pub findings: Findings,
    pub tally: Tally,
    pub entries: Entries,
    /// The time of the last start.
    pub start: Duration,
    founder: Team,
    records: Records,
}

/// The settings of a run.
pub struct Setting {
    pub name: &'static str,
    pub seed: u64,
    pub clients: u64,
    pub options: Options,
    pub is_faulty: bool,
}

impl Run {
    pub fn new(setting: Setting) -> Self {
        let Setting { name, seed, clients, mut options, is_faulty } = setting;
        // No publication is refused because of limits.
        let arguments = ["--live-versions", "1000000", "--parallel-builds", "4"];
        options.arguments.extend(arguments.map(str::to_owned));
        let server = Server::private(&options);
        let evidence = Evidence::of(server.data(), format!("{name}-{seed}"));
        let founder = Team::on(&server);
        let stage = Stage::new(server.data().parent().expect("a directory"), is_faulty);
        let clients = (0..clients).map(|number| Client::join(&founder, &stage, (number, seed))).collect();
        Self {
            _evidence: evidence,
            clients,
            server,
            stage,
            findings: Findings::default(),
            tally: Tally::begin(),
            entries: Entries::default(),
            start: Duration::from_secs(1),
            founder,
            records: Records::default(),
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
                self.tally.kills[0] += 1;
            }
            Moment::Quiet(time) => {
                std::thread::sleep(time);
                self.kill_now();
                self.tally.kills[1] += 1;
            }
            Moment::Start(time) => {
                self.kill_now();
                self.server.starts_and_is_killed(time);
                self.tally.kills[1] += 1;
                self.tally.kills[2] += 1;
            }
        }
    }

    /// Lets all clients work until `meanwhile` has killed the server.
    pub fn work(&mut self, meanwhile: impl FnOnce(&Killer<'_>)) {
        let Self { clients, stage, server, .. } = self;
        let stage = &*stage;
        std::thread::scope(|scope| {
            for client in clients {
                scope.spawn(move || client.work(stage));
            }
            meanwhile(&Killer { stage, server });
        });
    }

    pub fn kill_now(&self) {
        Killer { stage: &self.stage, server: &self.server }.kill_now();
    }

    /// Starts the server again on the same data.
    pub fn restart(&mut self) {
        let began = Instant::now();
        self.server = self.server.restarted(|_| {});
        self.server.request("GET", "/health/live").send().expect(200);
        self.start = began.elapsed();
        self.tally.restarted(self.start);
        self.founder.server = self.server.clone();
        self.clients.iter_mut().for_each(|client| client.team.server = self.server.clone());
        self.stage.set_killed(false);
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
        let panics = self.server.log_about("panicked");
        self.findings.other.extend(Some(panics).filter(|lines| !lines.is_empty()));
    }

    fn look_at_database(&mut self, is_deep: bool) -> Vec<VersionRow> {
        let Self { entries, findings, records, .. } = self;
        let mut database = Database::open(self.server.data());
        let open = database.open_work();
        findings.other.extend(open.into_iter().map(|what| format!("{what} after the start")));
        if is_deep {
            *records = Records::default();
            findings.other.extend(database.damage());
        }
        records.update(&mut database);
        self.tally.orphans = records.orphans();
        records.compare(entries, is_deep, findings);
        compare_marks(entries, is_deep, findings);
        let rows = database.versions();
        Versions { rows: &rows, data: self.server.data() }.compare(entries, is_deep, findings);
        rows
    }

    fn look_at_repository(&mut self, is_deep: bool) {
        let Self { entries, findings, .. } = self;
        let repository = HostedRepository::of(&self.founder);
        repository.compare(entries, is_deep, findings);
        findings.other.extend(repository.leftovers().into_iter().map(|path| format!("{} is left", path.display())));
        if is_deep {
            findings.other.extend(repository.damage());
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
            let values = possible_values(entries, &tool);
            let output = client.run(stage, ANY).unwrap_or_else(|error| format!("no output: {error}"));
            if !value_of(&output).is_some_and(|value| values.contains(value)) {
                findings.lost.push(format!("the variable of {tool} has none of {values:?}: {output}"));
            }
            findings.doubled.extend(client.repeat_answered());
        }
    }

    /// Lets the clients send again what was cut off.
    pub fn settle(&mut self) {
        let Self { clients, stage, findings, .. } = self;
        for client in clients {
            let refused = client.settle(stage).filter(|outcome| !outcome.is_acknowledged() && !outcome.is_open());
            findings.other.extend(refused.map(|outcome| format!("a repetition was refused: {outcome:?}")));
        }
    }

    /// Moves the branch of a client back to the parent of its tip, behind the server's back.
    pub fn rewind(&self, client: usize) {
        HostedRepository::of(&self.founder).rewind(self.clients[client].branch());
    }

    /// Fails the test if an action was refused: nothing that the clients do is wrong.
    pub fn refuses_nothing(&mut self) {
        let refused = self.entries.all.iter().filter(|(_, entry)| !entry.is_acknowledged() && !entry.is_open());
        self.findings.other.extend(refused.map(|(number, entry)| format!("{number} was refused: {entry:?}")));
    }
}

/// Ends the server of a run.
pub struct Killer<'a> {
    stage: &'a Stage,
    server: &'a Server,
}

impl Killer<'_> {
    /// Waits until the server acknowledges an action.
    pub fn is_acknowledged(&self) {
        let before = self.stage.ledger.acknowledged();
        eventually("an acknowledgement", || (self.stage.ledger.acknowledged() > before).then_some(()));
    }

    pub fn kill_now(&self) {
        // Connections end from here on.
        self.stage.set_killed(true);
        self.server.kill();
    }
}
