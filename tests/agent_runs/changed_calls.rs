//! A permission of a person is for the call that the person has read: that version of the tool, its code and its arguments, for
//! that revision of the agent. When another version is published meanwhile, the run asks again.

use serde_json::{Value, json};

use super::runs::{Runs, options};
use crate::harness::{Answer, Bump, ModelEndpoint, Reply, Server, Team, Tool};
use crate::mcp::client::Gateway;
use crate::mcp::questions::asking;

const CONFIRMED: &str = "intervention = 'required'";

fn runs() -> Runs {
    let model = ModelEndpoint::serve();
    Runs { team: Team::on(&Server::private(&options(&model))), model }
}

/// A version of the tool `pay`, which tells its version.
fn pay<'t>(team: &'t Team, manifest: &str, told: &str) -> Tool<'t> {
    team.tool("pay").manifest(manifest).body(&format!("return f\"paid {{tool_input.get('amount')}} by {told}\""))
}

impl Runs {
    /// Runs an agent that pays, until it asks.
    fn paying(&self, agent: &str, objective: &str) -> Value {
        let replies = vec![Reply::call("pay", json!({"amount": 5})), Reply::complete("done")];
        let body = json!({"agent": agent, "objective": objective, "tools": ["pay", "__complete__"]});
        let paused = self.execute_with(body, replies);
        assert_eq!(paused["status"], "paused", "{paused}");
        paused
    }

    fn asked(&self, run: &Value) -> Value {
        let request = run["human_request_id"].as_str().unwrap_or_else(|| panic!("{run}"));
        self.team.get(&format!("/human_request/{request}"))
    }

    fn approve(&self, request: &Value) -> Answer {
        let id = request["human_request_id"].as_str().expect("an id");
        self.team.post(&format!("/human_request/{id}/answer"), &json!({"approved": true}))
    }

    /// The outputs of the runs of the tool.
    fn paid(&self) -> Vec<Value> {
        let outputs = self.team.history().into_iter().map(|run| run["invocation_status"]["output"].clone());
        outputs.filter(Value::is_string).collect()
    }
}

#[test]
fn a_permission_is_for_the_version_that_was_shown() {
    let runs = runs();
    let team = &runs.team;
    let tool = pay(team, CONFIRMED, "1.0.0").published();
    Gateway::of_type(team, "cashier", "agent").with(&["pay"]);
    let paused = runs.paying("cashier", "one");
    let first = runs.asked(&paused);
    assert_eq!((&first["call"]["tool_version"], &first["changes"]), (&json!("1.0.0"), &json!(null)), "{first}");
    assert_eq!((&first["call"]["tool_id"], &first["call"]["agent_revision"]), (&json!(tool.id()), &json!(1)));
    let version = |version: &str| team.get(&format!("/tool/{}/version/{version}", tool.id()));
    assert_eq!(first["call"]["component_digest"], version("1.0.0")["component_digest"], "{first}");

    pay(team, CONFIRMED, "1.1.0").with_id(tool.id()).published();
    let again = runs.approve(&first).expect(200);
    assert_eq!((&again["status"], runs.paid().len()), (&json!("paused"), 0), "{again}");
    let second = runs.asked(&again);
    assert_ne!(second["human_request_id"], first["human_request_id"]);
    assert_eq!((&second["kind"], &second["call"]["tool_version"]), (&json!("approval"), &json!("1.1.0")), "{second}");
    assert_eq!(second["call"]["component_digest"], version("1.1.0")["component_digest"], "{second}");
    assert_eq!(second["call"]["arguments_digest"], first["call"]["arguments_digest"], "{second}");
    let told = "pay has changed since it was confirmed: version 1.0.0 is now 1.1.0.";
    assert_eq!(second["changes"], told);
    assert_eq!(second["question"], format!("{told} Run pay with {{\"amount\":5}}?"));
    let shown = team.lathe().ok(&["inbox", "show", second["human_request_id"].as_str().expect("an id")]);
    assert!(shown.contains(told) && shown.contains("version  1.1.0"), "{shown}");

    assert_eq!(runs.approve(&first).code(), "human_request_closed");
    assert_eq!(runs.paid().len(), 0, "the first request is answered once");
    assert_eq!(runs.approve(&second).expect(200)["status"], "completed");
    assert_eq!(runs.paid(), ["paid 5 by 1.1.0"]);
    let of_version = team.history().into_iter().find(|run| run["invocation_status"]["output"].is_string());
    assert_eq!(of_version.expect("the run")["tool_version"], json!({"major": 1, "minor": 1, "patch": 0}));
}

