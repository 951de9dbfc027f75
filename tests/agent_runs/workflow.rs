//! `__run_workflow__`.

use std::io::Write;
use std::net::TcpStream;
use std::sync::{Arc, Weak};

use nix::sys::signal::Signal;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::runs::{AGENT, Runs, id, options};
use crate::harness::{ModelEndpoint, Options, Reply, Server, Site, Team, eventually};
use crate::mcp::client::Gateway;

const RUN: &str = "__run_workflow__";
const TOOLS: [&str; 2] = [RUN, "__complete__"];
const WORKFLOW: &str = "screening";
const SCHEMA: &str = r#"{"type": "object", "properties": {"customer": {"type": "string"}}}"#;
const BODY: &str = "
    if 'held' in tool_input:
        import urllib.request
        urllib.request.urlopen(tool_input['held']).read()
    if tool_input.get('fails'):
        raise ValueError('no such customer')
    return {'customer': tool_input.get('customer'), 'screening_result': 'clear'}
";

/// Starts a run of its own agent, which starts the next one.
const RUNS_ITS_AGENT: &str = "
    import json, urllib.error, urllib.request
    body = {'agent': 'clerk', 'objective': tool_input['objective'], 'tools': ['__run_workflow__', '__complete__']}
    headers = {'authorization': tool_input['token'], 'content-type': 'application/json', 'lathe-depth': '0'}
    request = urllib.request.Request(tool_input['url'], json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)['status']
    except urllib.error.HTTPError as error:
        return json.load(error)['code']
";

/// The workflow of most tests.
static SHARED: Mutex<Weak<Workflows>> = Mutex::new(Weak::new());

/// An agent whose only published tool waits for a site if its input says so.
struct Workflows {
    runs: Runs,
    site: Site,
    /// The id of the tool.
    id: String,
}

impl Workflows {
    fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock();
        if let Some(found) = shared.upgrade() {
            return found;
        }
        let made = Arc::new(Self::start());
        *shared = Arc::downgrade(&made);
        made
    }

    fn start() -> Self {
        let (site, model) = (Site::serve(), ModelEndpoint::serve());
        let arguments = [Options::reaching_loopback().arguments, options(&model).arguments].concat();
        let team = Team::on(&Server::private(&Options { arguments, ..options(&model) }));
        let tool = team.tool(WORKFLOW).body(BODY).with_file("input.json", SCHEMA);
        let tool = tool.manifest("input_schema = 'input.json'").manifest("timeout_seconds = 300");
        let tool = tool.manifest(&format!("allowed_hosts = ['{}']", site.address)).published();
        let id = tool.id().to_owned();
        Gateway::of_type(&team, AGENT, "agent").with(&[WORKFLOW]);
        Self { runs: Runs { team, model }, site, id }
    }

    /// The same after a restart of the server.
    fn restarted(self) -> Self {
        let Self { runs: Runs { team, model }, site, id } = self;
        let server = team.server.restarted(|_| {});
        Self { runs: Runs { team: team.moved_to(server), model }, site, id }
    }

    /// The input of a workflow that waits until [`Workflows::release`].
    fn held(&self, name: &str) -> Value {
        json!({"held": self.site.url(&format!("/meet/2/{name}"))})
    }

    fn release(&self, name: &str) {
        let mut stream = TcpStream::connect(self.site.address).expect("a connection");
        write!(stream, "GET /meet/2/{name} HTTP/1.1\r\n\r\n").expect("a request");
        std::io::read_to_string(stream).expect("a response");
    }

    /// Starts a run, and responds at once.
    fn begin(&self, objective: &str, replies: Vec<Reply>) -> Value {
        self.runs.model.answers(objective, replies);
        let body = json!({"agent": AGENT, "objective": objective, "tools": TOOLS});
        self.runs.post("/agents/execute?async=true", &body).expect(202)
    }

    /// The observations of a run that are JSON: those of its workflows.
    fn observations(&self, run: &Value) -> Vec<Value> {
        let trace = self.runs.trace(run);
        trace.iter().filter_map(|step| serde_json::from_str(step["observation"].as_str()?).ok()).collect()
    }

    /// The record of a run of the workflow, when it has ended.
    fn ended(&self, run: &Value) -> Value {
        let path = format!("/tool/invocation/{}", run.as_str().expect("an id"));
        eventually("the end of the workflow", || {
            let found = self.runs.team.request("GET", &path).send();
            let record = (found.status == 200).then(|| found.json())?;
            record["invocation_status"]["succeeded"].is_boolean().then_some(record)
        })
    }
}

fn call(arguments: Value) -> Reply {
    Reply::call(RUN, arguments)
}

fn success(runs: &Runs, run: &Value) -> Vec<bool> {
    runs.trace(run).iter().map(|step| step["success"] == true).collect()
}

