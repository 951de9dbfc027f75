//! The JavaScript platform of tools, in runs and in replays.

use serde_json::json;

use super::{server, typescript};
use crate::harness::{Options, Team};

const EVERYTHING: &str = "
  console.log('seen', { by: 'people' });
  await sendStatusEvent('half', { progress: 1, total: 2 });
  const order: string[] = [];
  const tick = setInterval(() => order.push('tick'), 15);
  await Promise.all([30, 10].map((ms) => new Promise<void>((done) => setTimeout(() => { order.push(`${ms}`); done(); }, ms))));
  clearInterval(tick);
  clearTimeout(setTimeout(() => order.push('never'), 0));
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode('key'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode('text')));
  const stream = new Response('a,b').body!.pipeThrough(new TextDecoderStream_());
  const parts: string[] = [];
  for (const reader = stream.getReader();;) { const { done, value } = await reader.read(); if (done) break; parts.push(value); }
  let aborted;
  await new Promise<void>((done) => AbortSignal.timeout(5).addEventListener('abort', (event: any) => { aborted = event.target.reason.name; done(); }));
  return {
    input: toolInput, mode: metadata.invocationMode, name: metadata.toolName, config, conversation, userVariables,
    timers: order.filter((one) => one !== 'tick'), ticked: order.includes('tick'), mac: mac[0], parts, aborted,
    clone: structuredClone(new Map([[1, new Date(0)]])).get(1), url: new URL('../b?c=ü', 'https://h.example/a/').href,
    chance: [Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(4)).join()], now: new Date(), tick: performance.now(),
    text: btoa('x') + new TextDecoder().decode(new TextEncoder().encode('ü')), none: [typeof process, typeof require, typeof Deno],
  };
";

const BEFORE: &str = "
declare const process: any, require: any, Deno: any;
const TextDecoderStream_ = class { readable: any; writable: any; constructor() {
  const decoder = new TextDecoder();
  const { readable, writable } = new TransformStream({ transform(chunk, to) { to.enqueue(decoder.decode(chunk)); } });
  this.readable = readable; this.writable = writable;
} };
";

#[test]
fn a_tool_has_web_apis_and_a_replay_sees_the_same_values() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let tool = typescript(&team, "platform", &json!({}), BEFORE, EVERYTHING).published();
    let runs = [(); 2].map(|()| tool.invoke(json!({"a": [1, null]})));
    let said = runs.each_ref().map(|run| run.json());
    let expected = json!({
        "input": {"a": [1, null]}, "mode": "regular", "name": "platform", "config": {"envvars": {}, "secrets": {}},
        "conversation": null, "userVariables": {"nonsensitive": {}, "sensitive": {}}, "timers": ["10", "30"],
        "ticked": true, "parts": ["a,b"], "aborted": "TimeoutError", "clone": "1970-01-01T00:00:00.000Z",
        "url": "https://h.example/b?c=%C3%BC", "text": "eA==ü", "none": ["object", "function", "undefined"],
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&said[0][name], value, "{name}");
    }
    let chances = |run: usize| said[run]["chance"].as_array().expect("a list").clone();
    let pairs: Vec<_> = chances(0).into_iter().zip(chances(1)).collect();
    assert!(pairs.len() == 3 && pairs.iter().all(|(one, other)| one != other), "chance is in the image: {pairs:?}");
    let tick = said[0]["tick"].as_f64().expect("a number");
    assert!((0.0..60_000.0).contains(&tick), "the run's own clock: {tick}");
    for run in &runs {
        let replayed = team.post(&format!("/tool/invocation/{}/replay", run.id()), &json!({})).expect(200);
        assert_eq!((&replayed["identical"], &replayed["differences"]), (&json!(true), &json!([])), "{replayed}");
    }
    let record = team.get(&format!("/tool/invocation/{}", runs[0].id()));
    assert!(record["logs"].as_str().is_some_and(|logs| logs.contains("seen") && logs.contains("people")), "{record}");
}

const ENVIRONMENT: &str = "
  const refused = (work: () => unknown) => { try { return work(); } catch (error: any) { return error.message; } };
  const at = new Date('2026-07-01T12:00:00Z');
  const shown = (timeZone: string, options = {}) => at.toLocaleString('en-US', { timeZone, ...options });
  return {
    env: [process.env.REGION, process.env.NONE ?? null, Object.keys(process.env).length], secret: refused(() => process.env.KEY),
    exit: refused(() => process.exit(1)), zones: ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC'].map((zone) => shown(zone)),
    names: ['America/Los_Angeles', 'Europe/Berlin'].map((zone) => shown(zone, { hour: 'numeric', timeZoneName: 'short' })),
    winter: new Date('2026-01-01T12:00:00Z').toLocaleTimeString('en-US', { timeZone: 'Europe/Berlin' }),
    none: refused(() => shown('Mars/Base')), known: Intl.supportedValuesOf('timeZone').includes('Europe/Paris'),
    resolved: new Intl.DateTimeFormat('en', { timeZone: 'europe/berlin' }).resolvedOptions().timeZone,
  };
