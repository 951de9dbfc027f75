//! Lists over HTTP: tags, orders, and pages during concurrent writes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::Raised;
use crate::harness::{Bump, Team, eventually, input};
use crate::mcp::client::Gateway;

fn create(team: &Team, name: &str, tags: &Value) -> String {
    let body = json!({"name": name, "description": "A tool of a list.", "tags": tags});
    team.post("/tool/", &body).expect(201)["id"].as_str().expect("an id").to_owned()
}

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().expect("a list").iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

#[test]
fn tags_are_matched_with_a_star_and_with_nothing() {
    let team = Team::new();
    create(&team, "red", &json!({"team": "red", "stage": "beta test"}));
    create(&team, "blue", &json!({"team": "blue", "größe": "_1"}));
    create(&team, "none", &json!({"team": null}));
    create(&team, "bare", &json!({}));
    for (filters, expected) in [
        (vec!["team:red"], vec!["red"]),
        (vec!["team:*"], vec!["blue", "none", "red"]),
        (vec!["team:"], vec!["none"]),
        (vec!["team:*", "stage:beta test"], vec!["red"]),
        (vec!["größe:_1"], vec!["blue"]),
        (vec!["other:*"], vec![]),
    ] {
        let pairs: Vec<_> = filters.iter().map(|filter| ("tag", *filter)).chain([("sort_by", "+name")]).collect();
        let list = team.request("GET", "/tool/").query(&pairs).send().expect(200);
        assert_eq!(names(&list), expected, "{filters:?}");
        // The response contains all tag keys in use, regardless of the filter.
        assert_eq!(list["filter_values"], json!({"tags": ["größe", "stage", "team"]}));
    }
}

#[test]
fn a_set_of_values_has_none_twice() {
    let team = Team::new();
    let id = "a".repeat(24);
    for query in [
        format!("/tool/?id={id}&id={id}"),
        format!("/tool/{}/version?creator=acme,ada&creator=acme,ada", create(&team, "set", &json!({}))),
        format!("/tool/invocation?conversation_id={id}&conversation_id={id}"),
        "/tool/invocation/search?query=x&query_against=inputs&query_against=inputs".to_owned(),
    ] {
        let refused = team.request("GET", &query).send().expect(422).to_string();
        assert!(refused.contains("unique items"), "{query}: {refused}");
    }
    // The document forbids the same text twice. It allows two texts that mean the same value.
    let id = create(&team, "other", &json!({}));
    team.get(&format!("/tool/{id}/version?creator=acme,ada&creator=acme,%20ada"));
}

#[test]
fn several_keys_sort_one_after_the_other() {
    let team = Team::new();
    for name in ["b", "a", "d", "c"] {
        let id = create(&team, name, &json!({}));
        if ["a", "b"].contains(&name) {
            team.delete(&format!("/tool/{id}")).expect(204);
        }
    }
    let sorted = |query: &str| names(&team.get(&format!("/tool/?{query}"))).join("");
    assert_eq!(sorted("sort_by=%2Bdeprecated&sort_by=-name"), "dcba");
    assert_eq!(sorted("sort_by=-deprecated&sort_by=+name"), "abcd");
    assert_eq!(sorted("sort_by= deprecated&sort_by=%2Bname"), "cdab");
    assert_eq!(sorted("sort_by=-name&sort_by=-deprecated"), "dcba");
    assert_eq!(sorted(""), "cdab", "the newest first");
}