/// The permission for a version that asks does not let one through that asks for none.
#[test]
fn a_version_that_needs_no_permission_is_shown_to_who_permitted_another() {
    let runs = runs();
    let tool = pay(&runs.team, CONFIRMED, "1.0.0").published();
    Gateway::of_type(&runs.team, "cashier", "agent").with(&["pay"]);
    let paused = runs.paying("cashier", "one");
    let other = pay(&runs.team, "", "2.0.0").with_id(tool.id()).pushed();
    assert_eq!(other.publish(Bump::Major).expect(201)["new_version"], "2.0.0");
    let again = runs.approve(&runs.asked(&paused)).expect(200);
    assert_eq!((&again["status"], runs.paid().len()), (&json!("paused"), 0), "{again}");
    let second = runs.asked(&again);
    assert!(second["question"].as_str().expect("a text").contains("version 1.0.0 is now 2.0.0"), "{second}");
    let no = json!({"approved": false});
    let id = second["human_request_id"].as_str().expect("an id");
    assert_eq!(runs.team.post(&format!("/human_request/{id}/answer"), &no).expect(200)["status"], "completed");
    assert_eq!(runs.paid().len(), 0);
}

#[test]
fn a_permission_is_for_the_revision_of_the_agent_that_asked() {
    let runs = runs();
    pay(&runs.team, CONFIRMED, "1.0.0").published();
    Gateway::of_type(&runs.team, "cashier", "agent").with(&["pay"]);
    let paused = runs.paying("cashier", "one");
    let lathe = runs.team.lathe();
    lathe.ok(&["agent", "edit", "cashier", "--families", "memory"]);
    lathe.ok(&["agent", "deploy", "cashier"]);
    let again = runs.approve(&runs.asked(&paused)).expect(200);
    assert_eq!((&again["status"], runs.paid().len()), (&json!("paused"), 0), "{again}");
    let second = runs.asked(&again);
    assert!(second["changes"].as_str().expect("a text").contains("revision 1 of the agent is now 2"), "{second}");
    assert_eq!(runs.approve(&second).expect(200)["status"], "completed");
    assert_eq!(runs.paid(), ["paid 5 by 1.0.0"]);
}

/// The answers to forms of one version are none to those of another, which may do something else with them.
#[test]
fn another_version_asks_for_its_forms_again() {
    let runs = runs();
    let body = |told: &str| {
        let form = "Form('Delete all?', {'yes': {'type': 'boolean'}}, ['yes'])";
        format!("answer = await request_input('sure', {form})\nreturn f\"{{answer.content['yes']}} by {told}\"")
    };
    let tool = asking(&runs.team, "pay", &body("1.0.0")).published();
    Gateway::of_type(&runs.team, "cleaner", "agent").with(&["pay"]);
    let paused = runs.paying("cleaner", "one");
    asking(&runs.team, "pay", &body("1.1.0")).with_id(tool.id()).published();
    let answer = |run: &Value| {
        let request = run["human_request_id"].as_str().expect("a request");
        let values = json!({"forms": {"sure": {"yes": true}}});
        runs.team.post(&format!("/human_request/{request}/answer"), &values).expect(200)
    };
    let again = answer(&paused);
    assert_eq!((&again["status"], runs.paid().len()), (&json!("paused"), 0), "{again}");
    assert_eq!(answer(&again)["status"], "completed");
    assert_eq!(runs.paid(), ["True by 1.1.0"]);
}

/// A task of an MCP client, whose person answers there.
#[test]
fn a_confirmation_of_a_task_is_for_the_version_that_was_shown() {
    let team = Team::new();
    let settings = "tasks = 'required'\nintervention = 'always'";
    let tool = pay(&team, settings, "1.0.0").published();
    let gateway = Gateway::new(&team, "tools", &["pay"]);
    let id = gateway.begin("pay", json!({"amount": 5}));
    let confirm = || {
        let asked = gateway.task_becomes(&id, "input_required");
        let (key, request) = asked["inputRequests"].as_object().expect("requests").iter().next().expect("one");
        let confirmed = json!({"action": "accept", "content": {"confirmed": true}});
        (request["params"]["message"].as_str().expect("a text").to_owned(), json!({key: confirmed}))
    };
    let (message, answer) = confirm();
    assert_eq!(message, "Run pay with {\"amount\":5}?");
    pay(&team, settings, "1.1.0").with_id(tool.id()).published();
    gateway.update(&id, answer.clone());
    let first = crate::harness::eventually("the second request", || {
        let open = team.get("/human_request")["human_requests"][0].clone();
        open["changes"].is_string().then_some(open)
    });
    assert_eq!(first["call"]["tool_version"], "1.1.0", "{first}");
    let (message, confirmed) = confirm();
    assert!(
        message.starts_with("pay has changed since it was confirmed: version 1.0.0 is now 1.1.0. Run"),
        "{message}"
    );
    gateway.update(&id, answer);
    assert_eq!(gateway.task(&id)["status"], "input_required", "the first answer is used once");
    gateway.update(&id, confirmed);
    let done = gateway.task_becomes(&id, "completed");
    assert!(done["result"].to_string().contains("paid 5 by 1.1.0"), "{done}");
}
