//! More work than a server takes: who is refused, what is said, and who goes on.

use serde_json::{Value, json};

use crate::harness::{Options, Server, Team, Tool, eventually, input, runs_going_on};

/// Longer than the test.
const SLOW: &str = "import time\ntime.sleep(28)\nreturn 'rested'";

fn inputs(count: usize) -> Value {
    json!({"inputs": vec![input(&json!({})); count]})
}

/// One run at a time for each organisation, two in all, and one that waits.
fn crowded() -> std::sync::Arc<Server> {
    let bounds =
        ["--parallel-runs=2", "--queued-runs=1", "--organization-parallel-runs=1", "--organization-queued-runs=0"];
    Server::private(&Options { arguments: bounds.map(str::to_owned).to_vec(), ..Options::default() })
}

/// Starts runs and waits until so many are recorded.
fn start<'s>(scope: &'s std::thread::Scope<'s, '_>, tool: &'s Tool<'_>, count: usize, going_on: i64, server: &Server) {
    // The server is killed under them.
    scope.spawn(move || drop(tool.invoke_request(&inputs(count)).try_send()));
    eventually("the start of the runs", || (runs_going_on(server.data()) == going_on).then_some(()));
}

#[test]
fn who_is_beyond_a_bound_is_told_which_and_leaves_no_record() {
    let server = crowded();
    let (first, second, third) = (Team::on(&server), Team::on(&server), Team::on(&server));
    let slow = first.tool("slow").body(SLOW).published();
    let quick = third.tool("quick").body("return 'done'").published();
    let crowd = second.tool("slow").body(SLOW).published();
    std::thread::scope(|scope| {
        start(scope, &slow, 1, 1, &server);
        let refused = slow.invoke_request(&inputs(1)).send();
        assert_eq!((refused.status, refused.code().as_str()), (429, "too_many_runs"), "{refused}");
        assert_eq!(refused.headers["retry-after"], "1");
        assert_eq!(quick.invoke(json!({})).output(), "done");

        start(scope, &crowd, 2, 3, &server);
        let refused = quick.invoke_request(&inputs(1)).send();
        assert_eq!((refused.status, refused.code().as_str()), (503, "overloaded"), "{refused}");
        assert_eq!(refused.headers["retry-after"], "1");
        assert_eq!(runs_going_on(server.data()), 3);
        server.kill();
    });
}