/// Reads all pages while `write` runs concurrently, at least once between two pages. Returns the rows of the pages.
fn pages(team: &Team, path: &str, rows: &str, write: impl Fn(usize) + Sync) -> Vec<String> {
    let (written, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let write_on = || {
        while !done.load(Ordering::SeqCst) {
            write(written.load(Ordering::SeqCst));
            written.fetch_add(1, Ordering::SeqCst);
        }
    };
    std::thread::scope(|scope| {
        let _done = Raised(&done);
        scope.spawn(write_on);
        let (mut seen, mut token) = (Vec::new(), json!(0));
        while !token.is_null() {
            let before = written.load(Ordering::SeqCst);
            let page = team.get(&format!("{path}&continuation_token={token}"));
            let ids = page[rows].as_array().expect("a list").iter();
            seen.extend(ids.map(|row| row["id"].as_str().expect("an id").to_owned()));
            token = page["continuation_token"].clone();
            eventually("a row of the writer", || (written.load(Ordering::SeqCst) > before).then_some(()));
        }
        seen
    })
}

#[track_caller]
fn shown_once(before: &BTreeSet<String>, seen: &[String]) {
    let different: BTreeSet<String> = seen.iter().cloned().collect();
    assert_eq!(different.len(), seen.len(), "a row was shown twice");
    assert!(before.is_subset(&different), "a row was missed");
}

#[test]
fn pages_of_tools_miss_nothing_while_tools_are_made() {
    let team = Team::new();
    let before: BTreeSet<String> = (0..30).map(|number| create(&team, &format!("a{number}"), &json!({}))).collect();
    for (order, prefix) in [("sort_by=%2Bname&", "b"), ("sort_by=-name&", "c"), ("", "d")] {
        let write = |number| drop(create(&team, &format!("{}{number}_{prefix}", ["a", "z"][number % 2]), &json!({})));
        let seen = pages(&team, &format!("/tool/?{order}limit=4"), "tools", write);
        shown_once(&before, &seen);
    }
}

#[test]
fn pages_of_the_history_miss_nothing_while_tools_run() {
    let team = Team::new();
    let tool = team.tool("busy").body("return 'done'").published();
    tool.invoke_inputs(&json!({"inputs": vec![input(&json!({})); 10]}));
    tool.invoke_inputs(&json!({"inputs": vec![input(&json!({})); 10]}));
    let run = |_| drop(tool.invoke(json!({})));
    let before: BTreeSet<String> =
        team.history().iter().map(|record| record["id"].as_str().expect("an id").to_owned()).collect();
    assert_eq!(before.len(), 20);
    for order in ["", "sort_by=%2Bduration_ms&", "sort_by=-invocation_status.succeeded&sort_by=-duration_ms&"] {
        let seen = pages(&team, &format!("/tool/invocation?{order}limit=6"), "tool_invocations", run);
        shown_once(&before, &seen);
    }
}

/// Each list with two rows returns a token for its second page, which no other list, filter or order accepts.
#[test]
fn a_token_belongs_to_one_list_with_one_filter_and_order() {
    let team = Team::new();
    let tool = team.tool("first").body("return 'done'").published();
    let tool = tool.body("return 'done again'").pushed();
    tool.publish(Bump::Minor).expect(201);
    tool.invoke_inputs(&json!({"inputs": vec![input(&json!({})); 3]}));
    for name in ["b", "c"] {
        create(&team, name, &json!({"team": "red"}));
    }
    let agents = ["one", "two"].map(|slug| Gateway::of_type(&team, slug, "agent").with(&["first"]).id);
    team.post(&format!("/agent/{}", agents[0]), &json!({"system_prompt": "Be brief."})).expect(204);
    team.post(&format!("/agent/{}/deploy", agents[0]), &json!({})).expect(200);
    for _ in 0..2 {
        team.post(&format!("/agent/{}/conversation", agents[0]), &json!({})).expect(201);
        team.post("/history_hold", &json!({"reason": "An audit."})).expect(201);
        team.post("/user/me/api_key", &json!({"name": "second"})).expect(201);
    }
    let _bea = team.joined_by("bea", "admin");
    let (agent, tool) = (&agents[0], tool.id());
    let lists = [
        "/tool/?sort_by=%2Bname".to_owned(),
        "/tool/?sort_by=-name".to_owned(),
        "/tool/?tag=team:red&sort_by=%2Bname".to_owned(),
        "/tool/?deprecated=false".to_owned(),
        "/tool/?".to_owned(),
        format!("/tool/{tool}/version?"),
        format!("/tool/{tool}/version?versions=%3E%3D1"),
        format!("/tool/{tool}/version?sort_by=%2Bversion.minor"),
        "/tool/invocation?".to_owned(),
        "/tool/invocation?succeeded=true".to_owned(),
        "/tool/invocation?sort_by=%2Bduration_ms".to_owned(),
        format!("/tool/invocation?tool_id={tool}"),
        "/tool/invocation/search?query=done&query_against=invocation_status.output".to_owned(),
        "/tool/invocation/search?query=don*&query_against=invocation_status.output".to_owned(),
        "/agent?".to_owned(),
        "/agent?sort_by=-name".to_owned(),
        "/agent?agent_type=agent".to_owned(),
        format!("/agent/{agent}/revision?"),
        format!("/agent/{agent}/conversation?"),
        format!("/agent/{agent}/tools?format=mcp"),
        format!("/agent/{agent}/tools?format=openai"),
        "/user?".to_owned(),
        "/api_key?".to_owned(),
        "/user/me/api_key?".to_owned(),
        "/history_hold?".to_owned(),
    ];
    let tokens = lists.each_ref().map(|list| {
        let page = team.get(&format!("{list}&limit=1"));
        let token = page["continuation_token"].as_u64().unwrap_or_else(|| panic!("{list} has one page: {page}"));
        team.get(&format!("{list}&limit=2&continuation_token={token}"));
        token
    });
    for (list, of) in lists.iter().zip(&lists).flat_map(|(list, _)| lists.iter().map(move |of| (list, of))) {
        let token = tokens[lists.iter().position(|one| one == of).expect("a list")];
        if list != of {
            let refused = team.request("GET", &format!("{list}&continuation_token={token}")).send();
            assert_eq!(refused.status, 422, "{list} took the token of {of}: {refused}");
            assert!(refused.to_string().contains("continuation_token"), "{refused}");
        }
    }
    let other = Team::on(&team.server);
    for name in ["b", "c", "d"] {
        create(&other, name, &json!({}));
    }
    other.request("GET", &format!("/tool/?continuation_token={}", tokens[4])).send().expect(422);
}

#[test]
fn a_page_after_a_row_of_another_list_is_refused() {
    let team = Team::new();
    let unknown = "6b087fb88c8b71fedaf8732b";
    for (path, place) in
        [(format!("/agent_run?before={unknown}"), "before"), (format!("/human_request?after={unknown}"), "after")]
    {
        let refused = team.request("GET", &path).send();
        assert_eq!((refused.status, refused.json()["detail"][0]["loc"][1].as_str()), (422, Some(place)), "{refused}");
    }
}
