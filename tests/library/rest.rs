//! The Library over REST: the same items, rules and records as through an agent.

use serde_json::{Value, json};

use super::agent::{Agent, rows};
use crate::harness::{Answer, Request, Team};

/// The routes and the tools of a family, with the fields of an item.
struct Family {
    path: &'static str,
    /// The prefix of the tools.
    prefix: &'static str,
    /// The verb of the tool that creates.
    creates: &'static str,
    item: Value,
    /// A change, for a family whose items can be changed.
    change: Option<Value>,
    is_deletable: bool,
}

fn request<'t>(team: &'t Team, method: &str, path: &str) -> Request<'t> {
    team.server.request(method, &format!("/api/v1/{path}")).bearer(&team.token)
}

fn send(team: &Team, method: &str, path: &str) -> Answer {
    request(team, method, path).send()
}

/// The data of a request that succeeds.
#[track_caller]
fn data(answer: &Answer, status: u16) -> Value {
    assert_eq!((answer.status, &answer.json()["success"]), (status, &json!(true)), "{answer}");
    answer.json()["data"].clone()
}

/// The code of a request that fails. The status in the body is that of the response.
#[track_caller]
fn code(answer: &Answer, status: u16) -> String {
    let error = &answer.json()["error"];
    assert_eq!((answer.status, &answer.json()["success"]), (status, &json!(false)), "{answer}");
    assert_eq!(error["status"], status, "{answer}");
    error["code"].as_str().expect("a code").to_owned()
}

fn ids(list: &Value, id: &str) -> Vec<Value> {
    list["items"].as_array().expect("items").iter().map(|item| item[id].clone()).collect()
}

/// Asserts that a user and an agent work on the same items of a family.
#[track_caller]
fn works(agent: &Agent, family: &Family) {
    let Family { path, prefix, creates, item, change, is_deletable } = family;
    let (team, id) = (agent.0.team, format!("{prefix}_id"));
    let get_tool = format!("{prefix}_get");
    let created = data(&request(team, "POST", path).json(item).send(), 201);
    assert_eq!((&created["provenance"]["trusted"], &created["provenance"]["agent_id"]), (&json!(true), &json!(null)));
    let one = format!("{path}/{}", created[&id].as_str().expect("an id"));
    assert_eq!(data(&send(team, "GET", &one), 200), created);
    assert_eq!(agent.data(&get_tool, json!({id.as_str(): created[&id]})), created, "an agent sees it");

    let mut other = item.clone();
    if other.get("name").is_some() {
        other["name"] = json!(format!("{}-of-agent", other["name"].as_str().expect("a name")));
    }
    let of_agent = agent.data(&format!("{prefix}_{creates}"), other);
    let seen = data(&send(team, "GET", &format!("{path}/{}", of_agent[&id].as_str().expect("an id"))), 200);
    assert_eq!((&seen, &seen["provenance"]["trusted"]), (&of_agent, &json!(false)), "a user sees that of the agent");
    let listed = ids(&data(&send(team, "GET", &format!("{path}?limit=200&offset=0")), 200), &id);
    assert!(listed.contains(&created[&id]) && listed.contains(&of_agent[&id]), "{listed:?}");
    let page = data(&send(team, "GET", &format!("{path}?limit=1")), 200);
    assert_eq!((ids(&page, &id).len(), &page["has_more"]), (1, &json!(true)));

    if let Some(change) = change {
        for (method, revision) in [("PATCH", 2), ("PUT", 3)] {
            let changed = data(&request(team, method, &one).json(change).send(), 200);
            assert_eq!((&changed["revision"], &changed[&id]), (&json!(revision), &created[&id]), "{method}");
        }
        let seen = agent.data(&get_tool, json!({id.as_str(): created[&id]}));
        for (field, value) in change.as_object().expect("fields") {
            assert_eq!(seen[field], *value, "{field}");
        }
        let old = request(team, "PATCH", &one).json(&json!({"revision": 1})).send();
        assert_eq!(code(&old, 409), "conflict");
    }
    if *is_deletable {
        assert_eq!(data(&send(team, "DELETE", &one), 200), json!({id.as_str(): created[&id], "deleted": true}));
        assert_eq!(code(&send(team, "GET", &one), 404), "not_found");
        assert_eq!(agent.refused(&get_tool, json!({id.as_str(): created[&id]})), ("not_found".into(), 404));
    } else {
        assert_eq!(send(team, "DELETE", &one).status, 405);
    }
}

