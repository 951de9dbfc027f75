//! Tasks: calls whose clients ask for the result later, over the runs of agents.

use serde_json::{Value, json};

use super::client::{Gateway, message};
use super::questions::asking;
use crate::harness::{ModelEndpoint, Options, Reply, Server, Site, Team, eventually};

/// The capabilities of a client that has tasks and shows forms.
fn declared() -> Value {
    let capabilities = json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
    json!({"io.modelcontextprotocol/clientCapabilities": capabilities})
}

fn accepted(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

impl Gateway<'_> {
    /// Sends a request of a client that has tasks, and returns the whole response.
    fn send_with_tasks(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = declared();
        message(&self.modern(self.request("POST"), method, params).send_message())
    }

    /// Calls a tool as a task, and returns the id of the task.
    #[track_caller]
    pub fn begin(&self, tool: &str, arguments: Value) -> String {
        let created = self.send_with_tasks("tools/call", json!({"name": tool, "arguments": arguments}));
        let task = &created["result"];
        assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{created}");
        task["taskId"].as_str().expect("an id").to_owned()
    }

    pub fn task(&self, id: &str) -> Value {
        self.send_with_tasks("tasks/get", json!({"taskId": id}))["result"].take()
    }

    #[track_caller]
    pub fn task_becomes(&self, id: &str, status: &str) -> Value {
        eventually(status, || Some(self.task(id)).filter(|task| task["status"] == status))
    }

    /// Answers the open request of a task, and returns the whole response.
    fn fill_in(&self, id: &str, values: Value) -> Value {
        let open = self.task(id)["inputRequests"].take();
        let (request, _) =
            open.as_object().and_then(|open| open.keys().next()).expect("a request").split_once('/').expect("a key");
        let values = values.as_object().cloned().expect("values").into_iter();
        self.update(id, values.map(|(key, value)| (format!("{request}/{key}"), value)).collect())
    }

    /// Answers questions of a task, and returns the whole response.
    pub fn update(&self, id: &str, responses: Value) -> Value {
        self.send_with_tasks("tasks/update", json!({"taskId": id, "inputResponses": responses}))
    }
}

fn text(task: &Value) -> &str {
    task["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{task}"))
}

#[test]
fn a_call_becomes_a_task_when_its_tool_and_its_client_have_tasks() {
    let team = Team::new();
    team.tool("slow").manifest("tasks = 'optional'").body("return f\"did {tool_input.get('what')}\"").published();
    team.tool("late").manifest("tasks = 'required'").body("raise ValueError('no')").published();
    team.tool("quick").published();
    let gateway = Gateway::new(&team, "tools", &["slow", "late", "quick"]);
    let id = gateway.begin("slow", json!({"what": "it"}));
    let done = gateway.task_becomes(&id, "completed");
    assert_eq!((text(&done), &done["result"]["isError"]), ("did it", &json!(false)), "{done}");
    let record = &done["result"]["_meta"]["dev.lathe/invocationId"];
    let record = team.get(&format!("/tool/invocation/{}", record.as_str().expect("an id")));
    assert_eq!((&record["agent_call"]["protocol"], &record["origin"]), (&json!("mcp"), &json!("mcp")), "{record}");
    let failed = gateway.task_becomes(&gateway.begin("late", json!({})), "completed");
    assert_eq!((text(&failed), &failed["result"]["isError"]), ("ValueError: no", &json!(true)));
    assert_eq!(gateway.call("slow", json!({"what": "that"}))["content"][0]["text"], "did that", "without tasks");
    let refused = gateway.modern(gateway.request("POST"), "tools/call", json!({"name": "late", "arguments": {}}));
    let refused = message(&refused.send_message());
    let required = &refused["error"]["data"]["requiredCapabilities"]["extensions"];
    assert_eq!((&refused["error"]["code"], required), (&json!(-32021), &json!({"io.modelcontextprotocol/tasks": {}})));
    let direct = gateway.send_with_tasks("tools/call", json!({"name": "quick", "arguments": {}}));
    assert_eq!(direct["result"]["resultType"], "complete", "{direct}");
}

