//! Calls through agents, of native tools, and refused ones, in the history.

use registry::{
    AgentCall, AgentId, AgentProtocol, CallVia, ClientName, InvokeStep, NativeToolName, RecordEvent, RefusedRun,
    RevisionNumber, RunId, RunStart, ToolId, TurnId, Version,
};
use serde_json::{Value, json};

use crate::fixtures::conversation;
use crate::harness::TestApp;

const RECORD: &str = "ToolInvocationInstance";

fn find_agent_call(app: &TestApp, protocol: AgentProtocol) -> AgentCall {
    let clock = app.store.clock();
    AgentCall {
        agent: AgentId::new(clock),
        revision: RevisionNumber::FIRST,
        protocol,
        client: ClientName::of("claude-code", "2.1"),
        turn: Some(TurnId::new(clock)),
    }
}

/// The start of a run in a conversation.
fn start(app: &TestApp) -> RunStart {
    let clock = app.store.clock();
    RunStart {
        tool: Some(ToolId::new(clock)),
        tool_version: Some(Version::FIRST),
        started_at: clock.now(),
        ..RunStart::minimal(RunId::new(clock), &app.principal, conversation())
    }
}

/// Records a call that was refused.
async fn check_refusal(app: &TestApp, start: &RunStart, at: InvokeStep) {
    let (code, message) = ("policy_refused".to_owned(), "the policy forbids it".to_owned());
    let run = RefusedRun { start: start.clone(), at, code, message };
    app.store.history().record(&RecordEvent::Refused(vec![run])).await.unwrap();
}

fn ids(list: &Value) -> Vec<&str> {
    list["tool_invocations"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_record_has_the_agent_of_its_call() {
    let app = TestApp::start().await;
    let plain = app.run("plain", true).await;
    let call = find_agent_call(&app, AgentProtocol::Mcp);
    let by_mcp = RunStart { via: CallVia::Agent(call.clone()), ..start(&app) };
    let call = AgentCall { client: None, turn: None, ..find_agent_call(&app, AgentProtocol::Rest) };
    let native_tool = Some(NativeToolName::parse("search_tools").unwrap());
    let native =
        RunStart { via: CallVia::Agent(call.clone()), native_tool, tool: None, tool_version: None, ..start(&app) };
    check_refusal(&app, &by_mcp, InvokeStep::Policy).await;
    check_refusal(&app, &native, InvokeStep::Validate).await;

    let read = app.get(&format!("/tool/invocation/{plain}")).await.check_shape(RECORD);
    assert_eq!([&read["agent_call"], &read["native_tool"], &read["refused_at"]], [&Value::Null; 3]);
    assert_eq!(read["origin"], "conversation");

    let read = app.get(&format!("/tool/invocation/{}", by_mcp.id)).await.check_shape(RECORD);
    let call = by_mcp.via.agent_call().unwrap();
    let written = json!({
        "agent_id": call.agent, "revision": 1, "protocol": "mcp", "client": "claude-code 2.1", "turn_id": call.turn,
    });
    assert_eq!((&read["agent_call"], &read["origin"]), (&written, &json!("mcp")));
    assert_eq!(read["invocation_source"]["conversation_id"], "c".repeat(24), "the source keeps its form");
    assert_eq!((&read["refused_at"], &read["duration_ms"]), (&json!("policy"), &json!(0)));
    let status = json!({
        "succeeded": false, "exception_type": "policy_refused", "exception_message": "the policy forbids it",
        "exception_stack_trace": [],
    });
    assert_eq!(read["invocation_status"], status);

    let read = app.get(&format!("/tool/invocation/{}", native.id)).await.check_shape(RECORD);
    assert_eq!((&read["native_tool"], &read["origin"]), (&json!("search_tools"), &json!("agent")));
    assert_eq!((&read["tool_id"], &read["refused_at"]), (&json!("0".repeat(24)), &json!("validate")));
    assert_eq!([&read["agent_call"]["client"], &read["agent_call"]["turn_id"]], [&Value::Null; 2]);
}

#[tokio::test]
async fn lists_and_searches_are_filtered_by_calls() {
    let app = TestApp::start().await;
    let call = find_agent_call(&app, AgentProtocol::Mcp);
    let (agent, turn) = (call.agent.to_string(), call.turn.clone().unwrap().to_string());
    let by_mcp = RunStart { via: CallVia::Agent(call), ..start(&app) };
    let native_tool = Some(NativeToolName::parse("search_tools").unwrap());
    let native = RunStart { native_tool, tool: None, tool_version: None, ..start(&app) };
    check_refusal(&app, &by_mcp, InvokeStep::Policy).await;
    check_refusal(&app, &native, InvokeStep::Validate).await;
    app.run("the policy forbids it", false).await;
    let (by_mcp, native, absent) = (by_mcp.id.as_str(), native.id.as_str(), "f".repeat(24));
    for (query, expected) in [
        (format!("agent_id={agent}"), vec![by_mcp]),
        (format!("agent_id={absent}&agent_id={agent}"), vec![by_mcp]),
        (format!("agent_id={absent}"), vec![]),
        ("client=claude-code+2.1".to_owned(), vec![by_mcp]),
        ("client=claude-code".to_owned(), vec![]),
        (format!("turn_id={turn}&succeeded=false"), vec![by_mcp]),
        (format!("turn_id={turn}&succeeded=true"), vec![]),
        ("refused_at=policy&refused_at=record".to_owned(), vec![by_mcp]),
        ("refused_at=validate".to_owned(), vec![native]),
        ("native_tool=search_tools".to_owned(), vec![native]),
        (format!("native_tool=search_tools&agent_id={agent}"), vec![]),
        ("origin=mcp&origin=agent".to_owned(), vec![by_mcp]),
        ("origin=agent".to_owned(), vec![]),
        (format!("origin=mcp&agent_id={agent}&conversation_id={}", "c".repeat(24)), vec![by_mcp]),
    ] {
        let list = app.get(&format!("/tool/invocation?{query}")).await.json();
        assert_eq!(ids(&list), expected, "{query}");
        let search = format!("query=policy+forbids&query_against=invocation_status.exception_message&{query}");
        let found = app.get(&format!("/tool/invocation/search?{search}")).await.json();
        assert_eq!(ids(&found), expected, "{query}");
    }
}

#[tokio::test]
async fn values_that_no_call_has_are_refused() {
    let app = TestApp::start().await;
    let (long_client, long_name) = (format!("client={}", "x".repeat(129)), format!("native_tool={}", "x".repeat(65)));
    for query in [
        "agent_id=mine",
        "turn_id=1",
        "client=",
        "client=a%00b",
        "client=a%0Ab",
        &long_client,
        "refused_at=never",
        "refused_at=policy&refused_at=policy",
        "native_tool=a.b",
        "native_tool=",
        &long_name,
        "origin=rest",
    ] {
        let refused = app.get(&format!("/tool/invocation?{query}")).await;
        assert_eq!(refused.refusal(), (422, "request_invalid".into()), "{query}");
        let search = format!("query=a&query_against=invocation_status.output&{query}");
        let refused = app.get(&format!("/tool/invocation/search?{search}")).await;
        assert_eq!(refused.refusal(), (422, "request_invalid".into()), "{query}");
    }
}
