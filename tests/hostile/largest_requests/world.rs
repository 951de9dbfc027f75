//! An organisation with one of everything, as large as its bounds allow where that is cheap to make.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::component::component;
use super::super::installed::{Installer, Settings};
use super::shapes::{Shape, filled};
use super::wire::Sent;
use crate::harness::{ModelEndpoint, Options, Reply, Server, Team, input};

/// Tools of the agent. With their schemas they are what one turn may present.
const TOOLS: usize = 24;
/// Properties of a tool's schema, each with a description: 240 KiB.
const PROPERTIES: usize = 2_000;
/// Bytes of a file of a large commit.
const FILE_BYTES: usize = 1 << 20;
const AGENT: &str = "clerk";
const STATE: &str = "ask";
const GUEST: (&str, &str) = ("keeps_count", include_str!("../guests/keeps_count.wat"));
const SLEEPER: (&str, &str) = ("sleeps", include_str!("../guests/sleeps.wat"));

pub struct World {
    pub team: Team,
    pub server: Arc<Server>,
    pub agent_slug: &'static str,
    /// A prompt of the Library whose content is nothing but variables.
    pub prompt_name: String,
    /// The values of parameters in paths.
    pub ids: BTreeMap<&'static str, String>,
    model: ModelEndpoint,
    /// All tools of the agent.
    tools: Vec<String>,
}

impl World {
    pub fn new() -> Self {
        let model = ModelEndpoint::serve();
        let mut arguments = ["--model-url", &model.url(), "--model", "small"].map(str::to_owned).to_vec();
        arguments.extend(["--oauth-registration", "--egress-networks", "127.0.0.0/8"].map(str::to_owned));
        let environment = vec![("LATHE_MODEL_KEY".to_owned(), "sesame".to_owned())];
        let server = Server::private(&Options { arguments, environment, ..Options::default() });
        let team = Team::on(&server);
        let mut world = Self {
            team,
            server,
            agent_slug: AGENT,
            prompt_name: "p".repeat(128),
            ids: BTreeMap::new(),
            model,
            tools: Vec::new(),
        };
        world.add_accounts();
        world.add_tools();
        world.add_conversation();
        world.add_agent_runs();
        world.add_library();
        world
    }

    /// Lets the model end the runs with an objective.
    pub fn answers(&self, objective: &str) {
        self.model.answers(objective, vec![Reply::complete("done")]);
    }

    /// The path of the MCP endpoint.
    pub fn endpoint(&self, agent: &str) -> String {
        self.below(&format!("/mcp/{agent}"))
    }

    /// Deploys another agent with all tools. `assignment` has more members of each assignment.
    pub fn add_agent(&self, slug: &str, agent: &Value, assignment: &Value) -> String {
        let body = json!({
            "agent_type": "mcp_gateway", "name": slug, "slug": slug, "description": "d".repeat(4_000), "scope": "organization",
        });
        let id = text(&self.made("POST", &self.below("/agent"), &merged(body, agent)), "id");
        for tool in &self.tools {
            let body = merged(json!({"tool_id": tool, "version_constraint": ">=0"}), assignment);
            self.made("POST", &self.below(&format!("/agent/{id}/assignment")), &body);
        }
        self.made("POST", &self.below(&format!("/agent/{id}/deploy")), &json!({}));
        id
    }