#[test]
fn a_cycle_of_tasks_ends() {
    let team = Team::new();
    team.tool("slow").manifest("tasks = 'optional'").published();
    let gateway = Gateway::new(&team, "tools", &["slow"]);
    let request = gateway.request("POST").header("lathe-depth", "4");
    let params = json!({"name": "slow", "arguments": {}, "_meta": declared()});
    let created = message(&gateway.modern(request, "tools/call", params).send_message());
    let done = gateway.task_becomes(created["result"]["taskId"].as_str().expect("an id"), "completed");
    let error = &done["result"]["_meta"]["dev.lathe/error"];
    assert_eq!((&error["type"], &done["result"]["isError"]), (&json!("loop_detected"), &json!(true)), "{done}");
}

#[test]
fn a_task_is_known_to_its_user_at_its_agent() {
    let team = Team::new();
    team.tool("slow").manifest("tasks = 'optional'").published();
    let gateway = Gateway::new(&team, "tools", &["slow"]);
    let id = gateway.begin("slow", json!({}));
    let unknown = |gateway: &Gateway<'_>, id: &str| {
        let answers =
            ["tasks/get", "tasks/cancel"].map(|method| gateway.send_with_tasks(method, json!({"taskId": id})));
        let updated = gateway.update(id, json!({}));
        answers.into_iter().chain([updated]).all(|answer| answer["error"]["code"] == -32602)
    };
    let other = Gateway::new(&team, "others", &["slow"]);
    assert!(unknown(&other, &id) && unknown(&gateway, "nothing") && unknown(&gateway, &"f".repeat(24)));
    let chief = team.joined_by("chief", "admin");
    let of_chief = Gateway { team: &chief, slug: "tools".to_owned(), id: String::new() };
    assert!(unknown(&of_chief, &id), "an administrator is not its user");
    assert_eq!(gateway.task_becomes(&id, "completed")["taskId"], id.as_str());
}

#[test]
fn the_questions_of_a_task_are_answered_one_after_the_other() {
    let team = Team::new();
    let form = |key: &str| format!("'{key}': Form('{key}?', {{'name': {{'type': 'string'}}}}, ['name'])");
    let body = format!(
        "answers = await request_inputs({{{}, {}}})\nreturn ' '.join(sorted(one.content['name'] for one in answers.values()))",
        form("first"),
        form("second")
    );
    asking(&team, "names", &body).manifest("tasks = 'optional'").published();
    let gateway = Gateway::new(&team, "tools", &["names"]);
    let id = gateway.begin("names", json!({}));
    let key = |key: &String| key.split_once('/').expect("a key of a request").1.to_owned();
    let open = |task: &Value| task["inputRequests"].as_object().expect("requests").keys().map(key).collect::<Vec<_>>();
    assert_eq!(open(&gateway.task_becomes(&id, "input_required")), ["first", "second"]);
    for wrong in [json!({"first": 5}), json!({"first": accepted(json!({"name": 5}))})] {
        assert_eq!(gateway.fill_in(&id, wrong.clone())["error"]["code"], -32602, "{wrong}");
    }
    assert_eq!(gateway.update(&id, json!({"nothing": {}}))["result"]["resultType"], "complete");
    let part = gateway.fill_in(&id, json!({"first": accepted(json!({"name": "Ada"}))}));
    assert_eq!(part["result"]["resultType"], "complete", "{part}");
    let left = gateway.task(&id);
    assert_eq!((&left["status"], open(&left)), (&json!("input_required"), vec!["second".to_owned()]));
    let queued = team.get("/human_request")["human_requests"][0].clone();
    assert_eq!((&queued["agent_run_id"], queued["forms"].as_array().map(Vec::len)), (&json!(id), Some(1)), "{queued}");
    gateway.fill_in(&id, json!({"second": accepted(json!({"name": "Eve"}))}));
    assert_eq!(text(&gateway.task_becomes(&id, "completed")), "Ada Eve");
    let answered = team.get("/human_request?status=answered")["human_requests"][0].clone();
    let expected = json!({"first": {"name": "Ada"}, "second": {"name": "Eve"}});
    assert_eq!(
        (&answered["response"]["forms"], &answered["answered_by"]),
        (&expected, &json!(team.user)),
        "{answered}"
    );
}

