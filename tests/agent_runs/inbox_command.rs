//! `lathe inbox`: people list, read and answer the requests of runs.

use serde_json::{Value, json};

use super::runs::{Runs, id};
use crate::harness::{Reply, Team};
use crate::mcp::client::Gateway;
use crate::mcp::questions::asking;

const ALL: [&str; 2] = ["__pause_for_human__", "__complete__"];

fn pause(question: &str) -> Reply {
    let options = ["C-001", "C-047"];
    let question = json!({"question": question, "options": options, "context_summary": "A refund.", "urgency": "high"});
    Reply::call("__pause_for_human__", question)
}

/// The id of the open request of a run.
fn request(run: &Value) -> &str {
    run["human_request_id"].as_str().expect("a request")
}

#[test]
fn the_list_has_the_questions_of_runs_that_wait() {
    let runs = Runs::shared();
    let lathe = runs.team.lathe();
    let paused = runs.execute("inbox list", &ALL, vec![pause("Which John\nSmith?"), Reply::complete("done")]);
    let listed = lathe.ok(&["inbox", "--urgency", "high", "--run", id(&paused)]);
    assert!(listed.contains(request(&paused)) && listed.contains("Which John Smith?"), "{listed}");
    let document = lathe.json(&["inbox", "--run", id(&paused)]);
    assert_eq!(document["human_requests"][0]["human_request_id"], request(&paused));
    assert_eq!((document["human_requests"].as_array().map(Vec::len), &document["has_more"]), (Some(1), &json!(false)));
    let none = lathe.run(&["inbox", "--urgency", "low", "--run", id(&paused)]).ok();
    assert_eq!((none.stdout.as_str(), none.stderr.contains("no such requests")), ("", true), "{none:?}");
    let stranger = Team::on(&runs.team.server);
    let none = stranger.lathe().run(&["inbox"]).ok();
    assert!(none.stderr.contains("no open requests"), "{none:?}");
    lathe.run(&["inbox", "--run", "nowhere"]).refused(1, &["error: --run: "]);
    lathe.run(&["inbox", "--status", "done"]).refused(2, &["answered"]);
    lathe.run(&["inbox", "--limit", "501"]).refused(2, &["--limit"]);
    lathe.run(&["inbox", "--limit", "1", "show", request(&paused)]).refused(2, &["filters"]);
}

#[test]
fn a_request_is_shown_with_its_options_and_the_command_that_answers_it() {
    let runs = Runs::shared();
    let lathe = runs.team.lathe();
    let paused = runs.execute("inbox show", &ALL, vec![pause("Which John Smith?"), Reply::complete("done")]);
    let shown = lathe.ok(&["inbox", "show", request(&paused)]);
    let command = format!("lathe inbox answer {} TEXT", request(&paused));
    for words in ["Which John Smith?", "1. C-001", "2. C-047", "A refund.", "urgency  high", id(&paused), &command] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
    assert_eq!(lathe.json(&["inbox", "show", request(&paused)])["options"], json!(["C-001", "C-047"]));
    let missing = lathe.run(&["inbox", "answer", request(&paused)]);
    missing.refused(2, &["a question takes TEXT, --approve or --decline", &command]);
    lathe.run(&["inbox", "answer", request(&paused), "--field", "x=1"]).refused(2, &["the request has no form"]);
    assert_eq!(runs.status(&paused)["status"], "paused");
}

#[test]
fn an_answer_ends_the_run_and_a_second_answer_is_refused() {
    let runs = Runs::shared();
    let lathe = runs.team.lathe();
    let paused = runs.execute("inbox answer", &ALL, vec![pause("Which John Smith?"), Reply::complete("refunded")]);
    let said = lathe.ok(&["inbox", "answer", request(&paused), "Use C-001.", "--wait"]);
    assert!(said.contains("completed") && said.contains("refunded"), "{said}");
    assert!(runs.last_observation("inbox answer").contains("Use C-001."));
    let second = lathe.run(&["inbox", "answer", request(&paused), "Use C-047."]);
    second.refused(1, &["the request has been answered", "hint: `lathe inbox` lists the open requests"]);
    let shown = lathe.ok(&["inbox", "show", request(&paused)]);
    assert!(shown.contains("Use C-001.") && shown.contains("by ada") && !shown.contains("To answer"), "{shown}");
    assert!(lathe.ok(&["inbox", "--status", "answered", "--run", id(&paused)]).contains(request(&paused)));
}