    /// A commit with so many bytes of files that do not compress, and a pack of it.
    pub fn commit_of(&self, bytes: usize) -> (String, Vec<u8>) {
        let mut seed = 1_u64;
        let mut random = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed.to_le_bytes()
        };
        let repository = &self.team.repository;
        for number in 0..bytes.div_ceil(FILE_BYTES) {
            let file: Vec<u8> = (0..bytes.min(FILE_BYTES) / 8).flat_map(|_| random()).collect();
            repository.write(&format!("large/{number}.bin"), &file);
        }
        let commit = repository.commit();
        let pack = repository.output(&["pack-objects", "--all", "--stdout", "-q"]);
        (commit, pack)
    }

    /// The value of the header for the credentials of the user.
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.team.token)
    }

    /// A request of the user with a JSON body.
    pub fn json_request(&self, method: &str, target: &str, body: Vec<u8>) -> Sent {
        let authorization = self.authorization();
        let headers = [("authorization", authorization.as_str()), ("content-type", "application/json")];
        Sent::new(method, target, if body.is_empty() { &headers[..1] } else { &headers }, body)
    }

    /// Sends a request of the user, which succeeds.
    fn made(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.server.request(method, path).bearer(&self.team.token).json(body).send();
        assert!((200..300).contains(&answer.status), "{method} {path}: {answer}");
        if answer.body.is_empty() { Value::Null } else { answer.json() }
    }

    fn below(&self, path: &str) -> String {
        format!("/v1/{}{path}", self.team.organization)
    }

    fn add(&mut self, name: &'static str, id: impl Into<String>) {
        self.ids.insert(name, id.into());
    }

    fn add_accounts(&mut self) {
        self.add("organization", self.team.organization.clone());
        self.add("user_id", self.team.user.clone());
        self.add("api_key_id", "aaaaaaaaaaaa");
        self.add("variable_name", "made_here");
        let grants = json!([{"permission": "Tool:GetTool"}]);
        self.made("POST", &self.below("/role"), &json!({"name": "reader", "grants": grants}));
        self.add("role_name", "reader");
        let value = json!({"name": "made_here", "value": "x".repeat(8 << 10)});
        self.made("POST", &self.below("/user/me/variable"), &value);
        let hold = self.made("POST", &self.below("/history_hold"), &json!({"reason": "x".repeat(1_000)}));
        self.add("hold_id", text(&hold, "hold_id"));
        self.add("git_path", "tools.git/info/refs");
        // A repository begins with the first push.
        self.team.push();
        self.add("asset", "swagger-ui-bundle.js");
        self.add("resource", format!("v1/{}/mcp/{AGENT}", self.team.organization));
        for name in ["build_id", "operation_id", "download"] {
            self.add(name, "f".repeat(24));
        }
    }

    fn add_tools(&mut self) {
        let agent = json!({
            "agent_type": "agent", "name": AGENT, "slug": AGENT, "description": "d".repeat(4_000),
            "scope": "organization", "system_prompt": "s".repeat(60 << 10),
        });
        let agent = text(&self.made("POST", &self.below("/agent"), &agent), "id");
        let installer = Installer::new(&self.team);
        let (code, schema) = (component(GUEST.1), large_schema());
        let tools: Vec<_> = (0..TOOLS).map(|number| self.team.tool(&format!("large{number}"))).collect();
        for tool in &tools {
            installer.publish_with_schema(tool, &code, Settings::default(), schema.clone());
        }
        let ids: Vec<_> = tools.iter().map(|tool| tool.id().to_owned()).collect();
        let small = installer.install("small", &code, Settings::default());
        let sleeper = installer.install("sleeper", &component(SLEEPER.1), Settings::default()).id().to_owned();
        let (id, name) = (small.id().to_owned(), small.name.clone());
        drop((tools, installer));
        let all: Vec<_> = ids.iter().chain([&id]).cloned().collect();
        for tool in &all {
            let body = json!({"tool_id": tool, "version_constraint": ">=0"});
            self.made("POST", &self.below(&format!("/agent/{agent}/assignment")), &body);
        }
        self.tools = all;
        let specs: Vec<_> = [&ids[0], &id].map(|tool| json!({"tool_id": tool, "version_constraint": ">=0"})).into();
        let state = json!({"name": STATE, "type": "decision", "tool_call_specs": specs});
        self.made("POST", &self.below(&format!("/agent/{agent}/state")), &state);
        self.made("POST", &self.below(&format!("/agent/{agent}/deploy")), &json!({}));
        // Records as large as an input may be, of which lists have pages.
        let path = self.below(&format!("/tool/{id}/version/%3E%3D0/invoke"));
        let record =
            filled(&json!({"inputs": [input(&json!({}))]}), "/inputs/0/input_parameters", Shape::Lists, 900 << 10);
        let answer = self.json_request("POST", &path, record).send(self.server.address());
        assert_eq!(answer.status, 200, "{}", answer.text());
        let ran: Value = serde_json::from_str(&answer.text()).expect("JSON");
        for (name, value) in [
            ("agent_id", agent),
            ("sleeper", sleeper),
            ("gateway", AGENT.to_owned()),
            ("tool_id", id),
            ("tool_name", name),
            ("version", "1.0.0".to_owned()),
            ("number", "1".to_owned()),
            ("state_name", STATE.to_owned()),
        ] {
            self.add(name, value);
        }
        let run = ran["invocation_results"][0]["invocation_id"].as_str().map(str::to_owned);
        let found = run.unwrap_or_else(|| text(&self.team.history()[0], "id"));
        self.add("invocation_id", found);
    }

    fn add_conversation(&mut self) {
        let agent = self.ids["agent_id"].clone();
        let talk = text(&self.made("POST", &self.below(&format!("/agent/{agent}/conversation")), &json!({})), "id");
        let turn = self.made("POST", &self.below(&format!("/conversation/{talk}/turn")), &json!({"state": STATE}));
        self.add("turn_id", text(&turn, "id"));
        self.add("conversation_id", talk);
    }

    fn add_agent_runs(&mut self) {
        let pause = Reply::call("__pause_for_human__", json!({"question": "q".repeat(16_000)}));
        self.model.answers("wait", vec![pause]);
        let body = json!({"agent": AGENT, "objective": "wait", "tools": ["__pause_for_human__", "__complete__"]});
        let run = self.made("POST", "/agents/execute", &body);
        self.add("agent_run_id", text(&run, "agent_run_id"));
        let requests = self.team.get("/human_request");
        self.add("human_request_id", text(&requests["human_requests"][0], "human_request_id"));
    }

    fn add_library(&mut self) {
        let prompt = json!({
            "name": self.prompt_name, "content": "{{x}}".repeat(26_000), "variables": [{"name": "x"}],
        });
        for (name, path, body) in [
            ("memory_id", "memory", json!({"content": "m ".repeat(32_000)})),
            ("skill_id", "skills", json!({"name": "large", "content": "s".repeat(131_072)})),
            ("prompt_id", "prompts", prompt),
            ("task_id", "tasks", json!({"description": "t".repeat(8_192)})),
            (
                "artifact_id",
                "artifacts",
                json!({
                    "title": "large", "artifact_type": "document", "content": "a".repeat(786_432), "content_type": "text/plain",
                }),
            ),
            (
                "rule_id",
                "rules",
                json!({
                    "description": "r", "content": "r".repeat(65_536), "category": "should", "severity": "low",
                }),
            ),
        ] {
            let made = self.made("POST", &format!("/api/v1/{path}"), &body);
            self.add(name, text(&made["data"], name));
        }
        self.made("PUT", "/api/v1/preferences/key", &json!({"value": "v".repeat(8_000)}));
        self.add("key", "key");
    }
}

fn large_schema() -> Value {
    let property =
        |number: usize| (format!("property_{number}"), json!({"type": "string", "description": "d".repeat(60)}));
    json!({"type": "object", "properties": (0..PROPERTIES).map(property).collect::<serde_json::Map<_, _>>()})
}

/// The members of both objects.
fn merged(mut base: Value, more: &Value) -> Value {
    base.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
    base
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no {name}: {value}")).to_owned()
}