/// A client of tasks and a person at the queue answer the same request: the first answer counts.
#[test]
fn a_confirmation_of_a_task_is_given_in_the_queue() {
    let team = Team::new();
    let settings = "tasks = 'required'\nintervention = 'always'";
    team.tool("pay").manifest(settings).body("return 'paid'").published();
    let gateway = Gateway::new(&team, "tools", &["pay"]);
    let answer = |approved: bool| {
        let id = gateway.begin("pay", json!({}));
        let asked = gateway.task_becomes(&id, "input_required");
        let request = team.get("/human_request")["human_requests"][0]["human_request_id"].clone();
        let request = request.as_str().expect("an id");
        let key = format!("{request}/lathe/confirmation");
        assert_eq!(asked["inputRequests"][&key]["params"]["message"], "Run pay with {}?", "{asked}");
        team.post(&format!("/human_request/{request}/answer"), &json!({"approved": approved})).expect(200);
        let late = gateway.update(&id, json!({key: accepted(json!({"confirmed": true}))}));
        assert_eq!(late["result"]["resultType"], "complete", "{late}");
        gateway.task_becomes(&id, "completed")
    };
    assert_eq!(text(&answer(true)), "paid");
    let declined = answer(false);
    assert!(text(&declined).starts_with("confirmation_refused: "), "{declined}");
    assert_eq!(declined["result"]["_meta"]["dev.lathe/error"]["refused_at"], "intervene", "{declined}");
}

#[test]
fn a_task_is_cancelled_once() {
    let team = Team::new();
    let settings = "tasks = 'optional'\ntimeout_seconds = 300";
    team.tool("sleep").manifest(settings).body("import asyncio\nawait asyncio.sleep(200)").published();
    let gateway = Gateway::new(&team, "tools", &["sleep"]);
    let id = gateway.begin("sleep", json!({}));
    let running = || team.get("/tool/invocation?state=running")["tool_invocations"][0].is_object();
    eventually("the call", || running().then_some(()));
    for _ in 0..2 {
        let ended = gateway.send_with_tasks("tasks/cancel", json!({"taskId": id}));
        assert_eq!(ended["result"]["resultType"], "complete", "{ended}");
        assert_eq!(gateway.task(&id)["status"], "cancelled");
    }
    let cancelled = || team.history().iter().any(|record| record["invocation_status"]["exception_type"] == "cancelled");
    eventually("the end of the call", || cancelled().then_some(()));
}

#[test]
fn a_task_fails_when_its_tool_asks_what_nobody_can_answer() {
    let team = Team::new();
    asking(&team, "look", "await request_input('roots', Roots())").manifest("tasks = 'optional'").published();
    let gateway = Gateway::new(&team, "tools", &["look"]);
    let failed = gateway.task_becomes(&gateway.begin("look", json!({})), "failed");
    assert_eq!((&failed["error"]["code"], failed.get("result")), (&json!(-32021), None), "{failed}");
}

/// A task waits for its answer over the death of its server. A call that had begun is not made again.
#[test]
fn a_task_outlives_its_server() {
    let site = Site::serve();
    let server = Server::private(&Options::reaching_loopback());
    let team = Team::on(&server);
    let body = "answer = await request_input('name', Form('Name?', {'name': {'type': 'string'}}, ['name']))\n\
                return answer.content['name']";
    asking(&team, "greet", body).manifest("tasks = 'optional'").published();
    let settings = format!("tasks = 'optional'\ntimeout_seconds = 300\nallowed_hosts = ['{}']", site.address);
    let body = format!("import urllib.request\nurllib.request.urlopen('{}').read()", site.url("/meet/2/task"));
    team.tool("sleep").manifest(&settings).body(&body).published();
    let gateway = Gateway::new(&team, "tools", &["greet", "sleep"]);
    let (asks, sleeps) = (gateway.begin("greet", json!({})), gateway.begin("sleep", json!({})));
    gateway.task_becomes(&asks, "input_required");
    eventually("the call", || site.requests().contains(&"GET /meet/2/task".to_owned()).then_some(()));
    let (slug, id) = (gateway.slug.clone(), gateway.id.clone());
    server.kill();
    let team = team.moved_to(server.restarted(|_| {}));
    let gateway = Gateway { team: &team, slug, id };
    gateway.fill_in(&asks, json!({"name": accepted(json!({"name": "Ada"}))}));
    assert_eq!(text(&gateway.task_becomes(&asks, "completed")), "Ada");
    let failed = gateway.task_becomes(&sleeps, "failed");
    assert!(failed["error"]["message"].as_str().is_some_and(|text| text.starts_with("interrupted: ")), "{failed}");
}

