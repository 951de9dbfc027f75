//! A client with its own user, tool, branch and clone. It sends one action after the other.

use fastrand::Rng;
use serde_json::{Value, json};

use super::action::{ANY, Action, Kind, MIX, Outcome, RunEnd, What};
use super::stage::Stage;
use crate::harness::{Answer, Request, Team, input};

/// The variable that the outputs contain.
const VARIABLE: &str = "VALUE";
/// Of ten changes, the number of deprecations.
const DEPRECATIONS: u8 = 3;
const INPUTS_MAX: usize = 3;
/// One call of four has runs that sleep.
const WAITS_MS: [u64; 4] = [0, 0, 0, 200];

pub struct Client {
    pub team: Team,
    pub tool: String,
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
    /// An action that was cut off and will be sent again.
    unsettled: Option<(u64, Action)>,
    /// The last call with a key, and its runs.
    answered: Option<(u64, Action, Vec<RunEnd>)>,
}

impl Client {
    /// Joins the team, and publishes a first version.
    pub fn join(founder: &Team, stage: &Stage, (number, seed): (u64, u64)) -> Self {
        let name = format!("client{number}");
        let team = founder.joined_by(&name, "admin");
        let branch = format!("releases/{name}");
        let tool = team.tool(&name);
        tool.set_variables(&[(VARIABLE, "first", false)]);
        let tool = tool.id().to_owned();
        let rng = Rng::with_seed(seed.wrapping_add(number));
        let (deck, live) = (Vec::new(), Vec::new());
        let (unsettled, answered) = (None, None);
        let mut client =
            Self { team, tool, name, branch, rng, deck, count: 0, tip: String::new(), live, unsettled, answered };
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

    /// Sends actions until the server is killed.
    pub fn work(&mut self, stage: &Stage) {
        loop {
            let what = self.next();
            if stage.is_killed() || self.begin(stage, what).is_none() {
                return;
            }
        }
    }

    /// Sends an action. Returns `None` when it was cut off.
    pub fn begin(&mut self, stage: &Stage, what: What) -> Option<Outcome> {
        let action = Action { tool: self.tool.clone(), branch: self.branch.clone(), what };
        let number = stage.ledger.intend(&action);
        self.attempt(stage, number, action)
    }

    /// Sends the action again that was cut off, if its repetition is safe.
    pub fn settle(&mut self, stage: &Stage) -> Option<Outcome> {
        let (number, action) = self.unsettled.take()?;
        stage.ledger.repeat(number, &action);
        let outcome = self.attempt(stage, number, action);
        assert!(outcome.is_some(), "the connection to a restarted server ended");
        outcome
    }

    /// Sends the last answered call with a key again. Returns what is wrong with the response.
    pub fn repeat_answered(&mut self) -> Option<String> {
        let (number, action, runs) = self.answered.take()?;
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

    fn attempt(&mut self, stage: &Stage, number: u64, action: Action) -> Option<Outcome> {
        let outcome = match &action.what {
            What::Push { commit, .. } => self.push(stage, commit),
            what => self.send(stage, number, what),
        };
        match &outcome {
            Some(outcome) => {
                stage.ledger.settle(number, &action, outcome);
                self.note(number, action, outcome);
            }
            None => self.unsettled = Some((number, action)).filter(|(_, action)| action.what.is_repeatable()),
        }
        outcome
    }

    fn send(&self, stage: &Stage, number: u64, what: &What) -> Option<Outcome> {
        let request = self.request(number, what);
        let answer = if stage.is_faulty { request.try_send_to_failing() } else { request.try_send() };
        if let Err(error) = &answer {
            assert!(stage.is_killed() || stage.is_faulty, "a connection ended before the kill: {error:?}");
        }
        answer.ok().map(|answer| outcome(&answer))
    }

    fn push(&self, stage: &Stage, commit: &str) -> Option<Outcome> {
        let reference = format!("{commit}:refs/heads/{}", self.branch);
        let said = self.team.repository.git(&["push", "-q", &self.team.git_url(), &reference]);
        match said.code {
            Some(0) => Some(Outcome::acknowledged()),
            _ if stage.is_killed() => None,
            // git does not say whether the branch was moved before the failure.
            _ => Some(Outcome::Refused { status: if stage.is_faulty { 503 } else { 400 }, code: said.stderr }),
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

    fn note(&mut self, number: u64, action: Action, outcome: &Outcome) {
        let Outcome::Acknowledged { runs, version } = outcome else { return };
        match &action.what {
            What::Push { commit, .. } => self.tip.clone_from(commit),
            What::Publish { .. } => self.live.extend(version.clone()),
            What::Invoke { has_key: true, .. } => self.answered = Some((number, action, runs.clone())),
            _ => {}
        }
    }
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
