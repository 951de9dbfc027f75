//! A client with its own user, tool, branch and clone. It sends one action after the other.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::action::{ANY, Action, Kind, MIX, Outcome, RunEnd, What};
use super::stage::{Stage, TAKEOVER_MAX};
use crate::harness::{Answer, Request, Server, Team, input};

/// The variable that the outputs contain.
const VARIABLE: &str = "VALUE";
/// Of ten changes, the number of deprecations.
const DEPRECATIONS: u8 = 3;
const INPUTS_MAX: usize = 3;
/// One call of four has runs that sleep.
const WAITS_MS: [u64; 4] = [0, 0, 0, 200];
/// One call of four goes to another server than the client's own.
const OTHER_SERVER: f64 = 0.25;
/// Time between two attempts to find a server.
const PAUSE: Duration = Duration::from_millis(10);

pub struct Client {
    pub team: Team,
    pub tool: String,
    /// The servers. Pushes and publications go to the client's own, which has the repository.
    pub servers: Vec<Arc<Server>>,
    pub home: usize,
    name: String,
    branch: String,
    rng: Rng,
    /// The kinds of the next actions. A hundred actions have exactly the mix.
    deck: Vec<Kind>,
    count: u64,
    /// The commit of the last acknowledged push.
    tip: String,
    /// Live versions, the highest last.
    live: Vec<String>,
    /// Actions that were cut off and will be sent again.
    unsettled: Vec<Unsettled>,
    /// The last call with a key, and its runs.
    answered: Option<(u64, Action, Vec<RunEnd>)>,
}

struct Unsettled {
    number: u64,
    action: Action,
    since: Instant,
}

/// A client that will join a team.
pub struct NewClient<'a> {
    pub number: u64,
    pub seed: u64,
    pub servers: &'a [Arc<Server>],
}

