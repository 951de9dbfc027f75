//! What nodes that change nothing cost, with sessions of MCP clients, and whom a change reaches.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sqlx::postgres::{PgConnection, PgListener};
use sqlx::{Connection as _, Row as _};

use crate::harness::{Nodes, Options, Request, Server, Team, eventually, fetch};

const LEGACY: &str = "2025-11-25";
const AGENT: &str = "tools";
/// Heartbeats of each node in which transactions are counted.
const HEARTBEATS: usize = 3;
/// Time between two looks at the heartbeats, each of which is a transaction.
const PAUSE: Duration = Duration::from_millis(250);

/// The database of the nodes, beside them.
struct Database {
    runtime: tokio::runtime::Runtime,
    connection: PgConnection,
}

impl Database {
    fn of(nodes: &Nodes) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let url = nodes.place.cluster.url("postgres");
        let connection = runtime.block_on(PgConnection::connect(&url)).expect("a connection");
        Self { runtime, connection }
    }

    /// The time of the last heartbeat of each node.
    fn heartbeats(&mut self) -> BTreeMap<String, i64> {
        let rows = sqlx::query("SELECT boot, seen_at FROM nodes").fetch_all(&mut self.connection);
        let rows = self.runtime.block_on(rows).expect("nodes");
        rows.iter().map(|row| (row.get("boot"), row.get("seen_at"))).collect()
    }

    /// Waits for heartbeats of all nodes.
    fn wait_for_heartbeats(&mut self) {
        for _ in 0..HEARTBEATS {
            let before = self.heartbeats();
            eventually("heartbeats", || {
                let now = self.heartbeats();
                std::thread::sleep(PAUSE);
                before.iter().all(|(boot, seen_at)| now.get(boot).is_some_and(|now| now > seen_at)).then_some(())
            });
        }
    }

    fn transactions(&mut self) -> i64 {
        let count = sqlx::query("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()");
        self.runtime.block_on(count.fetch_one(&mut self.connection)).expect("statistics").get("xact_commit")
    }

    /// Counts the transactions while nodes send some heartbeats.
    fn count_transactions(&mut self) -> i64 {
        let before = self.transactions();
        self.wait_for_heartbeats();
        self.transactions() - before
    }
}

fn post(server: &Arc<Server>, team: &Team, session: Option<&str>, body: &serde_json::Value) -> crate::harness::Answer {
    let path = format!("/v1/{}/mcp/{AGENT}", team.organization);
    let request = Request::to(&server.url, "POST", &path).bearer(&team.token);
    let request = request.header("accept", "application/json, text/event-stream");
    let request = match session {
        Some(session) => request.header("mcp-session-id", session).header("mcp-protocol-version", LEGACY),
        None => request,
    };
    request.json(body).send_message()
}

/// Begins a session, which is told of changes from now on.
fn begin_session(server: &Arc<Server>, team: &Team) {
    let information = json!({"name": "old-client", "version": "0.9"});
    let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": information});
    let answer =
        post(server, team, None, &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
    assert_eq!(answer.status, 200, "{answer}");
    let session = answer.headers["mcp-session-id"].to_str().expect("an id").to_owned();
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(server, team, Some(&session), &initialized).status, 202);
}

fn deploy_agent(team: &Team) {
    let lathe = team.lathe();
    lathe.ok(&[
        "agent",
        "create",
        AGENT,
        "--type",
        "mcp_gateway",
        "--description",
        "Tools.",
        "--scope",
        "organization",
    ]);
    lathe.ok(&["agent", "deploy", AGENT]);
}

/// The looks of a server for MCP clients.
fn looks(server: &Server) -> u64 {
    let line = eventually("the listener of metrics", || {
        Some(server.log_about("serving metrics")).filter(|line| !line.is_empty())
    });
    let url = line.split_whitespace().find_map(|word| word.split_once("url=")).expect("a URL").1.to_owned();
    let text = fetch(url.trim_matches('"'));
    let sample = text.lines().find_map(|line| line.strip_prefix("lathe_mcp_looks_total "));
    sample.map_or(0, |value| value.parse().expect("a number"))
}

#[test]
fn idle_nodes_send_no_notices_and_their_sessions_cost_no_transactions() {
    let Some(nodes) = Nodes::start(2) else { return };
    let team = nodes.team();
    deploy_agent(&team);
    let bob = team.joined_by("bob", "admin");
    let mut database = Database::of(&nodes);
    assert_eq!(database.heartbeats().len(), 2);
    let idle = database.count_transactions();
    let there = team.at(&nodes.servers[1]);
    for _ in 0..25 {
        begin_session(&nodes.servers[0], &team);
        begin_session(&nodes.servers[1], &there);
    }
    let url = nodes.place.cluster.url("postgres");
    let mut notices = database.runtime.block_on(async {
        let mut listener = PgListener::connect(&url).await.expect("a connection");
        listener.listen("lathe_changes").await.expect("notices");
        listener
    });
    let with_sessions = database.count_transactions();
    // The first notice is that of a change.
    team.delete(&format!("/api_key/{}", bob.api_key_id)).expect(204);
    let notice = database.runtime.block_on(async move {
        let notice = notices.recv().await.expect("a notice");
        // Needs the runtime.
        drop(notices);
        notice
    });
    // An account begins with the id of its user.
    let expected = format!(" rights {} bob#", team.organization);
    assert!(notice.payload().contains(&expected), "{}", notice.payload());
    assert!(with_sessions < 3 * idle + 100, "{with_sessions} transactions instead of {idle}");
    println!("{idle} transactions in {HEARTBEATS} heartbeats of two nodes, {with_sessions} with 50 sessions");
}

#[test]
fn the_clients_of_a_user_share_one_look_after_a_change_of_their_organization() {
    let arguments = ["--metrics-listen", "127.0.0.1:0"].map(str::to_owned).to_vec();
    let Some(nodes) = Nodes::start_with(2, &Options { arguments, ..Options::default() }) else { return };
    let other = &nodes.servers[1];
    let looked = |count: u64| eventually("a look", || (looks(other) == count).then_some(()));
    let teams = [nodes.team(), nodes.team()];
    let mut expected = 0;
    for team in &teams {
        deploy_agent(team);
        let there = team.at(other);
        (0..20).for_each(|_| begin_session(other, &there));
        // That of the beginning.
        expected += 1;
        looked(expected);
    }
    for team in &teams {
        team.lathe().ok(&["agent", "edit", AGENT, "--description", "More tools."]);
        expected += 1;
        looked(expected);
    }
    Database::of(&nodes).wait_for_heartbeats();
    assert_eq!(looks(other), expected);
}
