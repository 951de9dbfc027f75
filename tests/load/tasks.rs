//! Tasks that are due at the same moment, on two servers with one database.

use std::time::Duration;

use registry::Clock;
use serde_json::json;
use tokio::time::Instant;

use super::measured;
use crate::harness::{Nodes, Team};

/// Tasks of the measured run.
const TASKS: usize = 10_000;
/// Tasks of a plain test run.
const FEW_TASKS: usize = 40;
const CLIENTS: usize = 32;
/// Time for which the run waits at most.
const PATIENCE: Duration = Duration::from_mins(2);

#[test]
fn due_tasks_of_two_servers() {
    let (_, is_long) = measured();
    let Some(nodes) = Nodes::start(2) else { return };
    let team = nodes.team();
    let (count, ahead) = if is_long { (TASKS, 60) } else { (FEW_TASKS, 3) };
    let due = Clock::system().now().after(Duration::from_secs(ahead));
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (nodes, team, share) = (&nodes, &team, (client..count).step_by(CLIENTS).len());
            scope.spawn(move || {
                for _ in 0..share {
                    let task = json!({"description": "Call the customer.", "due_at": due.to_string()});
                    let server = &nodes.servers[client % 2];
                    server.request("POST", "/api/v1/tasks").bearer(&team.token).json(&task).send().expect(201);
                }
            });
        }
    });
    while Clock::system().now() < due {
        std::thread::sleep(Duration::from_millis(1));
    }
    let began = Instant::now();
    while has_open(&nodes, &team) {
        assert!(began.elapsed() < PATIENCE, "tasks are not fired");
        std::thread::sleep(Duration::from_millis(20));
    }
    println!("{count} tasks that were due at the same moment were fired within {:.1} s", began.elapsed().as_secs_f64());
}

fn has_open(nodes: &Nodes, team: &Team) -> bool {
    let open = nodes.servers[0].request("GET", "/api/v1/tasks?status=open&limit=1").bearer(&team.token).send();
    open.expect(200)["data"]["items"].as_array().is_some_and(|items| !items.is_empty())
}
