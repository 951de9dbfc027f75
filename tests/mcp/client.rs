//! A client of the protocol that sends what a test says, and a gateway to send it to.

use serde_json::{Value, json};

use crate::harness::{Answer, Request, Team, Tool};

pub const MODERN: &str = "2026-07-28";
pub const LEGACY: &str = "2025-11-25";

/// A tool with a required parameter `text`.
pub fn of_text<'t>(tool: Tool<'t>) -> Tool<'t> {
    let schema = json!({
        "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false,
    });
    tool.with_file("input.json", &schema.to_string()).manifest("input_schema = 'input.json'")
}

/// A schema with keywords of all kinds, which models and clients get as it is.
pub fn nested_schema() -> Value {
    let place = json!({
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {
            "size": {"enum": ["small", "large"]},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["new", "old"]}, "maxItems": 4},
            "target": {"oneOf": [place, {"type": "null"}]},
            "counts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
        },
        "required": ["size"],
        "additionalProperties": false,
    })
}

/// A tool with this schema.
pub fn of_nested<'t>(tool: Tool<'t>) -> Tool<'t> {
    tool.with_file("input.json", &nested_schema().to_string()).manifest("input_schema = 'input.json'")
}

/// An agent that is deployed with tools of its team.
pub struct Gateway<'a> {
    pub team: &'a Team,
    pub slug: String,
    pub id: String,
}

impl<'a> Gateway<'a> {
    /// Deploys an agent with these tools, each with any version.
    pub fn new(team: &'a Team, slug: &str, tools: &[&str]) -> Self {
        Self::of_scope(team, slug, "organization").with(tools)
    }

    pub fn of_scope(team: &'a Team, slug: &str, scope: &str) -> Self {
        Self::created(team, slug, &["--type", "mcp_gateway", "--scope", scope])
    }

    /// An agent of another type, which is not deployed.
    pub fn of_type(team: &'a Team, slug: &str, agent_type: &str) -> Self {
        Self::created(team, slug, &["--type", agent_type, "--scope", "organization"])
    }

    fn created(team: &'a Team, slug: &str, options: &[&str]) -> Self {
        let command = [&["agent", "create", slug, "--description", "Tools of the team."], options].concat();
        let created = team.lathe().json(&command);
        Self { team, slug: slug.to_owned(), id: created["id"].as_str().expect("an id").to_owned() }
    }

    /// Assigns tools and deploys.
    pub fn with(self, tools: &[&str]) -> Self {
        let lathe = self.team.lathe();
        for tool in tools {
            lathe.ok(&["agent", "assign", &self.slug, tool]);
        }
        lathe.ok(&["agent", "deploy", &self.slug]);
        self
    }

    pub fn path(&self) -> String {
        format!("/v1/{}/mcp/{}", self.team.organization, self.slug)
    }

    /// A request of the team's user, with the headers that every message needs.
    pub fn request(&self, method: &str) -> Request<'_> {
        self.as_user(self.team, method)
    }

    /// A request of another user.
    pub fn as_user<'t>(&self, team: &'t Team, method: &str) -> Request<'t> {
        self.accepting("application/json, text/event-stream", team, method)
    }

    /// A request of a client that accepts these forms of responses.
    pub fn accepting<'t>(&self, accept: &str, team: &'t Team, method: &str) -> Request<'t> {
        team.server.request(method, &self.path()).bearer(&team.token).header("accept", accept)
    }

    /// Sends a request of the present version and returns its response.
    pub fn send(&self, method: &str, params: Value) -> Value {
        let answer = self.modern(self.request("POST"), method, params).send_message();
        assert_eq!(answer.status, 200, "{answer}");
        message(&answer)
    }

    /// A request of the present version.
    pub fn modern<'r>(&self, request: Request<'r>, method: &str, mut params: Value) -> Request<'r> {
        let name = ["name", "uri", "taskId"].iter().find_map(|key| params[key].as_str()).map(str::to_owned);
        params["_meta"] = merged(meta(), params["_meta"].take());
        let request = request.header("mcp-protocol-version", MODERN).header("mcp-method", method);
        let request = match name {
            Some(name) => request.header("mcp-name", &name),
            None => request,
        };
        request.json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }

    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        self.send("tools/call", json!({"name": tool, "arguments": arguments}))["result"].take()
    }

    /// The names of the listed tools.
    pub fn names(&self) -> Vec<String> {
        let listed = self.send("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }
}

pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test-client", "version": "1.0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn merged(mut base: Value, more: Value) -> Value {
    if let (Some(base), Value::Object(more)) = (base.as_object_mut(), more) {
        base.extend(more);
    }
    base
}

/// The last message of a response: its JSON, or the last event of its stream.
pub fn message(answer: &Answer) -> Value {
    messages(answer).pop().unwrap_or_else(|| panic!("no message: {answer}"))
}

/// All messages of a response.
pub fn messages(answer: &Answer) -> Vec<Value> {
    if answer.is_json() {
        return vec![answer.json()];
    }
    let text = String::from_utf8_lossy(&answer.body);
    let data =
        text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).filter(|data| !data.is_empty());
    data.map(|data| serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"))).collect()
}
