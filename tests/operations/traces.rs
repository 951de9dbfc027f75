//! Propagation of trace context, and export over OTLP.

use nix::sys::signal::Signal;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::json;

use super::collector::Collector;
use crate::harness::{Options, Server, Team, input};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn named<'s>(spans: &'s [Span], name: &str) -> Vec<&'s Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

fn attribute(span: &Span, key: &str) -> String {
    let found = span.attributes.iter().find(|attribute| attribute.key == key);
    found.map(|attribute| format!("{:?}", attribute.value)).unwrap_or_default()
}

#[test]
fn a_request_and_its_runs_are_part_of_the_senders_trace() {
    let collector = Collector::start();
    let endpoint = format!("http://{}", collector.address);
    let arguments = ["--otlp-endpoint".to_owned(), endpoint];
    let server = Server::private(&Options { arguments: arguments.to_vec(), ..Options::default() });
    let team = Team::on(&server);
    let tool = team.tool("greet").body("return 'hello'").published();
    let inputs = json!({"inputs": [input(&json!({})), input(&json!({}))]});
    let request = tool.invoke_request(&inputs).header("traceparent", &format!("00-{TRACE}-{PARENT}-01"));
    request.send().expect(200);
    server.signal(Signal::SIGTERM);
    server.ended();

    let spans = collector.spans();
    assert!(spans.iter().all(|(service, _)| service.contains("\"lathe\"")), "{:?}", spans.first());
    let spans: Vec<Span> = spans.into_iter().map(|(_, span)| span).collect();
    let senders: Vec<Span> = spans.iter().filter(|span| hex::encode(&span.trace_id) == TRACE).cloned().collect();
    let requests = named(&senders, "POST /v1/{organization}/tool/{tool_id}/version/{version}/invoke");
    let [request] = requests[..] else { panic!("{senders:#?}") };
    assert_eq!(hex::encode(&request.parent_span_id), PARENT);
    assert_eq!(request.kind, i32::from(SpanKind::Server));
    assert!(attribute(request, "http.response.status_code").contains("200"), "{request:#?}");
    assert!(attribute(request, "lathe.organization").contains(&team.organization), "{request:#?}");
    let runs = named(&senders, "run");
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|run| run.parent_span_id == request.span_id), "{runs:#?}");

    // A request without trace context starts a trace, which includes its build.
    let [build] = named(&spans, "build")[..] else { panic!("{spans:#?}") };
    assert_ne!(hex::encode(&build.trace_id), TRACE);
    let steps = named(&spans, "step");
    let compile = steps.iter().find(|step| attribute(step, "step").contains("compile")).expect("the step");
    assert_eq!((&compile.trace_id, &compile.parent_span_id), (&build.trace_id, &build.span_id));
}
