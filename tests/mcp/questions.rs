//! Questions of tools to the clients that call them, without sessions: the client calls again with the answers.

use serde_json::{Value, json};

use super::client::Gateway;
use crate::harness::{Team, Tool};
use crate::replay;

const IMPORTS: &str = "from amigo_tool_scaffold.interaction import \
    Form, InputRefused, InputUnavailable, Roots, Sampling, request_input, request_inputs";
const NAME: &str = "Form('Your name?', {'name': {'type': 'string'}}, ['name'])";

/// A tool that may ask.
pub fn asking<'t>(team: &'t Team, name: &str, body: &str) -> Tool<'t> {
    team.tool(name).body(&format!("{IMPORTS}\n{body}"))
}

/// A tool that greets whom it asked for.
pub fn greeter(team: &Team) {
    let body = format!(
        "answer = await request_input('name', {NAME})\nreturn f\"{{answer.action}} {{answer.content.get('name')}}\""
    );
    asking(team, "greet", &body).published();
}

/// A call of a client with capabilities.
pub struct Dialogue<'a> {
    gateway: &'a Gateway<'a>,
    tool: &'a str,
    capabilities: Value,
}

impl<'a> Dialogue<'a> {
    pub fn new(gateway: &'a Gateway<'a>, tool: &'a str) -> Self {
        Self { gateway, tool, capabilities: json!({"elicitation": {}, "sampling": {}, "roots": {}}) }
    }

    fn params(&self, more: Value) -> Value {
        let meta = json!({"io.modelcontextprotocol/clientCapabilities": self.capabilities});
        let mut params = json!({"name": self.tool, "arguments": {}, "_meta": meta});
        let more = more.as_object().cloned().unwrap_or_default();
        params.as_object_mut().expect("an object").extend(more);
        params
    }

    /// Sends a call, and returns its whole response.
    fn send(&self, more: Value) -> Value {
        self.gateway.send("tools/call", self.params(more))
    }

    /// Calls until the tool asks.
    pub fn ask(&self, more: Value) -> Value {
        let asked = self.send(more)["result"].take();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        asked
    }

    /// Calls again with answers.
    pub fn answer(&self, asked: &Value, responses: Value) -> Value {
        self.send(json!({"requestState": asked["requestState"], "inputResponses": responses}))
    }
}

pub fn text(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{response}"))
}

fn refused(response: &Value) -> &str {
    assert_eq!(response["error"]["code"], -32602, "{response}");
    response["error"]["message"].as_str().unwrap()
}

