//! The largest request of every method of the Model Context Protocol.

use std::time::Duration;

use api::{MCP_METHODS, McpMethod};
use serde_json::{Value, json};

use super::shapes::{Shape, filled};
use super::wire::Sent;
use super::world::World;
use super::{Attack, Scale};
use crate::mcp::client::{LEGACY, MODERN, meta};

/// Time that a stream is read.
const LISTENS_FOR: Duration = Duration::from_secs(1);

/// Parameters of a method, and the place of them that takes any content; `None` for a method that this test does not know.
fn parameters(method: &str, world: &World) -> Option<(Value, &'static str)> {
    let artifact = format!("artifact://{}", world.ids["artifact_id"]);
    let reference = json!({"type": "ref/prompt", "name": world.prompt_name});
    Some(match method {
        "initialize" => {
            let client = json!({"name": "old-client", "version": "0.9"});
            (json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}), "/params/capabilities")
        }
        "ping"
        | "server/discover"
        | "tools/list"
        | "prompts/list"
        | "resources/list"
        | "resources/templates/list"
        | "skills/list" => (json!({}), "/params"),
        "tools/call" => (json!({"name": "small", "arguments": {}}), "/params/arguments"),
        "prompts/get" => (json!({"name": world.prompt_name, "arguments": {"x": "y"}}), "/params/arguments"),
        "completion/complete" => {
            (json!({"ref": reference, "argument": {"name": "x", "value": "y".repeat(4_000)}}), "/params")
        }
        "logging/setLevel" => (json!({"level": "debug"}), "/params"),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => (json!({"uri": artifact}), "/params"),
        "skills/get" => (json!({"uri": format!("skill://{}/large/SKILL.md", world.ids["skill_id"])}), "/params"),
        "subscriptions/listen" => {
            let uris: Vec<_> = (0..6_000).map(|number| format!("artifact://{number:024}")).collect();
            (json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": uris}}), "/params")
        }
        "tasks/get" | "tasks/cancel" => (json!({"taskId": "f".repeat(24)}), "/params"),
        "tasks/update" => (json!({"taskId": "f".repeat(24), "inputResponses": {}}), "/params/inputResponses"),
        _ => return None,
    })
}

/// Whether only clients of earlier versions have the method, in a session.
fn is_of_session(method: &str) -> bool {
    ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"].contains(&method)
}

/// Makes the attacks of all methods, one after the other. A method without parameters here fails the test.
pub fn attack(world: &World, scale: &Scale, mut run: impl FnMut(&Attack)) {
    let session = begin_session(world);
    let each = MCP_METHODS.into_iter().flat_map(|method| scale.shapes.iter().map(move |shape| (method, *shape)));
    for (McpMethod { name: method, request_bytes_max: bytes, .. }, shape) in each {
        let (params, place) = parameters(method, world).unwrap_or_else(|| panic!("{method} has no case here"));
        // Other parameters have short texts.
        if shape == Shape::Text && !["/params/arguments", "/params/inputResponses"].contains(&place) {
            continue;
        }
        let request = |number: usize| {
            let message = Message { method, params: params.clone(), number };
            let session = if is_of_session(method) { Some(session.as_str()) } else { None };
            let sent = message.filled(world, Filling { place, shape, bytes }, session);
            if method == "subscriptions/listen" { sent.for_a_while(LISTENS_FOR) } else { sent }
        };
        run(&Attack {
            name: format!("{method} {shape:?}"),
            requests: (0..scale.at_once).map(request).collect(),
            succeeds: false,
        });
    }
}

/// What fills a message up to so many bytes, at a place of any content.
pub struct Filling<'a> {
    pub place: &'a str,
    pub shape: Shape,
    pub bytes: usize,
}

/// A message of a client.
pub struct Message<'a> {
    pub method: &'a str,
    pub params: Value,
    pub number: usize,
}

impl Message<'_> {
    /// The message with a member more, which fills the body. Without a session it is one of the present version.
    pub fn filled(mut self, world: &World, filling: Filling<'_>, session: Option<&str>) -> Sent {
        self.add_meta(session);
        let body = filled(&self.body(), filling.place, filling.shape, filling.bytes);
        self.sent(&world.endpoint(world.agent_slug), &world.authorization(), body, session)
    }

    /// The message as it is, to the agent of the other cases.
    pub fn plain(self, world: &World) -> Sent {
        self.at(world, world.agent_slug)
    }

    /// The message as it is.
    pub fn at(mut self, world: &World, agent: &str) -> Sent {
        self.add_meta(None);
        let body = self.body().to_string().into_bytes();
        self.sent(&world.endpoint(agent), &world.authorization(), body, None)
    }

    fn add_meta(&mut self, session: Option<&str>) {
        if session.is_none() && self.method != "initialize" {
            let mut meta = meta();
            let able = json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
            meta["io.modelcontextprotocol/clientCapabilities"] = able;
            self.params["_meta"] = meta;
        }
    }

    fn body(&self) -> Value {
        json!({"jsonrpc": "2.0", "id": self.number + 1, "method": self.method, "params": self.params})
    }

    fn sent(&self, target: &str, authorization: &str, body: Vec<u8>, session: Option<&str>) -> Sent {
        let mut headers = vec![
            ("authorization", authorization),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let is_first = self.method == "initialize";
        match session {
            Some(session) => headers.extend([("mcp-session-id", session), ("mcp-protocol-version", LEGACY)]),
            None if is_first => {}
            None => headers.extend([("mcp-protocol-version", MODERN), ("mcp-method", self.method)]),
        }
        let name = ["name", "uri", "taskId"].iter().find_map(|key| self.params[key].as_str());
        if let Some(name) = name.filter(|_| session.is_none() && !is_first) {
            headers.push(("mcp-name", name));
        }
        Sent::new("POST", target, &headers, body)
    }
}

fn begin_session(world: &World) -> String {
    let (params, _) = parameters("initialize", world).expect("parameters");
    let begun = Message { method: "initialize", params, number: 0 }.plain(world).send(world.server.address());
    begun.header("mcp-session-id").unwrap_or_else(|| panic!("{begun:?}"))
}
