//! Content blocks and log messages of tools in every language, from the tool to the response, the record and the replay.

use serde_json::{Value, json};

use crate::harness::{Bump, Options, Run, Team};
use crate::mcp::client::Gateway;
use crate::rust::{machine, project::Project};
use crate::{javascript, replay};

/// A secret of the Python tool.
const SECRET: &str = "correct-horse-battery";

const PYTHON: &str = "
    from amigo_tool_scaffold import content, log

    log.warning('the rate is missing', logger='billing')
    content.add_image(bytes([0, 1, 2, 255]), 'image/png')
    content.add_text('the key is ' + config.secrets['KEY'])
    content.add_resource('report:1', 'a,b', 'text/csv')
    content.add_link('https://example.com/report', 'report', description='all of it')
    try:
        content.add_image(b'', 'nothing')
    except content.ContentRefused as error:
        log.debug({'code': error.code})
    try:
        content.add_audio(bytes(content.BYTES_MAX), 'audio/wav')
    except content.ContentRefused as error:
        log.debug(error.code)
    if tool_input.get('fails'):
        raise ValueError('after the blocks')
    return 'done'
";

const TYPESCRIPT: &str = "
    log('notice', { rows: 2 }, { logger: 'chart' });
    content.addImage(new Uint8Array([0, 1, 2, 255]), 'image/png');
    content.addResource('report:1', new Uint8Array([0]).buffer);
    content.addLink('https://example.com/report', 'report', { mimeType: 'text/html' });
    try {
      for (;;) content.addText('again');
    } catch (error: any) {
      log('error', error.code);
    }
    if ((toolInput as any).fails) throw new RangeError('after the blocks');
    return 'done';
";

const RUST: &str = "#[derive(Deserialize, JsonSchema)]
struct Input {
    #[serde(default)]
    fails: bool,
}