#[test]
fn s1_013_014_and_016_to_024_a_workflow_runs_and_the_model_sees_its_result() {
    let workflows = Workflows::shared();
    let (runs, id, input) = (&workflows.runs, &workflows.id, json!({"customer": "Acme Corp"}));
    let named = json!({"workflow_name": WORKFLOW, "input": input});
    let full =
        json!({"workflow_id": id, "workflow_name": WORKFLOW, "input": input, "wait": true, "timeout_ms": 60_000.5});
    let run = runs.execute("s1_013", &TOOLS, vec![call(named), call(full), Reply::complete("clear")]);
    let (observed, trace) = (workflows.observations(&run), runs.trace(&run));
    assert_eq!((&run["final_answer"], observed.len()), (&json!("clear"), 2));
    for (number, result) in observed.iter().enumerate() {
        assert_eq!((&result["status"], &result["workflow_id"]), (&json!("completed"), &json!(id)));
        assert_eq!(result["result"], json!({"customer": "Acme Corp", "screening_result": "clear"}));
        assert_eq!(result["context"]["version"], "1.0.0");
        assert!(result["context"]["duration_ms"].is_u64(), "{result}");
        let started = &result["workflow_run_id"];
        assert_eq!((started, started), (&run["triggered_runs"][number], &trace[number]["invocation_id"]));
        let record = workflows.ended(started);
        assert_eq!((&record["inputs"], &record["origin"]), (&input, &json!("agent")), "{record}");
    }
    assert_eq!(json!(runs.last_observation("s1_013")), trace[1]["observation"]);
}

#[test]
fn s1_013_to_018_wrong_arguments_are_told_to_the_model() {
    let workflows = Workflows::shared();
    let (runs, id) = (&workflows.runs, &workflows.id);
    let wrong = [
        json!({"input": {}}),
        json!({"workflow_name": 7, "input": {}}),
        json!({"workflow_name": WORKFLOW}),
        json!({"workflow_name": WORKFLOW, "input": "text"}),
        json!({"workflow_name": WORKFLOW, "input": {}, "wait": "yes"}),
        json!({"workflow_name": WORKFLOW, "input": {}, "timeout_ms": 0}),
        json!({"workflow_name": WORKFLOW, "input": {}, "timeout_ms": 600_001}),
        json!({"workflow_name": "other", "input": {}}),
        json!({"workflow_name": "lathe__whoami", "input": {}}),
        json!({"workflow_id": "6ab13d50a3c20f6f6e5d4c3b", "input": {}}),
        json!({"workflow_id": id, "workflow_name": "other", "input": {}}),
    ];
    let replies = wrong.iter().cloned().map(call).chain([Reply::complete("done")]).collect();
    let run = runs.execute("s1_015", &TOOLS, replies);
    assert_eq!((&run["status"], &run["triggered_runs"]), (&json!("completed"), &json!([])));
    let expected: Vec<_> = wrong.iter().map(|_| false).chain([true]).collect();
    assert_eq!(success(runs, &run), expected);
    let told = runs.trace(&run)[7]["observation"].clone();
    assert!(told.as_str().is_some_and(|text| text.ends_with(&format!("its workflows: {WORKFLOW}"))), "{told}");
}

#[test]
fn s1_017_025_and_026_a_workflow_runs_without_being_waited_for() {
    let workflows = Workflows::shared();
    let arguments = json!({"workflow_name": WORKFLOW, "input": workflows.held("s1_025"), "wait": false});
    let run = workflows.runs.execute("s1_025", &TOOLS, vec![call(arguments), Reply::complete("begun")]);
    let started = &run["triggered_runs"][0];
    let expected = json!({"workflow_run_id": started, "workflow_id": workflows.id, "status": "running"});
    assert_eq!((&run["final_answer"], workflows.observations(&run)), (&json!("begun"), vec![expected]));
    workflows.release("s1_025");
    assert_eq!(workflows.ended(started)["invocation_status"]["succeeded"], true);
}

#[test]
fn s1_027_a_workflow_goes_on_after_the_time_to_wait() {
    let workflows = Workflows::shared();
    let arguments = json!({"workflow_name": WORKFLOW, "input": workflows.held("s1_027"), "timeout_ms": 50});
    let run = workflows.runs.execute("s1_027", &TOOLS, vec![call(arguments), Reply::complete("late")]);
    let started = &run["triggered_runs"][0];
    let expected =
        json!({"workflow_run_id": started, "workflow_id": workflows.id, "status": "running", "timed_out": true});
    assert_eq!((&run["final_answer"], workflows.observations(&run)), (&json!("late"), vec![expected]));
    workflows.release("s1_027");
    assert_eq!(workflows.ended(started)["invocation_status"]["succeeded"], true);
}

