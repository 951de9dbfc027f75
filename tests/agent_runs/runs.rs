//! An agent with a tool, at a server with a scripted model.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use registry::{Clock, Timestamp};
use serde_json::{Value, json};

use crate::harness::{Answer, ModelEndpoint, Options, Reply, Server, Team, eventually};
use crate::mcp::client::Gateway;

/// The slug of the agent.
pub const AGENT: &str = "clerk";
pub const TOOL: &str = "look_up";

/// The runs of most tests. Each test has objectives of its own.
static SHARED: Mutex<Weak<Runs>> = Mutex::new(Weak::new());

pub struct Runs {
    pub team: Team,
    pub model: ModelEndpoint,
}

/// The settings of a server with this model.
pub fn options(model: &ModelEndpoint) -> Options {
    let arguments = ["--model-url", &model.url(), "--model", "small", "--run-due-tasks"].map(str::to_owned).to_vec();
    let environment = vec![("LATHE_MODEL_KEY".to_owned(), "sesame".to_owned())];
    Options { arguments, environment, ..Options::default() }
}

/// Deploys the agent of a team.
pub fn agent(team: &Team) {
    let _tool = team.tool(TOOL).body("return f\"found {tool_input.get('what')}\"").published();
    Gateway::of_type(team, AGENT, "agent").with(&[TOOL]);
}

impl Runs {
    pub fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock();
        if let Some(found) = shared.upgrade() {
            return found;
        }
        let model = ModelEndpoint::serve();
        let team = Team::on(&Server::private(&options(&model)));
        agent(&team);
        let made = Arc::new(Self { team, model });
        *shared = Arc::downgrade(&made);
        made
    }

    /// Runs the agent until the run ends or pauses.
    #[track_caller]
    pub fn execute(&self, objective: &str, tools: &[&str], replies: Vec<Reply>) -> Value {
        self.execute_with(json!({"objective": objective, "tools": tools}), replies)
    }

    #[track_caller]
    pub fn execute_with(&self, mut body: Value, replies: Vec<Reply>) -> Value {
        let objective = body["objective"].as_str().expect("an objective").to_owned();
        self.model.answers(&objective, replies);
        if body["agent"].is_null() {
            body["agent"] = json!(AGENT);
        }
        self.post("/agents/execute", &body).expect(200)
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.team.server.request("POST", path).bearer(&self.team.token).json(body).send()
    }

    pub fn get(&self, path: &str) -> Value {
        self.team.server.request("GET", path).bearer(&self.team.token).send().expect(200)
    }

    pub fn status(&self, run: &Value) -> Value {
        self.get(&format!("/agents/{}/status", id(run)))
    }

    pub fn trace(&self, run: &Value) -> Vec<Value> {
        self.get(&format!("/agents/{}/trace", id(run)))["trace"].as_array().cloned().expect("steps")
    }

    pub fn resume(&self, run: &Value, body: &Value) -> Answer {
        self.post(&format!("/agents/{}/resume", id(run)), body)
    }

    /// Waits until a run has a status.
    pub fn becomes(&self, run: &Value, status: &str) -> Value {
        eventually(status, || Some(self.status(run)).filter(|run| run["status"] == status))
    }

    /// What the model was told last: the result of its last call.
    pub fn last_observation(&self, objective: &str) -> String {
        let received = self.model.received(objective);
        let messages = received.last().expect("a request").body["messages"].as_array().cloned().expect("messages");
        let last = messages.iter().rfind(|message| message["role"] == "tool").expect("a result");
        last["content"].as_str().expect("a text").to_owned()
    }
}

pub fn id(run: &Value) -> &str {
    run["agent_run_id"].as_str().expect("an id")
}

pub fn now() -> Timestamp {
    Clock::system().now()
}

/// A time of a response: RFC 3339 in UTC, with milliseconds.
#[track_caller]
pub fn time(value: &Value) -> Timestamp {
    let text = value.as_str().unwrap_or_else(|| panic!("no time: {value}"));
    let parsed: jiff::Timestamp = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    let time = Timestamp::from_milliseconds(parsed.as_millisecond());
    assert_eq!(time.to_string(), text);
    time
}