/// A run of a model that asks a person is answered by a client of tasks.
#[test]
fn s1_037_a_run_of_an_agent_is_answered_as_a_task() {
    let model = ModelEndpoint::serve();
    let team = Team::on(&Server::private(&crate::agent_runs::runs::options(&model)));
    let gateway = Gateway::of_type(&team, "clerk", "agent").with(&[]);
    let question = json!({"question": "Which one?", "options": ["a", "b"]});
    let ask = || Reply::call("__pause_for_human__", question.clone());
    model.answers("ask", vec![ask(), ask(), Reply::complete("chose b")]);
    let body = json!({"agent": "clerk", "objective": "ask", "tools": ["__pause_for_human__", "__complete__"]});
    let run = team.server.request("POST", "/agents/execute").bearer(&team.token).json(&body).send().expect(200);
    let id = run["agent_run_id"].as_str().expect("an id");
    let asked = gateway.task_becomes(id, "input_required");
    let forms = asked["inputRequests"].as_object().expect("requests");
    let form = &forms.values().next().expect("a request")["params"];
    assert_eq!(form["requestedSchema"]["properties"]["human_input"]["enum"], json!(["a", "b"]), "{asked}");
    let of_first = forms.keys().next().expect("a key");
    let answer = json!({of_first: accepted(json!({"human_input": "a"}))});
    gateway.update(id, answer.clone());
    eventually("the second question", || {
        Some(gateway.task(id)["inputRequests"].take()).filter(|open| open.get(of_first).is_none() && open.is_object())
    });
    gateway.update(id, answer);
    assert_eq!(
        gateway.task(id)["status"],
        "input_required",
        "a late answer to the first question is none to the second"
    );
    gateway.fill_in(id, json!({"answer": accepted(json!({"human_input": "b"}))}));
    let done = gateway.task_becomes(id, "completed");
    assert_eq!((text(&done), &done["result"]["structuredContent"]["confidence"]), ("chose b", &json!(1.0)));
}

#[test]
fn a_call_may_ask_before_it_becomes_a_task() {
    let team = Team::new();
    let body = "answer = await request_input('who', Form('Who?', {'name': {'type': 'string'}}, ['name']))\n\
        return f\"Hello, {answer.content['name']}!\"";
    let manifest = "tasks = 'required'\nmcp = { ask_first = true }";
    asking(&team, "greet", body).manifest(manifest).published();
    let gateway = Gateway::new(&team, "tools", &["greet"]);
    let call = |more: Value| {
        let mut params = json!({"name": "greet", "arguments": {}});
        params.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
        gateway.send_with_tasks("tools/call", params)["result"].take()
    };
    let asked = call(json!({}));
    assert_eq!((&asked["resultType"], &asked["taskId"]), (&json!("input_required"), &Value::Null), "{asked}");
    let answers = json!({"who": accepted(json!({"name": "Ada"}))});
    let task = call(json!({"requestState": asked["requestState"], "inputResponses": answers}));
    assert_eq!((&task["resultType"], &task["requestState"]), (&json!("task"), &Value::Null), "{task}");
    let ended = gateway.task_becomes(task["taskId"].as_str().expect("an id"), "completed");
    assert_eq!(text(&ended), "Hello, Ada!");
}
