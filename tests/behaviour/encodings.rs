//! Secrets in every encoding that docs/explanation/secrets.md lists, in every text of a run.

use serde_json::{Value, json};

use crate::harness::{Run, Team, Tool, input};

/// A secret longer than a line of base64, with all characters that some encoding escapes.
const TEXT: &str =
    "canary-Ünder/the+roof?~\"it's\\ \u{8}\u{c}\n😀-and-so-much-more-that-one-line-of-base64-has-no-room-for-it";
/// A secret that Python reads as an exact number, and JavaScript as a rounded one.
const DIGITS: &str = "98765432109876543210";
/// A secret whose lines are too short to be searched separately.
const LINES: &str = "canary-first\ncanary-second\ncanary-third";

const BEFORE: &str = r"
import base64, json
from urllib.parse import quote, quote_plus

def escapes(text, form):
    data = text.encode('utf-16-be')
    return ''.join(form % int.from_bytes(data[at:at + 2], 'big') for at in range(0, len(data), 2))

def wrapped(text, columns, end):
    return end.join(text[at:at + columns] for at in range(0, len(text), columns))

def mark(text):
    return '\u00ab' + text + '\u00bb'

def encodings(secret):
    data, wide = secret.encode(), secret.encode('utf-16-le')
    plain = base64.b64encode(data).decode()
    return {
        'as it is': secret,
        'json': json.dumps(secret),
        'json, not ascii': json.dumps(secret, ensure_ascii=False),
        'json within json': json.dumps({'a': json.dumps(secret)}),
        'json with slashes': json.dumps(secret).replace('/', '\\/'),
        'escapes': escapes(secret, '\\u%04x'),
        'escapes, upper case': escapes(secret, '\\u%04X'),
        'repr': repr(secret),
        'ascii': ascii(secret),
        'bytes': repr(data),
        'encodeURI': quote(secret, safe='-_.!~*\'();/?:@&=+$,#'),
        'encodeURIComponent': quote(secret, safe='-_.!~*\'()'),
        'form': quote_plus(secret, safe='*').replace('~', '%7E'),
        'form of Python': quote_plus(secret),
        'percent-encoded': ''.join('%%%02x' % byte for byte in data),
        'base64': plain,
        'base64, not aligned': base64.b64encode(b'x' + data).decode(),
        'base64url': base64.urlsafe_b64encode(b'xx' + data).decode(),
        'base64, 76 columns': wrapped(plain, 76, '\n'),
        'base64, 64 columns': wrapped(plain, 64, '\r\n'),
        'base64, encodebytes': repr(base64.encodebytes(data)),
        'base64, in json': json.dumps(wrapped(plain, 64, '\r\n')),
        'hexadecimal': data.hex(),
        'hexadecimal, upper case': data.hex().upper(),
        'utf-16': wide.decode('latin-1'),
        'utf-16 in json': json.dumps(wide.decode('latin-1')),
        'utf-16 as bytes': repr(wide),
        'utf-16 in hexadecimal': wide.hex(),
        'utf-16, big-endian, in hexadecimal': secret.encode('utf-16-be').hex().upper(),
        'utf-16 in base64': base64.b64encode(wide).decode(),
    }
";

const BODY: &str = "
    name = tool_input['name']
    text = mark(encodings(config.secrets['TEXT'])[name]) if name else ''
    if tool_input['returns']:
        return text
    print(text)
    await send_status_event(text)
    await send_status_event('data', data={'deep': [text]})
    await send_status_event('name', data={text: 1})
    raise ValueError(text)
";

const ENCODINGS: [&str; 30] = [
    "as it is",
    "json",
    "json, not ascii",
    "json within json",
    "json with slashes",
    "escapes",
    "escapes, upper case",
    "repr",
    "ascii",
    "bytes",
    "encodeURI",
    "encodeURIComponent",
    "form",
    "form of Python",
    "percent-encoded",
    "base64",
    "base64, not aligned",
    "base64url",
    "base64, 76 columns",
    "base64, 64 columns",
    "base64, encodebytes",
    "base64, in json",
    "hexadecimal",
    "hexadecimal, upper case",
    "utf-16",
    "utf-16 in json",
    "utf-16 as bytes",
    "utf-16 in hexadecimal",
    "utf-16, big-endian, in hexadecimal",
    "utf-16 in base64",
];

fn tool<'t>(team: &'t Team, body: &str, secrets: &[(&str, &str)]) -> Tool<'t> {
    let names: Vec<&str> = secrets.iter().map(|(name, _)| *name).collect();
    let tool = team.tool("talks").source(BEFORE, body).manifest(&format!("required_secret_envvars = {}", json!(names)));
    let tool = tool.manifest("limits.status_event_bytes = 4096");
    let secrets: Vec<_> = secrets.iter().map(|(name, value)| (*name, *value, true)).collect();
    tool.set_variables(&secrets);
    tool.published()
}

/// Ten inputs a call.
fn runs(tool: &Tool<'_>, inputs: &[Value]) -> Vec<Run> {
    let calls = inputs.chunks(10).map(|inputs| inputs.iter().map(input).collect::<Vec<_>>());
    calls.flat_map(|inputs| tool.invoke_inputs(&json!({"inputs": inputs}))).collect()
}