#[test]
fn s1_028_a_workflow_that_fails_or_is_refused_is_told_to_the_model() {
    let workflows = Workflows::shared();
    let replies = vec![
        call(json!({"workflow_name": WORKFLOW, "input": {"fails": true}})),
        call(json!({"workflow_name": WORKFLOW, "input": {"customer": 7}})),
        call(json!({"workflow_name": WORKFLOW, "input": {"customer": 8}, "wait": false})),
        Reply::complete("failed"),
    ];
    let run = workflows.runs.execute("s1_028", &TOOLS, replies);
    let observed = workflows.observations(&run);
    assert_eq!(observed[0]["error"], json!({"type": "ValueError", "message": "no such customer"}));
    assert_eq!((&observed[0]["status"], &observed[1]["status"]), (&json!("failed"), &json!("failed")));
    for refused in &observed[1..3] {
        assert_eq!((&refused["status"], &refused["error"]["type"]), (&json!("failed"), &json!("input_schema")));
    }
    assert_eq!(workflows.ended(&observed[1]["workflow_run_id"])["refused_at"], "validate");
    assert_eq!(
        (&run["final_answer"], success(&workflows.runs, &run)),
        (&json!("failed"), vec![false, false, false, true])
    );
}

/// The last run gets the refusal as the result of its workflow, and all of them end.
#[test]
fn s1_029_a_workflow_that_runs_its_own_agent_ends() {
    let model = ModelEndpoint::serve();
    let arguments = [Options::reaching_loopback().arguments, options(&model).arguments].concat();
    let team = Team::on(&Server::private(&Options { arguments, ..options(&model) }));
    let tool = team.tool(WORKFLOW).body(RUNS_ITS_AGENT).manifest("timeout_seconds = 300");
    let _tool = tool.manifest(&format!("allowed_hosts = ['{}']", team.server.address())).published();
    Gateway::of_type(&team, AGENT, "agent").with(&[WORKFLOW]);
    let (url, token) = (format!("{}/agents/execute", team.server.url), format!("Bearer {}", team.token));
    let runs = Runs { team, model };
    for number in 1..8 {
        let input = json!({"objective": format!("circle {}", number + 1), "url": url, "token": token});
        let replies = vec![call(json!({"workflow_name": WORKFLOW, "input": input})), Reply::complete("out")];
        runs.model.answers(&format!("circle {number}"), replies);
    }
    let body = json!({"agent": AGENT, "objective": "circle 1", "tools": TOOLS});
    assert_eq!(runs.post("/agents/execute", &body).expect(200)["final_answer"], "out");
    let results = (1..8).map_while(|number| {
        let objective = format!("circle {number}");
        let has_run = !runs.model.received(&objective).is_empty();
        let result = has_run.then(|| runs.last_observation(&objective))?;
        serde_json::from_str::<Value>(&result).expect("the result of a workflow")["result"].as_str().map(str::to_owned)
    });
    assert_eq!(results.collect::<Vec<_>>(), ["completed", "completed", "completed", "loop_detected"]);
}

#[test]
fn a_run_that_is_cancelled_cancels_only_the_workflow_that_it_waits_for() {
    let workflows = Workflows::shared();
    let Workflows { runs, site, .. } = &*workflows;
    let first = call(json!({"workflow_name": WORKFLOW, "input": workflows.held("first"), "wait": false}));
    let second = call(json!({"workflow_name": WORKFLOW, "input": workflows.held("second")}));
    let run = workflows.begin("cancelled with a workflow", vec![first, second]);
    let request = "GET /meet/2/second".to_owned();
    eventually("the second workflow", || site.requests().contains(&request).then_some(()));
    let started = runs.status(&run)["triggered_runs"].clone();
    assert_eq!(runs.post(&format!("/agents/{}/cancel", id(&run)), &json!({})).status, 204);
    assert_eq!(workflows.ended(&started[1])["invocation_status"]["exception_type"], "cancelled");
    workflows.release("first");
    assert_eq!(workflows.ended(&started[0])["invocation_status"]["succeeded"], true);
}

#[test]
fn a_shutdown_waits_for_a_workflow_in_the_background() {
    let workflows = Workflows::start();
    let arguments = json!({"workflow_name": WORKFLOW, "input": workflows.held("shutdown"), "wait": false});
    let run = workflows.runs.execute("shutdown", &TOOLS, vec![call(arguments), Reply::complete("begun")]);
    let server = workflows.runs.team.server.clone();
    server.signal(Signal::SIGTERM);
    eventually("the end of listening", || TcpStream::connect(server.address()).is_err().then_some(()));
    workflows.release("shutdown");
    assert_eq!(server.ended().code(), Some(0));
    let workflows = workflows.restarted();
    assert_eq!(workflows.ended(&run["triggered_runs"][0])["invocation_status"]["succeeded"], true);
}

/// The server is killed during a workflow: the model learns that it was cut off, and finds its record.
#[test]
fn a_workflow_is_not_run_again_after_the_death_of_its_server() {
    let workflows = Workflows::start();
    let held = call(json!({"workflow_name": WORKFLOW, "input": workflows.site.hold()}));
    let run = workflows.begin("death", vec![held, Reply::complete("looked")]);
    workflows.site.held.is_reached_by(1);
    workflows.runs.team.server.kill();
    let workflows = workflows.restarted();
    let ended = workflows.runs.becomes(&run, "completed");
    let told = workflows.runs.last_observation("death");
    assert!(told.starts_with("interrupted"), "{told}");
    assert_eq!(ended["triggered_runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(workflows.ended(&ended["triggered_runs"][0])["invocation_status"]["succeeded"], false);
    workflows.site.held.open();
}
