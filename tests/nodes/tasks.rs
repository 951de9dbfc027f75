//! Tasks that are due while a server dies.

use std::time::Duration;

use registry::Clock;
use serde_json::{Value, json};

use crate::harness::{Nodes, Server, Team, eventually};

const TASKS: usize = 400;
/// Requests at a time, which create the tasks.
const CLIENTS: usize = 8;
/// Time within which the tasks are created.
const CREATED_WITHIN: Duration = Duration::from_secs(8);

/// The tasks of a team with a status, as a server sees them.
fn tasks(server: &Server, team: &Team, status: &str) -> Vec<Value> {
    let pages = (0..).map(|page| {
        let path = format!("/api/v1/tasks?status={status}&limit=200&offset={}", page * 200);
        let listed = server.request("GET", &path).bearer(&team.token).send().expect(200);
        listed["data"]["items"].as_array().cloned().expect("items")
    });
    pages.take_while(|page| !page.is_empty()).flatten().collect()
}

#[test]
fn tasks_fire_once_while_a_server_dies() {
    let Some(nodes) = Nodes::start(3) else { return };
    let team = nodes.team();
    let due_at = Clock::system().now().after(CREATED_WITHIN).to_string();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (server, team, due_at) = (&nodes.servers[client % 2], &team, &due_at);
            scope.spawn(move || {
                for _ in 0..TASKS / CLIENTS {
                    let task = json!({"description": "Call the customer.", "due_at": due_at});
                    server.request("POST", "/api/v1/tasks").bearer(&team.token).json(&task).send().expect(201);
                }
            });
        }
    });
    eventually("the first tasks", || (!tasks(&nodes.servers[1], &team, "fired").is_empty()).then_some(()));
    nodes.servers[0].kill();
    let fired = eventually("all tasks", || {
        let fired = tasks(&nodes.servers[1], &team, "fired");
        (fired.len() == TASKS).then_some(fired)
    });
    assert!(fired.iter().all(|task| task["fire_count"] == 1), "a task was fired twice");
    assert!(fired.iter().all(|task| task["revision"] == 2), "a task was changed more than once");
}