";

#[test]
fn variables_are_the_environment_and_time_zones_are_known() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let package = json!({"lathe": {"required_envvars": ["REGION"], "required_secret_envvars": ["KEY"]}});
    let before = "declare const process: any;\nconst region = process.env.REGION;";
    let tool = typescript(&team, "environment", &package, before, ENVIRONMENT);
    let tool = tool.pushed();
    tool.set_variables(&[("REGION", "north", false), ("KEY", "canary-of-a-key", true)]);
    let said = tool.published().invoke(json!({})).json();
    assert_eq!(said["env"], json!(["north", null, 1]), "{said}");
    for (name, words) in [
        ("secret", "process.env.KEY: a secret is not in the environment; runTool gets it as config.secrets.KEY"),
        ("exit", "process.exit is not available in a tool"),
        ("none", "Invalid time zone specified: Mars/Base"),
    ] {
        assert_eq!(said[name], words, "{said}");
    }
    let zones = [
        "7/1/2026, 2:00:00\u{202f}PM",
        "7/1/2026, 8:00:00\u{202f}AM",
        "7/1/2026, 5:30:00\u{202f}PM",
        "7/1/2026, 12:00:00\u{202f}PM",
    ];
    let plain = |value: &serde_json::Value| value.to_string().replace('\u{202f}', " ");
    assert_eq!(plain(&said["zones"]), plain(&json!(zones)));
    assert_eq!(plain(&said["names"]), plain(&json!(["5 AM PDT", "2 PM GMT+2"])));
    assert_eq!((plain(&said["winter"]), &said["known"]), ("\"1:00:00 PM\"".to_owned(), &json!(true)));
    assert_eq!(said["resolved"], "Europe/Berlin");
}

#[test]
fn a_schema_is_a_file_or_an_export_of_the_module() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let schema = |tool: crate::harness::Tool<'_>| {
        let tool = tool.published();
        team.get(&format!("/tool/{}/version/1.0.0", tool.id()))["input_schema"].clone()
    };
    let body = "return toolInput;";
    let open = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"});
    assert_eq!(schema(typescript(&team, "none", &json!({}), "", body)), open);
    let plain = "export const inputSchema = { type: 'object', required: ['a'] };";
    assert_eq!(
        schema(typescript(&team, "plain", &json!({}), plain, body)),
        json!({"type": "object", "required": ["a"]})
    );
    let file = json!({"lathe": {"input_schema": "in.json"}});
    let tool = typescript(&team, "file", &file, plain, body).with_file("in.json", "{\"type\": \"object\"}");
    assert_eq!(schema(tool), json!({"type": "object"}));
}

const STANDARD: &str = "
export const inputSchema = { '~standard': {
  version: 1, vendor: 'test',
  validate: (value: any) => value.name === 'nobody' ? { issues: [{ message: 'is nobody', path: ['name'] }] } : { value: { times: 2, ...value } },
  jsonSchema: { input: ({ target }: any) => ({ type: 'object', required: ['name'], title: target }) },
} };
";

#[test]
fn a_parsing_schema_gives_the_tool_the_parsed_input() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let tool = typescript(&team, "standard", &json!({}), STANDARD, "return toolInput;").published();
    let version = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    assert_eq!(version["input_schema"], json!({"type": "object", "required": ["name"], "title": "draft-2020-12"}));
    assert_eq!(tool.invoke(json!({"name": "ada"})).json(), json!({"times": 2, "name": "ada"}));
    let refused = tool.invoke(json!({"name": "nobody"})).failure();
    assert_eq!((refused.kind.as_str(), refused.message.as_str()), ("InvalidInput", "name: is nobody"));
}

#[test]
fn a_project_from_the_template_is_published() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let lathe = team.lathe();
    for language in ["typescript", "javascript"] {
        assert!(lathe.ok(&["tool", "new", &format!("greet_{language}"), "--language", language]).contains("Edit "));
    }
    team.push();
    for language in ["typescript", "javascript"] {
        let name = format!("greet_{language}");
        lathe.ok(&["tool", "create", &name, "--description", "Greets."]);
        assert_eq!(lathe.json(&["tool", "publish", &name, "--bump", "minor"]), json!({"new_version": "1.0.0"}));
        let said = lathe.ok(&["tool", "invoke", &name, "--input", r#"{"name": "Ada", "times": 2}"#]);
        assert_eq!(said.trim(), r#"{"greetings":["Hello, Ada!","Hello, Ada!"],"delivered":true}"#);
    }
}