rows! {
    s0_007_memory_over_rest: |agent| works(agent, &Family {
        path: "memory", prefix: "memory", creates: "create", is_deletable: true,
        item: json!({"content": "The customer prefers e-mail.", "kind": "fact", "tags": ["rest"]}),
        change: Some(json!({"content": "The customer prefers calls."})),
    });
    s0_008_rules_over_rest: |agent| works(agent, &Family {
        path: "rules", prefix: "rule", creates: "create", is_deletable: true,
        item: json!({"description": "Refunds", "content": "Refund in 14 days.", "category": "must", "severity": "high"}),
        change: Some(json!({"content": "Refund in 30 days.", "enabled": false})),
    });
    s0_009_skills_over_rest: |agent| works(agent, &Family {
        path: "skills", prefix: "skill", creates: "create", is_deletable: true,
        item: json!({"name": "rest-skill", "content": "# Greet {{customer}}"}),
        change: Some(json!({"description": "Greets"})),
    });
    s0_011_prompts_over_rest: |agent| works(agent, &Family {
        path: "prompts", prefix: "prompt", creates: "create", is_deletable: false,
        item: json!({"name": "rest-prompt", "content": "Hello {{customer}}"}),
        change: Some(json!({"content": "Good morning {{customer}}"})),
    });
    s0_012_artifacts_over_rest: |agent| works(agent, &Family {
        path: "artifacts", prefix: "artifact", creates: "save", is_deletable: true,
        item: json!({"title": "Sales", "artifact_type": "report", "content": "x", "content_type": "text/plain"}),
        change: None,
    });
    s0_013_preferences_over_rest: |agent| {
        let (team, path) = (agent.0.team, "preferences/rest%20tone");
        let set = request(team, "PUT", path).json(&json!({"value": {"tone": "short"}, "source": "manual"})).send();
        let preference = data(&set, 200);
        assert_eq!((&preference["key"], &preference["value"]["tone"]), (&json!("rest tone"), &json!("short")));
        assert_eq!(agent.data("preference_get", json!({"key": "rest tone"})), preference);
        let changed = agent.data("preference_set", json!({"key": "rest tone", "value": "long"}));
        assert_eq!(data(&send(team, "GET", path), 200), changed);
        let listed = data(&send(team, "GET", "preferences?source=explicit&limit=200"), 200);
        assert!(ids(&listed, "key").contains(&json!("rest tone")), "{listed}");
        data(&send(team, "DELETE", path), 200);
        assert_eq!(code(&send(team, "GET", path), 404), "not_found");
        assert_eq!(agent.refused("preference_get", json!({"key": "rest tone"})), ("not_found".into(), 404));
    };
    s0_010_tasks_over_rest: |agent| {
        let team = agent.0.team;
        let post = |path: &str, body: Value| request(team, "POST", path).json(&body).send();
        let task = data(&post("tasks", json!({"description": "Write a report.", "recurrence": "weekly"})), 201);
        let id = task["task_id"].clone();
        let one = format!("tasks/{}", id.as_str().expect("an id"));
        assert_eq!((data(&send(team, "GET", &one), 200), agent.data("task_get", json!({"task_id": id}))), (task.clone(), task));
        assert!(ids(&data(&send(team, "GET", "tasks?status=open&limit=200"), 200), "task_id").contains(&id));
        assert_eq!(data(&post(&format!("{one}/skip-next"), json!({})), 200)["skip_next"], true);
        assert_eq!(code(&post(&format!("{one}/complete"), json!({"result": "x"})), 409), "conflict", "nothing has come");
        assert_eq!(data(&post(&format!("{one}/end-recurrence"), json!({})), 200)["status"], "done");
        assert_eq!(code(&post("tasks", json!({"description": "x", "cron": "x"})), 400), "invalid_value");
        data(&send(team, "DELETE", &one), 200);
        assert_eq!(code(&send(team, "GET", &one), 404), "not_found");
    };
    filters_of_a_query_are_arguments: |agent| {
        let team = agent.0.team;
        for (summary, tags) in [("one", json!(["rest_a", "rest_b"])), ("other", json!(["rest_a"]))] {
            let memory = json!({"content": "x", "kind": "rest filter", "summary": summary, "tags": tags});
            data(&request(team, "POST", "memory").json(&memory).send(), 201);
        }
        for (query, expected) in [
            ("kind=rest%20filter", json!(["other", "one"])),
            ("kind=rest%20filter&limit=1&offset=1", json!(["one"])),
            ("tags=rest_a&tags=rest_b", json!(["one"])),
            ("tags=rest_a,rest_b", json!(["one"])),
            ("tags=rest_a", json!(["other", "one"])),
        ] {
            let listed = data(&send(team, "GET", &format!("memory?{query}")), 200);
            assert_eq!(json!(ids(&listed, "summary")), expected, "{query}");
        }
        let rule = json!({"description": "rest", "content": "x", "category": "should", "severity": "low", "enabled": false});
        let id = data(&request(team, "POST", "rules").json(&rule).send(), 201)["rule_id"].clone();
        for (query, is_listed) in [("", true), ("&enabled_only=false", true), ("&enabled_only=true", false)] {
            let listed = data(&send(team, "GET", &format!("rules?category=should&limit=200{query}")), 200);
            assert_eq!(ids(&listed, "rule_id").contains(&id), is_listed, "{query}");
        }
    };
    a_wrong_query_names_its_field: |agent| {
        for (query, field) in [("limit=many", "/limit"), ("limit=201", "/limit"), ("offset=-1", "/offset"), ("kinds=x", "")] {
            let answer = send(agent.0.team, "GET", &format!("memory?{query}"));
            assert_eq!(code(&answer, 400), "input_schema", "{query}");
            assert_eq!(answer.json()["error"]["details"][0]["field"], field, "{answer}");
        }
    };
    a_wrong_body_is_refused: |agent| {
        let team = agent.0.team;
        let post = |body: &str| request(team, "POST", "memory").body(body.to_owned()).send();
        for body in ["{", "[]", "\"x\"", "{\"content\": 1, \"content\": 2}"] {
            assert_eq!(code(&post(body), 400), "request_invalid", "{body}");
        }
        let wrong = post("{\"content\": 1}");
        assert_eq!(code(&wrong, 400), "input_schema");
        assert_eq!(wrong.json()["error"]["details"][0]["field"], "/content");
        assert_eq!(code(&post(""), 400), "input_schema", "no content");
        let plain = request(team, "POST", "memory").header("content-type", "text/plain").plain_body("{}").send();
        assert_eq!(code(&plain, 400), "request_invalid");
        let large = request(team, "POST", "memory").header("content-type", "application/json").announced(2 << 20);
        assert_eq!(code(&large, 413), "body_too_large");
    };
    a_body_that_contradicts_the_path_is_refused: |agent| {
        let team = agent.0.team;
        let memory = data(&request(team, "POST", "memory").json(&json!({"content": "x"})).send(), 201);
        let id = memory["memory_id"].as_str().expect("an id");
        let other = json!({"memory_id": "6b087fb88c8b71fedaf8732b", "content": "y"});
        let refused = request(team, "PATCH", &format!("memory/{id}")).json(&other).send();
        assert_eq!(code(&refused, 400), "request_invalid");
        assert_eq!(refused.json()["error"]["details"][0]["field"], "/body/memory_id", "{refused}");
        let same = json!({"memory_id": id, "content": "y"});
        assert_eq!(data(&request(team, "PATCH", &format!("memory/{id}")).json(&same).send(), 200)["content"], "y");
    };
    a_call_over_rest_is_in_the_history: |agent| {
        let team = agent.0.team;
        let memory = data(&request(team, "POST", "memory").json(&json!({"content": "recorded"})).send(), 201);
        let run = memory["provenance"]["invocation_id"].as_str().expect("an id");
        let record = team.get(&format!("/tool/invocation/{run}"));
        assert_eq!((&record["native_tool"], &record["origin"]), (&json!("memory_create"), &json!("direct")), "{record}");
        assert_eq!(record["inputs"]["content"], "recorded", "{record}");
    };
    s0_125_what_a_workflow_writes_is_not_trusted: |agent| {
        let request = request(agent.0.team, "POST", "memory").header("x-agent-workflow-id", "nightly");
        let provenance = data(&request.json(&json!({"content": "x"})).send(), 201)["provenance"].clone();
        assert_eq!((&provenance["workflow_id"], &provenance["trusted"]), (&json!("nightly"), &json!(false)));
    };
    s0_123_a_request_needs_a_token: |agent| {
        let server = &agent.0.team.server;
        for request in [server.request("GET", "/api/v1/memory"), server.request("GET", "/api/v1/memory").bearer("unknown")] {
            let answer = request.send();
            assert_eq!(code(&answer, 401), "unauthenticated");
            assert!(answer.headers.contains_key("www-authenticate"), "{answer}");
        }
    };
    s0_129_another_organization_in_a_header_is_refused: |agent| {
        let team = agent.0.team;
        let of = |organization: &str| request(team, "GET", "memory").header("x-org-id", organization).send();
        assert_eq!(code(&of("another"), 403), "organization_differs");
        data(&of(&team.organization), 200);
        let apps = request(team, "GET", "memory").header("x-app-id", "shop").header("x-strongly-app-id", "desk").send();
        assert_eq!(code(&apps, 400), "invalid_value");
    };
}