#[test]
fn a_run_goes_on_after_an_answer_and_may_ask_again() {
    let runs = Runs::shared();
    let lathe = runs.team.lathe();
    let replies = vec![pause("First?"), pause("Second?"), Reply::complete("done")];
    let first = runs.execute("inbox again", &ALL, replies);
    let said = lathe.ok(&["inbox", "answer", request(&first), "--decline", "Not now.", "--wait"]);
    let second = runs.status(&first);
    assert!(said.contains("paused") && said.contains("Second?") && said.contains(request(&second)), "{said}");
    let more = lathe.run(&["inbox", "--status", "any", "--limit", "1", "--run", id(&first)]).ok();
    assert!(more.stderr.contains("there are more requests"), "{more:?}");
    let said = lathe.ok(&["inbox", "answer", request(&second), "--approve"]);
    assert!(said.contains("goes on") && said.contains(id(&first)), "{said}");
    runs.becomes(&first, "completed");
}

#[test]
fn a_run_that_fails_after_the_answer_is_a_failure_of_the_command() {
    let runs = Runs::shared();
    let paused = runs.execute("inbox failure", &ALL, vec![pause("Go on?"), Reply::Refuses(400)]);
    let said = runs.team.lathe().run(&["inbox", "answer", request(&paused), "--approve", "--wait"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("failed") && said.stdout.contains("model_refused"), "{said:?}");
}

#[test]
fn mistakes_are_named() {
    let runs = Runs::shared();
    let lathe = runs.team.lathe();
    let unknown = "f".repeat(24);
    for command in
        [&["inbox", "show", &unknown][..], &["inbox", "answer", &unknown, "Yes."], &["inbox", "answer", &unknown]]
    {
        lathe.run(command).refused(1, &["there is no request `ffff", "`lathe inbox` lists the open requests"]);
    }
    lathe.run(&["inbox", "show", "nowhere"]).refused(1, &["error: REQUEST: ", "lathe inbox"]);
    lathe.run(&["inbox", "answer", &unknown, "--approve", "--decline"]).refused(2, &["--decline", "--approve"]);
}

#[test]
fn the_values_of_a_form_have_the_types_of_its_fields() {
    let runs = Runs::shared();
    let team = Team::on(&runs.team.server);
    let fields = "{'count': {'type': 'integer', 'title': 'Pieces'}, \
        'sizes': {'type': 'array', 'items': {'type': 'string', 'enum': ['S', 'M']}}}";
    let body = format!(
        "answer = await request_input('order', Form('Your order?', {fields}, ['count']))\n\
        return f\"{{answer.content['count'] + 1}} {{answer.content['sizes']}}\""
    );
    asking(&team, "order", &body).published();
    Gateway::of_type(&team, "seller", "agent").with(&["order"]);
    runs.model.answers("inbox form", vec![Reply::call("order", json!({})), Reply::complete("ordered")]);
    let body = json!({"agent": "seller", "objective": "inbox form", "tools": ["order", "__complete__"]});
    let started = team.server.request("POST", "/agents/execute").bearer(&team.token).json(&body).send();
    let (paused, lathe) = (started.expect(200), team.lathe());
    let shown = lathe.ok(&["inbox", "show", request(&paused)]);
    let command = format!("lathe inbox answer {} --field count=VALUE", request(&paused));
    for words in ["Your order?", "count (integer; required): Pieces", "one of S, M", &command] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
    for (field, words) in [
        ("count=many", "the field `count` takes a whole number, not `many`"),
        ("colour=red", "there is no field `colour`"),
        ("sizes=S", "the field `count` is missing"),
    ] {
        lathe.run(&["inbox", "answer", request(&paused), "--field", field]).refused(2, &[words, "hint: "]);
    }
    let values = ["--field", "count=2", "--field", "sizes=S", "--field", "order.sizes=M"];
    let said = lathe.ok(&[&["inbox", "answer", request(&paused), "--wait"][..], &values].concat());
    assert!(said.contains("completed") && said.contains("ordered"), "{said}");
    assert_eq!(runs.last_observation("inbox form"), "3 ['S', 'M']");
}