impl Client {
    /// Joins the team, and publishes a first version.
    pub fn join(founder: &Team, stage: &Stage, new: &NewClient<'_>) -> Self {
        let NewClient { number, seed, servers } = *new;
        let name = format!("client{number}");
        let mut team = founder.joined_by(&name, "admin");
        let home = usize::try_from(number).expect("a number") % servers.len();
        team.server = servers[home].clone();
        let branch = format!("releases/{name}");
        let tool = team.tool(&name);
        tool.set_variables(&[(VARIABLE, "first", false)]);
        let tool = tool.id().to_owned();
        let rng = Rng::with_seed(seed.wrapping_add(number));
        let (deck, live) = (Vec::new(), Vec::new());
        let (unsettled, answered, tip, servers) = (Vec::new(), None, String::new(), servers.to_vec());
        let mut client =
            Self { team, tool, servers, home, name, branch, rng, deck, count: 0, tip, live, unsettled, answered };
        let push = client.edit();
        for what in [push, client.variable()] {
            client.begin(stage, what);
        }
        let publish = client.publish();
        client.begin(stage, publish);
        assert_eq!(client.live, ["1.0.0"]);
        client
    }

    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Sends actions until the work is over. Without a server, a client of several servers waits for the next one.
    pub fn work(&mut self, stage: &Stage) {
        loop {
            let what = self.next();
            if stage.is_over() {
                return;
            }
            if self.begin(stage, what).is_none() {
                if !stage.is_shared() {
                    return;
                }
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// Sends an action. Returns `None` when it was cut off, or has no server.
    pub fn begin(&mut self, stage: &Stage, what: What) -> Option<Outcome> {
        let node = self.target(stage, &what)?;
        if needs_branch(&what) && stage.is_shared() && !self.settle_push(stage) {
            return None;
        }
        let action = Action { tool: self.tool.clone(), branch: self.branch.clone(), what: self.current(what) };
        let number = stage.ledger.intend(&action);
        self.attempt(stage, Attempt { number, action, node })
    }

    /// Sends the actions again that were cut off, if their repetition is safe. What a killed server had begun is closed by
    /// another one some time later, so that several servers get it after that time.
    pub fn settle(&mut self, stage: &Stage, is_last: bool) -> Vec<Outcome> {
        let is_due = |unsettled: &Unsettled| !stage.is_shared() || is_last || unsettled.since.elapsed() > TAKEOVER_MAX;
        let (due, later) = std::mem::take(&mut self.unsettled).into_iter().partition(is_due);
        self.unsettled = later;
        let due: Vec<Unsettled> = due;
        due.into_iter().filter_map(|unsettled| self.repeat(stage, unsettled)).collect()
    }

    fn repeat(&mut self, stage: &Stage, unsettled: Unsettled) -> Option<Outcome> {
        let Unsettled { number, action, since } = unsettled;
        // Another commit would be published now.
        if matches!(&action.what, What::Publish { commit } if *commit != self.tip) {
            return None;
        }
        let Some(node) = self.target(stage, &action.what) else {
            self.unsettled.push(Unsettled { number, action, since });
            return None;
        };
        stage.ledger.repeat(number, &action);
        let outcome = self.attempt(stage, Attempt { number, action, node });
        assert!(outcome.is_some() || stage.is_killed(node), "the connection to a restarted server ended");
        outcome
    }

    /// Repeats a push that was cut off, before the branch is used again. Returns whether the branch is known.
    fn settle_push(&mut self, stage: &Stage) -> bool {
        let is_push = |unsettled: &Unsettled| matches!(unsettled.action.what, What::Push { .. });
        while let Some(index) = self.unsettled.iter().position(is_push) {
            let unsettled = self.unsettled.remove(index);
            let outcome = self.repeat(stage, unsettled);
            if !outcome.is_some_and(|outcome| outcome.is_acknowledged()) {
                return false;
            }
        }
        true
    }

    /// Sends the last answered call with a key again. Returns what is wrong with the response.
    pub fn repeat_answered(&mut self) -> Option<String> {
        let (number, action, runs) = self.answered.take()?;
        let mut others = self.servers.iter().filter(|server| !Arc::ptr_eq(server, &self.team.server));
        self.team.server = others.next_back().unwrap_or(&self.team.server).clone();
        let answer = self.request(number, &action.what).send();
        let is_replayed = answer.headers.contains_key("idempotency-replayed");
        let is_same = matches!(outcome(&answer), Outcome::Acknowledged { runs: again, .. } if again == runs);
        (!is_replayed || !is_same).then(|| format!("the repetition of {number} got {answer} instead of {runs:?}"))
    }

    /// Runs a version once, and returns the result.
    pub fn run(&mut self, stage: &Stage, version: &str) -> Result<String, String> {
        let what = What::Invoke { version: version.to_owned(), inputs: 1, wait_ms: 0, has_key: false };
        match self.begin(stage, what) {
            Some(Outcome::Acknowledged { mut runs, .. }) => runs.remove(0).end,
            other => Err(format!("{other:?}")),
        }
    }

    /// A publication of the last pushed commit.
    pub fn publish(&self) -> What {
        What::Publish { commit: self.tip.clone() }
    }

    /// Commits another source, for a push.
    pub fn edit(&mut self) -> What {
        self.count += 1;
        let mark = format!("{}-{}", self.name, self.count);
        let wait = "import time\ntime.sleep(tool_input['wait_ms'] / 1000)";
        let output = format!("{{tool_input['number']}}|{mark}|{{config.envvars['{VARIABLE}']}}");
        let body = format!("{wait}\nreturn f\"{output}\"");
        self.team.tool(&self.name).manifest(&format!("required_envvars = ['{VARIABLE}']")).body(&body);
        What::Push { commit: self.team.repository.commit(), mark }
    }

    /// A new value of the variable.
    pub fn variable(&mut self) -> What {
        self.count += 1;
        What::SetVariable { value: format!("value-{}", self.count) }
    }

    fn next(&mut self) -> What {
        if self.deck.is_empty() {
            self.deck = MIX.iter().flat_map(|(kind, count)| std::iter::repeat_n(*kind, *count)).collect();
            self.rng.shuffle(&mut self.deck);
        }
        match self.deck.pop().expect("a kind") {
            Kind::Invoke => {
                let (inputs, has_key) = (self.rng.usize(1..=INPUTS_MAX), self.rng.bool());
                let wait_ms = *self.rng.choice(&WAITS_MS).expect("a time");
                What::Invoke { version: ANY.to_owned(), inputs, wait_ms, has_key }
            }
            Kind::Publish => self.publish(),
            Kind::Push => self.edit(),
            Kind::Change if self.live.len() > 1 && self.rng.u8(..10) < DEPRECATIONS => self.deprecate(),
            Kind::Change => self.variable(),
        }
    }

    /// The deprecation of a version that is not the highest.
    pub fn deprecate(&mut self) -> What {
        let version = self.live.remove(self.rng.usize(..self.live.len() - 1));
        What::Deprecate { version }
    }

    /// The server of an action.
    fn target(&mut self, stage: &Stage, what: &What) -> Option<usize> {
        if !stage.is_shared() {
            return Some(self.home);
        }
        let alive = stage.alive();
        let others: Vec<_> = alive.iter().copied().filter(|node| *node != self.home).collect();
        let is_there = alive.contains(&self.home);
        if needs_branch(what) || others.is_empty() || (is_there && self.rng.f64() >= OTHER_SERVER) {
            return is_there.then_some(self.home);
        }
        self.rng.choice(others)
    }

    /// A publication publishes the last pushed commit, which may have become another one.
    fn current(&self, what: What) -> What {
        match what {
            What::Publish { .. } => self.publish(),
            other => other,
        }
    }

    fn attempt(&mut self, stage: &Stage, attempt: Attempt) -> Option<Outcome> {
        let Attempt { number, action, node } = attempt;
        let began = Instant::now();
        self.team.server = self.servers[node].clone();
        let outcome = match &action.what {
            What::Push { commit, .. } => self.push(stage, node, began, commit),
            _ => self.send(stage, node, number, &action.what),
        };
        if let Some(outcome) = &outcome {
            stage.ledger.settle(number, &action, outcome);
            self.note(number, &action, outcome);
            if stage.is_shared() {
                stage.judge(&format!("{number}, {:?}, on server {node}", action.what), began, outcome);
            }
        }
        let is_open = outcome.as_ref().is_none_or(|outcome| stage.is_shared() && outcome.is_open());
        if is_open && action.what.is_repeatable() {
            self.unsettled.push(Unsettled { number, action, since: began });
        }
        outcome
    }

    fn send(&self, stage: &Stage, node: usize, number: u64, what: &What) -> Option<Outcome> {
        let request = self.request(number, what);
        let answer = if stage.is_faulty { request.try_send_to_failing() } else { request.try_send() };
        if let Err(error) = &answer {
            assert!(stage.is_killed(node) || stage.is_faulty, "a connection ended before the kill: {error:?}");
        }
        answer.ok().map(|answer| outcome(&answer))
    }

    fn push(&self, stage: &Stage, node: usize, began: Instant, commit: &str) -> Option<Outcome> {
        let reference = format!("{commit}:refs/heads/{}", self.branch);
        let said = self.team.repository.git(&["push", "-q", &self.team.git_url(), &reference]);
        match said.code {
            Some(0) => Some(Outcome::acknowledged()),
            _ if stage.is_killed(node) => None,
            // git does not say whether the branch was moved before the failure.
            _ => {
                let may_fail = stage.is_faulty || stage.was_away(began);
                Some(Outcome::Refused { status: if may_fail { 503 } else { 400 }, code: said.stderr })
            }
        }
    }

    fn request(&self, number: u64, what: &What) -> Request<'_> {
        let path = format!("/tool/{}", self.tool);
        let post = |rest: &str, body: &Value| self.team.request("POST", &format!("{path}{rest}")).json(body);
        let key = number.to_string();
        match what {
            What::Invoke { version, inputs, wait_ms, has_key } => {
                let one = input(&json!({"number": number, "wait_ms": wait_ms}));
                let inputs: Vec<_> = (0..*inputs).map(|_| one.clone()).collect();
                let request = post(&format!("/version/{version}/invoke"), &json!({"inputs": inputs}));
                if *has_key { request.header("idempotency-key", &key) } else { request }
            }
            What::Publish { .. } => {
                let project = format!("tools/{}", self.name);
                let body = json!({"project_path": project, "bump_type": "patch", "commit_branch": self.branch});
                post("/version", &body).header("idempotency-key", &key)
            }
            What::SetVariable { value } => {
                post("/envvar", &json!({"inserts": [], "updates": [{"name": VARIABLE, "value": value}], "deletes": []}))
            }
            What::Deprecate { version } => self.team.request("DELETE", &format!("{path}/version/{version}")),
            What::Push { .. } => unreachable!("git pushes"),
        }
    }

    fn note(&mut self, number: u64, action: &Action, outcome: &Outcome) {
        let Outcome::Acknowledged { runs, version } = outcome else { return };
        match &action.what {
            What::Push { commit, .. } => self.tip.clone_from(commit),
            What::Publish { .. } => self.live.extend(version.clone()),
            What::Invoke { has_key: true, .. } => self.answered = Some((number, action.clone(), runs.clone())),
            _ => {}
        }
    }
}

/// An action that is sent to a server.
struct Attempt {
    number: u64,
    action: Action,
    node: usize,
}

/// Whether an action needs the repository, which only the client's own server has.
const fn needs_branch(what: &What) -> bool {
    matches!(what, What::Push { .. } | What::Publish { .. })
}

fn outcome(answer: &Answer) -> Outcome {
    if !(200..300).contains(&answer.status) {
        return Outcome::Refused { status: answer.status, code: answer.code() };
    }
    let body = if answer.body.is_empty() { Value::Null } else { answer.json() };
    let runs = body["invocation_results"].as_array().into_iter().flatten().map(run_end).collect();
    Outcome::Acknowledged { runs, version: body["new_version"].as_str().map(str::to_owned) }
}

fn run_end(result: &Value) -> RunEnd {
    let text = |name: &str| result[name].as_str().unwrap_or_default().to_owned();
    let end = if result["succeeded"] == true { Ok(text("output")) } else { Err(text("exception_type")) };
    RunEnd { id: text("invocation_id"), end }
}