#[test]
fn s0_124_and_128_applications_are_apart_over_rest() {
    let team = Team::new();
    let of = |header: &str, app: &str, path: &str| request(&team, "GET", path).header(header, app).send();
    let memory = request(&team, "POST", "memory").header("x-app-id", "shop").json(&json!({"content": "of the shop"}));
    let memory = data(&memory.send(), 201);
    let one = format!("memory/{}", memory["memory_id"].as_str().expect("an id"));
    assert_eq!(memory["app_id"], "shop");
    assert_eq!(data(&of("x-strongly-app-id", "shop", &one), 200), memory);
    assert_eq!(code(&of("x-app-id", "desk", &one), 404), "not_found");
    assert_eq!(data(&of("x-app-id", "desk", "memory"), 200)["items"], json!([]));
    assert_eq!(code(&send(&team, "GET", &one), 404), "not_found", "outside of all applications");
}

#[test]
fn s0_126_and_127_items_of_another_organization_do_not_exist_over_rest() {
    let (ours, theirs) = (Team::new(), Team::new());
    let memory = data(&request(&ours, "POST", "memory").json(&json!({"content": "ours"})).send(), 201);
    let one = format!("memory/{}", memory["memory_id"].as_str().expect("an id"));
    for (method, body) in [("GET", None), ("PATCH", Some(json!({"content": "theirs"}))), ("DELETE", None)] {
        let request = request(&theirs, method, &one);
        let answer = body.map_or_else(|| send(&theirs, method, &one), |body| request.json(&body).send());
        assert_eq!(code(&answer, 404), "not_found", "{method}");
    }
    assert_eq!(data(&send(&theirs, "GET", "memory"), 200)["items"], json!([]));
    assert_eq!(data(&send(&ours, "GET", &one), 200), memory);
}

#[test]
fn s0_102_an_artifact_is_shared_over_rest() {
    let ada = Team::new();
    let bea = ada.joined_by("bea", "invoker");
    let report = json!({"title": "Sales", "artifact_type": "report", "content": "x", "content_type": "text/plain"});
    let id = data(&request(&ada, "POST", "artifacts").json(&report).send(), 201)["artifact_id"].clone();
    let one = format!("artifacts/{}", id.as_str().expect("an id"));
    assert_eq!(code(&send(&bea, "GET", &one), 404), "not_found");
    let share =
        |team: &Team, user: &str| request(team, "POST", &format!("{one}/share")).json(&json!({"user_id": user})).send();
    assert_eq!(data(&share(&ada, "bea"), 200), json!({"artifact_id": id, "shared_with": "bea"}));
    assert_eq!(data(&send(&bea, "GET", &one), 200)["title"], "Sales");
    assert_eq!(code(&share(&bea, "ada"), 404), "not_found", "sharing gives no right to share");
    assert_eq!(code(&share(&ada, "nobody"), 400), "invalid_value");
    assert_eq!(code(&send(&bea, "DELETE", &one), 404), "not_found");
}