fn run_tool(input: Input, context: &Context) -> Result<String, Error> {
    use lathe::{ContentBlock, LogLevel, LogMessage};

    context.send_log(LogMessage::new(LogLevel::Alert, \"two\\nlines\").logger(\"rust\"));
    context.add_content(ContentBlock::image([0, 1, 2, 255], \"image/png\"))?;
    context.add_content(ContentBlock::resource(\"report:1\", \"a,b\").mime_type(\"text/csv\"))?;
    let refused = context.add_content(ContentBlock::link(\"no URI\", \"report\")).unwrap_err();
    context.log(LogLevel::Info, refused.to_string());
    if input.fails {
        return Err(Error::new(\"Failed\", \"after the blocks\"));
    }
    Ok(\"done\".to_owned())
}
";

fn image() -> Value {
    json!({"type": "image", "data": "AAEC/w==", "mimeType": "image/png"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The blocks of the Python tool.
fn python_content() -> Vec<Value> {
    let resource = json!({"type": "resource", "resource": {"uri": "report:1", "mimeType": "text/csv", "text": "a,b"}});
    let link = json!({"type": "resource_link", "uri": "https://example.com/report", "name": "report",
        "description": "all of it"});
    vec![image(), text("the key is [redacted]"), resource, link]
}

fn record(team: &Team, run: &Run) -> Value {
    team.get(&format!("/tool/invocation/{}", run.id()))
}

/// Asserts that a run and its record have this content and these logs, and that a replay is identical.
#[track_caller]
fn has(team: &Team, run: &Run, content: &Value, logs: &str) {
    assert_eq!(run.0["content"], *content, "{run}");
    let record = record(team, run);
    assert_eq!(record["logs"], logs, "{record}");
    assert_eq!(record["content"].as_array().map(Vec::len), content.as_array().map(Vec::len), "{record}");
    let replayed = replay::identical(team, run.id());
    assert_eq!(replayed["invocation_result"]["content"][0], content[0], "{replayed}");
}

#[test]
fn a_python_tool_adds_content_and_logs() {
    let team = Team::new();
    let tool = team.tool("charts").manifest("required_secret_envvars = [\"KEY\"]").body(PYTHON);
    tool.set_variables(&[("KEY", SECRET, true)]);
    let tool = tool.published();
    let run = tool.invoke(json!({}));
    assert_eq!(run.output(), "done");
    let logs = "[warning] billing: the rate is missing\n[debug] {\"code\":\"invalid\"}\n[debug] too_large\n";
    let content = json!(python_content());
    has(&team, &run, &content, logs);
    assert_eq!(record(&team, &run)["content"], content);

    let failed = tool.invoke(json!({"fails": true}));
    assert_eq!(failed.failure().message, "after the blocks");
    assert_eq!(failed.0["content"][0], image(), "{failed}");
    assert_eq!(record(&team, &failed)["content"][0], image());
}

#[test]
fn s4_056_a_failed_call_of_a_client_of_mcp_keeps_its_content() {
    let team = Team::new();
    let tool = team.tool("charts").manifest("required_secret_envvars = [\"KEY\"]").body(PYTHON);
    tool.set_variables(&[("KEY", SECRET, true)]);
    tool.published();
    let gateway = Gateway::new(&team, "charts", &["charts"]);
    let result = gateway.call("charts", json!({"fails": true}));
    let mut expected = python_content();
    expected.insert(0, text("ValueError: after the blocks"));
    assert_eq!((&result["isError"], &result["content"]), (&json!(true), &json!(expected)), "{result}");
    let error = json!({"type": "ValueError", "message": "after the blocks"});
    assert_eq!(result["_meta"]["dev.lathe/error"], error, "{result}");
}

#[test]
fn other_code_that_adds_other_content_differs_in_a_replay() {
    let team = Team::new();
    let tool = team.tool("drifts").body("from amigo_tool_scaffold import content\ncontent.add_text('old')\nreturn 'a'");
    let tool = tool.published();
    let run = tool.invoke(json!({}));
    let tool = tool.body("from amigo_tool_scaffold import content\ncontent.add_text('new')\nreturn 'a'").pushed();
    tool.publish(Bump::Patch).expect(201);
    let replayed = replay::replay(&team, run.id(), &json!({"version": "1.0.1"})).expect(200);
    let difference = &replayed["differences"][0];
    assert_eq!(difference["what"], "effect", "{replayed}");
    assert!(difference["recorded"].to_string().contains("added the content block"), "{replayed}");
    assert!(difference["replayed"].to_string().contains("new"), "{replayed}");
}

#[test]
fn a_typescript_tool_adds_content_and_logs() {
    let Some(server) = javascript::server(Options::default()) else { return };
    let team = Team::on(&server);
    let tool = javascript::typescript(&team, "charts", &json!({}), "", TYPESCRIPT).published();
    let run = tool.invoke(json!({}));
    assert_eq!(run.output(), "done");
    let mut content = vec![
        image(),
        json!({"type": "resource", "resource": {"uri": "report:1", "blob": "AA=="}}),
        json!({"type": "resource_link", "uri": "https://example.com/report", "name": "report", "mimeType": "text/html"}),
    ];
    content.resize(32, json!({"type": "text", "text": "again"}));
    has(&team, &run, &json!(content), "[notice] chart: {\"rows\":2}\n[error] too_many\n");
    let failed = tool.invoke(json!({"fails": true}));
    assert_eq!(failed.failure().kind, "RangeError");
    assert_eq!(failed.0["content"][0], image(), "{failed}");
}

#[test]
fn a_rust_tool_adds_content_and_logs() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    let tool = Project::new(&team).source(RUST).published();
    let world = &tool.version("1.0.0")["settings"]["world"]["imports"].to_string();
    assert!(world.contains("lathe:tool/content@0.1.0") && !world.contains("lathe:tool/http@"), "{world}");
    let run = tool.invoke(&json!({}));
    assert_eq!(run.output(), "done");
    let resource = json!({"type": "resource", "resource": {"uri": "report:1", "mimeType": "text/csv", "text": "a,b"}});
    let refusal = "the URI of the resource must have a scheme, no spaces, and at most 2,048 bytes";
    let logs = format!("[alert] rust: \"two\\nlines\"\n[info] {refusal}\n");
    has(&team, &run, &json!([image(), resource]), &logs);
    assert_eq!(tool.invoke(&json!({"fails": true})).0["content"], json!([image(), resource]));
}

#[test]
fn a_log_message_beyond_the_limits_leaves_a_line() {
    let team = Team::new();
    let body = "
        from amigo_tool_scaffold import log

        log.info('x' * 9_000)
        log.error('short', logger='two\\nlines')
        log.debug('after them')
        return 'done'
    ";
    let tool = team.tool("verbose").body(body).published();
    let logs = record(&team, &tool.invoke(json!({})))["logs"].as_str().expect("a text").to_owned();
    let lines: Vec<_> = logs.lines().collect();
    assert_eq!(lines[0], "[info] [left out: the data of a log message has at most 8192 bytes]", "{logs}");
    assert!(lines[1].starts_with("[error] [left out: a logger has 1 to 128 bytes"), "{logs}");
    assert_eq!((lines.len(), lines[2]), (3, "[debug] after them"));
}
