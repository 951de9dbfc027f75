//! A user is removed, and another person gets the same id: the second one has nothing of the first one, at any of the doors.

use serde_json::{Value, json};

use crate::agent_runs::runs::{AGENT, agent, now, options, time};
use crate::harness::{Answer, ModelEndpoint, Reply, Server, Team, count_rows, eventually, input, sign_in_as};
use crate::mcp::client::{Gateway, LEGACY};
use crate::mcp::sessions::Session;

const PAUSE: &str = "__pause_for_human__";

/// Families of the Library with their lists, and the fields of an item.
fn families() -> [(&'static str, &'static str, Value); 6] {
    let text = json!({"name": "secret-name", "content": "secret of the first"});
    [
        ("memory", "memory_id", json!({"content": "secret of the first"})),
        ("rules", "rule_id", json!({"description": "d", "content": "secret", "category": "must", "severity": "high"})),
        ("skills", "skill_id", text.clone()),
        ("tasks", "task_id", json!({"description": "secret", "recurrence": "daily"})),
        ("prompts", "prompt_id", text),
        ("artifacts", "artifact_id", artifact("own", false)),
    ]
}

fn artifact(title: &str, is_shared: bool) -> Value {
    json!({
        "title": title, "artifact_type": "report", "content": "secret", "content_type": "text/plain",
        "shared_to_org": is_shared,
    })
}

/// A request outside of the paths of an organisation.
fn request(team: &Team, method: &str, path: &str, body: &Value) -> Answer {
    let request = team.server.request(method, path).bearer(&team.token);
    if body.is_null() { request.send() } else { request.json(body).send() }
}