fn accepted(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

#[test]
fn a_person_accepts_declines_or_cancels() {
    let team = Team::new();
    greeter(&team);
    let gateway = Gateway::new(&team, "tools", &["greet"]);
    let call = Dialogue::new(&gateway, "greet");
    for (answer, expected) in [
        (accepted(json!({"name": "Ada"})), "accept Ada"),
        (json!({"action": "decline"}), "decline None"),
        (json!({"action": "cancel"}), "cancel None"),
    ] {
        let asked = call.ask(json!({}));
        let request = &asked["inputRequests"]["name"];
        assert_eq!(request["method"], "elicitation/create", "{asked}");
        assert_eq!(request["params"]["message"], "Your name?", "{asked}");
        assert_eq!(text(&call.answer(&asked, json!({"name": answer, "more": {}}))), expected);
    }
}

#[test]
fn each_attempt_has_a_record_and_the_last_one_replays() {
    let team = Team::new();
    greeter(&team);
    let gateway = Gateway::new(&team, "tools", &["greet"]);
    let call = Dialogue::new(&gateway, "greet");
    let asked = call.ask(json!({}));
    let attempt = asked["_meta"]["dev.lathe/invocationId"].as_str().unwrap();
    let record = team.get(&format!("/tool/invocation/{attempt}"));
    assert_eq!(record["invocation_status"]["exception_type"], "input_required", "{record}");
    let done = call.answer(&asked, json!({"name": accepted(json!({"name": "Ada"}))}));
    let run = done["result"]["_meta"]["dev.lathe/invocationId"].as_str().unwrap();
    for (run, text) in [(run, "accept Ada"), (attempt, "input_required")] {
        let replayed = replay::identical(&team, run);
        assert!(replayed["invocation_result"].to_string().contains(text), "{replayed}");
    }
}

#[test]
fn an_unanswered_question_is_asked_again() {
    let team = Team::new();
    greeter(&team);
    let gateway = Gateway::new(&team, "tools", &["greet"]);
    let call = Dialogue::new(&gateway, "greet");
    let again = call.answer(&call.ask(json!({})), json!({"other": {"action": "decline"}}))["result"].take();
    assert_eq!(again["resultType"], "input_required", "{again}");
    let filled = |content: Value| json!({"name": {"action": "accept", "content": content}});
    let mut again = again;
    for content in [json!({}), json!({"name": 7})] {
        again = call.answer(&again, filled(content))["result"].take();
        assert_eq!(again["resultType"], "input_required", "the form asks for a name: {again}");
    }
    assert_eq!(text(&call.answer(&again, json!({"name": {"action": "decline"}}))), "decline None");
    let wrong = call.answer(&call.ask(json!({})), json!({"name": {"action": "perhaps"}}));
    assert!(refused(&wrong).contains("inputResponses/name"), "{wrong}");
}

#[test]
fn a_state_is_of_one_call_of_one_user() {
    let team = Team::new();
    greeter(&team);
    let gateway = Gateway::new(&team, "tools", &["greet"]);
    let call = Dialogue::new(&gateway, "greet");
    let asked = call.ask(json!({}));
    let answers = json!({"name": {"action": "decline"}});
    let state = asked["requestState"].as_str().unwrap();
    let retry = |state: &str| json!({"requestState": state, "inputResponses": answers});

    for spoilt in [format!("{state}x"), state.replacen('.', ".A", 1), String::new(), "x".repeat(600_000)] {
        assert!(refused(&call.send(retry(&spoilt))).contains("not the state of this call"));
    }
    let mut others = retry(state);
    others["arguments"] = json!({"unknown": 1});
    assert!(refused(&call.send(others)).contains("not the state of this call"));

    let colleague = team.joined_by("bob", "admin");
    let request = gateway.modern(gateway.as_user(&colleague, "POST"), "tools/call", call.params(retry(state)));
    assert!(refused(&super::client::message(&request.send_message())).contains("not the state of this call"));

    assert_eq!(text(&call.send(retry(state))), "decline None");
    assert!(refused(&call.send(retry(state))).contains("used before"));
}

#[test]
fn a_tool_asks_in_two_rounds_and_begins_anew_in_each() {
    let team = Team::new();
    let body = "first = await request_input('first', Form('First?', {'a': {'type': 'integer'}}))\n\
        second = await request_input('second', Form(f\"After {first.content['a']}?\", {'b': {'type': 'integer'}}))\n\
        return str(first.content['a'] + second.content['b'])";
    asking(&team, "add", body).published();
    let gateway = Gateway::new(&team, "tools", &["add"]);
    let call = Dialogue::new(&gateway, "add");
    let first = call.ask(json!({}));
    let second = call.answer(&first, json!({"first": accepted(json!({"a": 2}))}))["result"].take();
    assert_eq!(second["inputRequests"]["second"]["params"]["message"], "After 2?", "{second}");
    assert_ne!(first["requestState"], second["requestState"]);
    assert_eq!(text(&call.answer(&second, json!({"second": accepted(json!({"b": 3}))}))), "5");
}

#[test]
fn rounds_are_bounded() {
    let team = Team::new();
    let body = "try:\n    for turn in range(20):\n        await request_input(f'q{turn}', Roots())\n\
        except InputRefused as refused:\n    return f'{turn} {refused.code}'";
    asking(&team, "nag", body).published();
    let gateway = Gateway::new(&team, "tools", &["nag"]);
    let call = Dialogue::new(&gateway, "nag");
    let mut asked = call.ask(json!({}));
    for turn in 0..7 {
        asked = call.answer(&asked, json!({format!("q{turn}"): {"roots": []}}))["result"].take();
        assert_eq!(asked["resultType"], "input_required", "{turn}: {asked}");
    }
    assert_eq!(text(&call.answer(&asked, json!({"q7": {"roots": []}}))), "8 too_many");
}

#[test]
fn several_questions_are_asked_at_once() {
    let team = Team::new();
    let body = format!(
        "found = await request_inputs({{'name': {NAME}, 'poem': Sampling('A poem', 10), 'roots': Roots()}})\n\
        return {{'name': found['name'].content, 'poem': found['poem'].text, 'roots': [root.uri for root in found['roots']]}}"
    );
    asking(&team, "all", &body).published();
    let gateway = Gateway::new(&team, "tools", &["all"]);
    let call = Dialogue::new(&gateway, "all");
    let asked = call.ask(json!({}));
    let requests = asked["inputRequests"].as_object().unwrap();
    let methods: Vec<_> = requests.iter().map(|(key, request)| format!("{key} {}", request["method"])).collect();
    let expected = [r#"name "elicitation/create""#, r#"poem "sampling/createMessage""#, r#"roots "roots/list""#];
    assert_eq!(methods, expected, "{asked}");
    let poem = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Roses"}});
    let answers =
        json!({"name": accepted(json!({"name": "Ada"})), "poem": poem, "roots": {"roots": [{"uri": "file:///a"}]}});
    let done = call.answer(&asked, answers);
    let expected = json!({"name": {"name": "Ada"}, "poem": "Roses", "roots": ["file:///a"]});
    assert_eq!(done["result"]["structuredContent"], expected, "{done}");
}

#[test]
fn a_client_without_the_capability_is_not_asked() {
    let team = Team::new();
    greeter(&team);
    let body = "try:\n    await request_input('roots', Roots())\n\
        except InputUnavailable as error:\n    return f'{type(error).__name__} {error.code}'";
    let careful = asking(&team, "careful", body).published();
    let gateway = Gateway::new(&team, "tools", &["greet", "careful"]);
    let call = |tool| Dialogue { capabilities: json!({"sampling": {}}), ..Dialogue::new(&gateway, tool) };
    assert_eq!(text(&call("careful").send(json!({}))), "InputUnavailable unavailable");
    assert_eq!(careful.invoke(json!({})).output(), "InputUnavailable unavailable", "without a client");
    let params = call("greet").params(json!({}));
    let answer = gateway.modern(gateway.request("POST"), "tools/call", params).send_message();
    let error = super::client::message(&answer)["error"].take();
    assert_eq!((answer.status, &error["code"]), (400, &json!(-32021)), "{error}");
    assert_eq!(error["data"]["requiredCapabilities"], json!({"elicitation": {"form": {}}}), "{error}");
}

#[test]
fn a_person_confirms_a_call() {
    let team = Team::new();
    let body = format!("answer = await request_input('name', {NAME})\nreturn 'paid ' + answer.content['name']");
    asking(&team, "pay", &body).manifest("intervention = 'required'").published();
    let gateway = Gateway::new(&team, "tools", &["pay"]);
    let call = Dialogue::new(&gateway, "pay");
    let asked = call.ask(json!({"inputResponses": {"lathe/confirmation": accepted(json!({"confirmed": true}))}}));
    let message = asked["inputRequests"]["lathe/confirmation"]["params"]["message"].as_str();
    assert_eq!(message, Some("Run pay with {}?"), "only an answer to the question counts: {asked}");
    let asked =
        call.answer(&asked, json!({"lathe/confirmation": accepted(json!({"confirmed": true}))}))["result"].take();
    assert_eq!(text(&call.answer(&asked, json!({"name": accepted(json!({"name": "Ada"}))}))), "paid Ada");
    for answer in [json!({"action": "decline"}), json!({"action": "cancel"}), accepted(json!({"confirmed": false}))] {
        let refused = call.answer(&call.ask(json!({})), json!({"lathe/confirmation": answer}));
        assert!(text(&refused).starts_with("confirmation_refused: "), "{refused}");
        assert_eq!(refused["result"]["_meta"]["dev.lathe/error"]["refused_at"], "intervene", "{refused}");
    }
}
