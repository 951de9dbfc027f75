//! MCP clients behind nginx with the configuration of `deploy/`. A session of the earlier protocol versions is in the memory of one
//! node.

use serde_json::{Value, json};

use crate::harness::{Answer, Nodes, Proxy, Request, Team};

const LEGACY: &str = "2025-11-25";
const AGENT: &str = "tools";

/// A client of one team, which reaches the nodes through the proxy.
struct Client<'a> {
    proxy: &'a Proxy,
    team: &'a Team,
}

impl Client<'_> {
    fn send(&self, session: Option<&str>, method: &str, params: &Value) -> Answer {
        let path = format!("/v1/{}/mcp/{AGENT}", self.team.organization);
        let request = Request::to(&self.proxy.url, "POST", &path).bearer(&self.team.token);
        let request = request.header("accept", "application/json, text/event-stream");
        let request = match session {
            Some(session) => request.header("mcp-session-id", session).header("mcp-protocol-version", LEGACY),
            None => request,
        };
        request.json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).send_message()
    }

    /// Begins a session and returns its id.
    fn session(&self) -> String {
        let information = json!({"name": "old-client", "version": "0.9"});
        let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": information});
        let answer = self.send(None, "initialize", &params);
        assert_eq!(answer.status, 200, "{answer}");
        answer.headers["mcp-session-id"].to_str().expect("an id").to_owned()
    }
}

#[test]
fn requests_of_a_session_reach_its_node() {
    let Some(nodes) = Nodes::start(3) else { return };
    let Some(proxy) = Proxy::before(&nodes) else { return };
    let teams = [nodes.team(), nodes.team()];
    for team in &teams {
        let lathe = team.lathe();
        lathe.ok(&["agent", "create", AGENT, "--type", "mcp_gateway", "--description", "Tools."]);
        lathe.ok(&["agent", "deploy", AGENT]);
        let client = Client { proxy: &proxy, team };
        for _ in 0..3 {
            let session = client.session();
            for _ in 0..6 {
                let answer = client.send(Some(&session), "ping", &json!({}));
                assert_eq!(answer.status, 200, "{answer}");
            }
        }
    }
}