/// Asserts that only the replacement, quotes and the ends of an encoding are between the marks.
#[track_caller]
fn is_redacted(place: &str, text: &str) {
    let marked = text.split_once('\u{ab}').and_then(|(_, rest)| rest.split_once('\u{bb}'));
    let (marked, _) = marked.unwrap_or_else(|| panic!("{place}: no marks in {text:?}"));
    assert_eq!(marked.matches("[redacted]").count(), 1, "{place}: {marked:?}");
    assert!(marked.len() <= "[redacted]".len() + 16, "{place}: {marked:?}");
}

#[test]
fn secrets_are_redacted_in_every_encoding_and_every_text() {
    let team = Team::new();
    let tool = tool(&team, BODY, &[("TEXT", TEXT)]);
    let raised: Vec<_> = ENCODINGS.iter().map(|name| json!({"name": name, "returns": false})).collect();
    let returned: Vec<_> = ENCODINGS.iter().map(|name| json!({"name": name, "returns": true})).collect();
    for (name, run) in ENCODINGS.iter().zip(runs(&tool, &returned)) {
        let record = team.get(&format!("/tool/invocation/{}", run.id()));
        is_redacted(&format!("{name}, the answer"), run.output());
        is_redacted(&format!("{name}, the output"), record["invocation_status"]["output"].as_str().expect("text"));
    }
    for (name, run) in ENCODINGS.iter().zip(runs(&tool, &raised)) {
        let record = team.get(&format!("/tool/invocation/{}", run.id()));
        for (whose, status) in [("answered", &run.0), ("recorded", &record["invocation_status"])] {
            let trace: Vec<String> = serde_json::from_value(status["exception_stack_trace"].clone()).expect("lines");
            is_redacted(&format!("{name}, {whose} message"), status["exception_message"].as_str().expect("text"));
            is_redacted(&format!("{name}, {whose} trace"), &trace.join("\n"));
        }
        let events = &record["status_events"];
        is_redacted(&format!("{name}, event"), events[0]["message"].as_str().expect("text"));
        is_redacted(&format!("{name}, data"), events[1]["data"]["deep"][0].as_str().expect("text"));
        let names = events[2]["data"].as_object().expect("an object");
        is_redacted(&format!("{name}, name in data"), names.keys().next().expect("a name"));
        is_redacted(&format!("{name}, logs"), record["logs"].as_str().expect("text"));
    }
}

#[test]
fn a_secret_that_is_a_number_is_redacted() {
    let team = Team::new();
    let body = "
        number = int(config.secrets['DIGITS'])
        await send_status_event('number', progress=number, data=[number, float(number), -number, 7])
        print(number, float(number), float(number) * 1e10)
        return {'number': number, 'rounded': float(number)}
    ";
    let tool = tool(&team, body, &[("DIGITS", DIGITS)]);
    let run = tool.invoke(json!({}));
    let record = team.get(&format!("/tool/invocation/{}", run.id()));
    for text in [record.to_string(), run.0.to_string()] {
        assert!(!text.contains("98765432") && !text.contains("9.8765432"), "{text}");
    }
    let event = &record["status_events"][0];
    let redacted = "[redacted]";
    assert_eq!(
        (&event["progress"], &event["data"]),
        (&Value::Null, &json!([redacted, redacted, redacted, 7])),
        "{event}"
    );
}

/// Each of ten runs writes a secret across the bounds of its message, its log and its stack trace, at different places.
#[test]
fn a_secret_across_the_bound_of_a_text_is_redacted_completely() {
    let team = Team::new();
    let body = r"
        secret, back = config.secrets['LINES'], tool_input['back']
        print('x' * (65536 - back) + secret + 'x' * 1000)
        if tool_input['traces']:
            length = 65536 - 100 - tool_input['back']
            lines = ['x' * 99] * (length // 99) + ['x' * (length % 99)]
            raise ValueError('\n'.join(lines) + '\n' + secret + '\n' + 'x' * 1000)
        raise ValueError('x' * (16384 - back) + secret + 'x' * 1000)
    ";
    let tool = tool(&team, body, &[("LINES", LINES)]);
    let inputs: Vec<_> = (1..=10).map(|step| json!({"back": 4 * step - 1, "traces": false})).collect();
    let is_harmless = |text: &str, mark: &str| {
        let rest = text.strip_suffix(mark).expect("a cut text").replace("[redacted]", "");
        assert!(rest.bytes().all(|byte| byte == b'x'), "{:?}", &text[text.len() - 50..]);
    };
    for run in runs(&tool, &inputs) {
        let record = team.get(&format!("/tool/invocation/{}", run.id()));
        is_harmless(record["logs"].as_str().expect("text"), "\n[truncated]");
        is_harmless(record["invocation_status"]["exception_message"].as_str().expect("text"), "[truncated]");
    }
    // The interpreter decides the length of the lines before the message.
    let inputs: Vec<_> = (0..20).map(|step| json!({"back": 20 * step, "traces": true})).collect();
    for run in runs(&tool, &inputs) {
        let trace = run.0["exception_stack_trace"].to_string();
        assert!(trace.contains("[truncated]") && !trace.contains("canary"), "{}", &trace[trace.len() - 200..]);
    }
}