fn id_of(answer: &Value, name: &str) -> String {
    answer[name].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Paths that only the user who filled them may read: lists, and single objects.
#[derive(Default)]
struct Filled {
    lists: Vec<String>,
    objects: Vec<(&'static str, String, Value)>,
    shared: String,
}

impl Filled {
    /// Creates something of each kind that belongs to a user.
    fn by(bob: &Team, model: &ModelEndpoint) -> Self {
        let mut filled = Self::default();
        filled.items(bob);
        filled.runs(bob, model);
        filled.conversations(bob);
        filled
    }

    fn items(&mut self, bob: &Team) {
        for (family, id, fields) in families() {
            let created = request(bob, "POST", &format!("/api/v1/{family}"), &fields).expect(201);
            let path = format!("/api/v1/{family}/{}", id_of(&created["data"], id));
            request(bob, "GET", &path, &Value::Null).expect(200);
            self.lists.push(format!("/api/v1/{family}"));
            self.objects.push(("GET", path.clone(), Value::Null));
            // Prompts have no route that deletes.
            if family != "prompts" {
                self.objects.push(("DELETE", path, Value::Null));
            }
        }
        request(bob, "PUT", "/api/v1/preferences/tone", &json!({"value": "secret"})).expect(200);
        self.lists.push("/api/v1/preferences".to_owned());
        self.objects.push(("GET", "/api/v1/preferences/tone".to_owned(), Value::Null));
        let shared = request(bob, "POST", "/api/v1/artifacts", &artifact("for all", true)).expect(201);
        self.shared = format!("/api/v1/artifacts/{}", id_of(&shared["data"], "artifact_id"));
        let variable = json!({"name": "pin", "value": "secret", "is_sensitive": false});
        bob.post("/user/me/variable", &variable).expect(204);
        self.lists.push(format!("/v1/{}/user/me/variable", bob.organization));
    }

    fn runs(&mut self, bob: &Team, model: &ModelEndpoint) {
        model.answers("the first", vec![Reply::call(PAUSE, json!({"question": "Really?", "urgency": "high"}))]);
        let body = json!({"agent": AGENT, "objective": "the first", "tools": [PAUSE]});
        let run = request(bob, "POST", "/agents/execute", &body).expect(200);
        let (run, asked) = (id_of(&run, "agent_run_id"), id_of(&run, "human_request_id"));
        for (method, action) in [("GET", "status"), ("GET", "trace"), ("POST", "cancel")] {
            let body = if method == "POST" { json!({}) } else { Value::Null };
            self.objects.push((method, format!("/agents/{run}/{action}"), body));
        }
        let path = format!("/v1/{}/human_request", bob.organization);
        self.objects.push(("GET", format!("{path}/{asked}"), Value::Null));
        self.objects.push(("POST", format!("{path}/{asked}/answer"), json!({"human_input": "yes"})));
        self.lists.push(path);
        self.lists.push(format!("/v1/{}/agent_run", bob.organization));
    }

    fn conversations(&mut self, bob: &Team) {
        let own = json!({
            "agent_type": "agent", "name": "own", "slug": "desk", "description": "Mine.", "scope": "personal",
        });
        let agent = id_of(&bob.post("/agent", &own).expect(201), "id");
        bob.post(&format!("/agent/{agent}/deploy"), &json!({})).expect(200);
        let base = format!("/v1/{}", bob.organization);
        self.objects.push(("GET", format!("{base}/agent/{agent}"), Value::Null));
        let shared = bob.get(&format!("/agent?slug={AGENT}"))["agents"][0].clone();
        let agents = format!("/agent/{}/conversation", id_of(&shared, "id"));
        let talk = id_of(&bob.post(&agents, &json!({})).expect(201), "id");
        self.objects.push(("GET", format!("{base}/conversation/{talk}"), Value::Null));
        self.objects.push(("GET", format!("{base}/conversation/{talk}/log"), Value::Null));
        self.objects.push(("POST", format!("{base}/conversation/{talk}/turn"), json!({})));
        self.lists.push(format!("{base}{agents}"));
    }
}

/// The items of a list, whatever it is called.
fn items(list: &Value) -> Vec<Value> {
    let list = if list["data"].is_object() { &list["data"] } else { list };
    list.as_object().expect("an object").values().filter_map(Value::as_array).flatten().cloned().collect()
}

struct World {
    team: Team,
    model: ModelEndpoint,
}

impl World {
    fn new() -> Self {
        let model = ModelEndpoint::serve();
        let team = Team::on(&Server::private(&options(&model)));
        agent(&team);
        Self { team, model }
    }
}

#[test]
fn a_new_user_with_an_old_id_finds_nothing_of_the_first_one() {
    let World { team, model } = World::new();
    let first = team.joined_by("bob", "author");
    let filled = Filled::by(&first, &model);
    for list in &filled.lists {
        assert!(!items(&request(&first, "GET", list, &Value::Null).expect(200)).is_empty(), "{list}");
    }
    team.delete("/user/bob").expect(204);
    let second = team.joined_by("bob", "author");
    for list in &filled.lists {
        assert_eq!(items(&request(&second, "GET", list, &Value::Null).expect(200)), [Value::Null; 0], "{list}");
    }
    for (method, path, body) in &filled.objects {
        let answer = request(&second, method, path, body);
        assert_eq!(answer.status, 404, "{method} {path}: {answer}");
    }
    let search = json!({"query": "secret of the first"});
    assert!(items(&request(&second, "POST", "/api/v1/memory/search", &search).expect(200)).is_empty());
    let slugs: Vec<Value> = second.get("/agent")["agents"].as_array().expect("a list").clone();
    assert!(slugs.iter().all(|agent| agent["slug"] != "desk"), "{slugs:?}");
    // What the first one shared with everybody stays, and is nobody's to delete.
    request(&second, "GET", &filled.shared, &Value::Null).expect(200);
    assert_eq!(request(&second, "DELETE", &filled.shared, &Value::Null).status, 404);
    let own = json!({"agent_type": "agent", "name": "o", "slug": "desk", "description": "d", "scope": "personal"});
    second.post("/agent", &own).expect(201);
}

/// An artifact of ada's that she shares with the first bob.
fn to_bob(team: &Team) -> String {
    let saved = request(team, "POST", "/api/v1/artifacts", &artifact("for bob", false)).expect(201);
    let path = format!("/api/v1/artifacts/{}", id_of(&saved["data"], "artifact_id"));
    request(team, "POST", &format!("{path}/share"), &json!({"user_id": "bob"})).expect(200);
    path
}

#[test]
fn what_was_shared_with_the_first_user_is_not_shared_with_the_second_one() {
    let team = Team::new();
    let first = team.joined_by("bob", "invoker");
    let shared = to_bob(&team);
    request(&first, "GET", &shared, &Value::Null).expect(200);
    team.delete("/user/bob").expect(204);
    let second = team.joined_by("bob", "invoker");
    assert_eq!(request(&second, "GET", &shared, &Value::Null).status, 404);
    assert!(items(&request(&second, "GET", "/api/v1/artifacts", &Value::Null).expect(200)).is_empty());
}

#[test]
fn the_credentials_of_the_first_user_are_not_those_of_the_second_one() {
    let team = Team::new();
    let first = team.joined_by("bob", "author");
    let gateway = Gateway::new(&team, "tools", &[]);
    let theirs = Gateway { team: &first, slug: gateway.slug.clone(), id: gateway.id.clone() };
    let session = Session::begin(&theirs);
    team.delete("/user/bob").expect(204);
    let second = team.joined_by("bob", "author");
    assert_eq!(first.request("GET", "/user/me").send().status, 401, "the token");
    let signed_in = sign_in_as(&team.server, &team.organization, "bob", &first.api_key_id, &first.api_key);
    assert_eq!(signed_in.status, 401, "the key");
    let url = |key: &str| second.git_url_with(&format!("bob:{key}"));
    assert_ne!(second.repository.git(&["ls-remote", &url(&first.api_key)]).code, Some(0), "the key as a password");
    assert_eq!(second.repository.git(&["ls-remote", &url(&second.api_key)]).code, Some(0));
    let taken = theirs.as_user(&second, "POST").header("mcp-session-id", &session.id);
    let taken = taken.header("mcp-protocol-version", LEGACY);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    assert_eq!(taken.json(&list).send_message().status, 404, "the session");
    let keys = second.get("/user/me/api_key");
    assert_eq!(keys["api_keys"].as_array().map(Vec::len), Some(1), "{keys}");
}

#[test]
fn an_idempotency_key_and_an_operation_of_the_first_user_are_not_the_second_ones() {
    let team = Team::new();
    team.post("/role", &json!({"name": "caller", "grants": [{"permission": "Tool:InvokeTool", "conditions": []}]}))
        .expect(201);
    let tool = team.tool("greet").body("return 'secret of ' + tool_input['who']").published();
    let call = |bob: &Team, who: &str| {
        let path = format!("/tool/{}/version/1.0.0/invoke", tool.id());
        let body = json!({"inputs": [input(&json!({"who": who}))]});
        bob.request("POST", &path)
            .header("idempotency-key", "once")
            .header("prefer", "respond-async")
            .json(&body)
            .send()
    };
    let first = team.joined_by("bob", "caller");
    let begun = call(&first, "first").expect(202);
    let operation = format!("/operation/{}", id_of(&begun, "id"));
    eventually("the end of the call", || (first.get(&operation)["status"] != "running").then_some(()));
    team.delete("/user/bob").expect(204);
    let second = team.joined_by("bob", "caller");
    assert_eq!(second.request("GET", &operation).send().status, 404);
    let again = call(&second, "second").expect(202);
    assert_ne!(again["id"], begun["id"]);
}

/// The task of ada is due after that of bob. When hers is worked on, his has been passed over.
#[test]
fn a_task_of_the_first_user_does_not_begin_for_the_second_one() {
    let World { team, model } = World::new();
    let first = team.joined_by("bob", "author");
    let planted = |owner: &Team, text: &str, seconds: u64| {
        let found = owner.get(&format!("/agent?slug={AGENT}"));
        let gateway = Gateway { team: owner, slug: AGENT.to_owned(), id: id_of(&found["agents"][0], "id") };
        let due_at = now().after(std::time::Duration::from_secs(seconds)).to_string();
        let task = gateway.call("task_create", json!({"description": text, "due_at": due_at}));
        let created = task["structuredContent"]["data"].clone();
        assert!(created["task_id"].is_string(), "{task}");
        created
    };
    let of_first = planted(&first, "planted", 20);
    let of_ada = planted(&team, "control", 22);
    assert!(time(&of_first["due_at"]) < time(&of_ada["due_at"]));
    team.delete("/user/bob").expect(204);
    let second = team.joined_by("bob", "admin");
    let (planted, control) = (id_of(&of_first, "task_id"), id_of(&of_ada, "task_id"));
    model.answers(&format!("The task {control}"), vec![Reply::complete("done")]);
    eventually("the task of ada", || {
        let task = request(&team, "GET", &format!("/api/v1/tasks/{control}"), &Value::Null).expect(200);
        (task["data"]["fire_history"].as_array().is_some_and(|fired| !fired.is_empty())).then_some(())
    });
    assert!(model.received(&format!("The task {planted}")).is_empty());
    assert_eq!(count_rows(&team, "agent_runs"), 1, "that of ada alone");
    // An administrator sees the runs of all.
    assert!(items(&second.get("/agent_run")).iter().all(|run| run["user_id"] == "ada"));
}

#[test]
fn the_command_says_what_a_removal_takes() {
    let team = Team::new();
    team.joined_by("bob", "author");
    let said = team.lathe().ok(&["user", "delete", "bob"]);
    for word in ["deleted bob", "keys", "Library", "stay"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}
