//! An agent with states, and a conversation with it.

use serde_json::{Value, json};

use crate::harness::{Answer, Run, Team};
use crate::mcp::client::Gateway;

pub struct Agent<'t> {
    pub team: &'t Team,
    pub id: String,
    pub slug: String,
}

/// A conversation of the team's user.
pub struct Talk<'t> {
    pub team: &'t Team,
    pub id: String,
}

impl<'t> Agent<'t> {
    pub fn new(team: &'t Team, slug: &str) -> Self {
        let agent = json!({
            "agent_type": "agent", "name": slug, "slug": slug, "description": "Helps.", "scope": "organization",
        });
        let id = team.post("/agent", &agent).expect(201)["id"].as_str().expect("an id").to_owned();
        Self { team, id, slug: slug.to_owned() }
    }

    /// Sets states in the draft and deploys it.
    pub fn with(self, states: &[Value]) -> Self {
        self.deploy(states);
        self
    }

    pub fn deploy(&self, states: &[Value]) {
        for state in states {
            self.team.post(&format!("/agent/{}/state", self.id), state).expect(204);
        }
        self.team.post(&format!("/agent/{}/deploy", self.id), &json!({})).expect(200);
    }

    pub fn talk(&self) -> Talk<'t> {
        self.talk_as(self.team, &json!({}))
    }

    /// Starts a conversation of another user.
    pub fn talk_as<'u>(&self, team: &'u Team, body: &Value) -> Talk<'u> {
        let started = team.post(&format!("/agent/{}/conversation", self.id), body).expect(201);
        Talk { team, id: started["id"].as_str().expect("an id").to_owned() }
    }

    /// Calls a tool in a turn by MCP, and returns the whole message.
    pub fn call(&self, turn: &Value, tool: &str, input: Value) -> Value {
        self.call_with(json!({"dev.lathe/turn": turn["id"]}), tool, input)
    }

    pub fn call_with(&self, meta: Value, tool: &str, input: Value) -> Value {
        let gateway = Gateway { team: self.team, slug: self.slug.clone(), id: self.id.clone() };
        gateway.send("tools/call", json!({"name": tool, "arguments": input, "_meta": meta}))
    }
}

impl Talk<'_> {
    /// Begins a turn in a state, in a new interaction.
    pub fn turn(&self, state: &str) -> Value {
        self.turn_with(json!({"state": state}))
    }

    pub fn turn_with(&self, body: Value) -> Value {
        self.team.post(&format!("/conversation/{}/turn", self.id), &body).expect(201)
    }

    /// Calls a tool in a turn over HTTP.
    pub fn call(&self, turn: &Value, tool: &str, input: Value) -> Answer {
        let path = format!("/conversation/{}/turn/{}/invoke", self.id, id(turn));
        self.team.post(&path, &json!({"tool": tool, "inputs": [{"input_parameters": input}]}))
    }

    #[track_caller]
    pub fn run(&self, turn: &Value, tool: &str, input: Value) -> Run {
        Run(self.call(turn, tool, input).expect(200)["invocation_results"][0].clone())
    }

    /// The ids of the calls whose results an interaction sees.
    pub fn log(&self, turn: Option<&Value>) -> Vec<String> {
        let query = turn.map_or_else(String::new, |turn| {
            format!("?interaction_id={}", turn["interaction_id"].as_str().expect("an id"))
        });
        let log = self.team.get(&format!("/conversation/{}/log{query}", self.id));
        let runs = log["tool_invocations"].as_array().unwrap_or_else(|| panic!("{log}"));
        runs.iter().map(|run| run["id"].as_str().expect("an id").to_owned()).collect()
    }
}

pub fn id(object: &Value) -> &str {
    object["id"].as_str().expect("an id")
}

/// The names of the tools of a turn.
pub fn names(turn: &Value) -> Vec<&str> {
    let tools = turn["tools"].as_array().unwrap_or_else(|| panic!("{turn}"));
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

pub fn spec(tool: &str) -> Value {
    json!({"tool_id": tool, "version_constraint": ">=1.0.0"})
}

pub fn decision(name: &str, tools: &[&str]) -> Value {
    let specs: Vec<_> = tools.iter().map(|tool| spec(tool)).collect();
    json!({"name": name, "type": "decision", "tool_call_specs": specs})
}
