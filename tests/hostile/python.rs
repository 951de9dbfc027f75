//! Hostile tools in Python: functions of the interpreter, and secrets in outputs.

use serde_json::{Value, json};

use super::check::recorded;
use crate::harness::{Run, Team, Tool, input};

pub const NUMBERS: [u32; 14] = [31, 32, 33, 34, 35, 36, 42, 43, 44, 48, 52, 53, 54, 56];

const SECRET: &str = "hunter2-and-more/+";

/// A tool whose input selects the attempt.
const BODY: &str = r#"
    import base64, os, socket
    what, secret = tool_input.get('what'), config.secrets['TOKEN']
    match what:
        case None: return 'fine'
        case 'bytes': return b'\xff\xfe'
        case 'surrogate': return 'a' + chr(0xD800)
        case 'nul': return 'a\0b'
        case 'nan': return {'x': [float('nan')]}
        case 'huge': return float('1e400')
        case 'digits': return 10 ** 10_000
        case 'deep':
            x = []
            for _ in range(1_000_000):
                x = [x]
            return x
        case 'trace': raise ValueError('x' * 10_000_000)
        case 'raises': raise ValueError(f'bad token {secret}')
        case 'base64': return base64.b64encode(secret.encode()).decode()
        case 'hex': return secret.encode().hex()
        case 'reversed': return secret[::-1]
        case 'event':
            await send_status_event(f'using {secret}')
            return 'sent'
        case 'environment': return [sorted(os.environ), sorted(config.envvars), sorted(config.secrets)]
        case 'others': return config.secrets.get('OTHER', 'absent')
        case 'root': return os.listdir('/')
        case 'environ': return open('/proc/self/environ').read()
        case 'above': return open('../../etc/passwd').read()
        case 'connect': socket.socket().connect(('127.0.0.1', 1))
        case 'bind': socket.socket().bind(('127.0.0.1', 0))
        case 'datagram': socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 1))
"#;

/// Expected result of a run: an output, or types of its failure and a word of its message.
enum Gives {
    Text(&'static str),
    Failure(&'static [&'static str], &'static str),
}

const CASES: [(u32, &str, Gives); 21] = [
    (31, "bytes", Gives::Failure(&["UnserialisableResult"], "bytes")),
    (32, "surrogate", Gives::Failure(&["UnserialisableResult"], "Unicode")),
    (33, "nul", Gives::Text("a\0b")),
    (34, "nan", Gives::Failure(&["UnserialisableResult"], "result.x[0]")),
    (35, "huge", Gives::Failure(&["UnserialisableResult"], "inf")),
    (35, "digits", Gives::Failure(&["UnserialisableResult"], "digits")),
    // The serialiser recurses in C, and exhausts the stack before the interpreter's own limit.
    (36, "deep", Gives::Failure(&["stack_overflow", "UnserialisableResult"], "")),
    (42, "trace", Gives::Failure(&["ValueError"], "[truncated]")),
    (43, "raises", Gives::Failure(&["ValueError"], "bad token [redacted]")),
    (44, "base64", Gives::Text("[redacted]")),
    (44, "hex", Gives::Text("[redacted]")),
    // An encoding of the author's own is not redacted; only people who may change the tool can use one.
    (44, "reversed", Gives::Text("+/erom-dna-2retnuh")),
    (48, "event", Gives::Text("sent")),
    (52, "environment", Gives::Text(r#"[[],["REGION"],["TOKEN"]]"#)),
    (53, "others", Gives::Text("absent")),
    // The root of the tool has the files of its own project, and nothing else.
    (54, "root", Gives::Text(r#"["pyproject.toml","tool.py"]"#)),
    (54, "environ", Gives::Failure(NO_FILES, "")),
    (54, "above", Gives::Failure(NO_FILES, "")),
    (56, "connect", Gives::Failure(&["EgressRefused"], "no sockets")),
    (56, "bind", Gives::Failure(&["EgressRefused"], "no sockets")),
    (56, "datagram", Gives::Failure(&["EgressRefused"], "no sockets")),
];

/// The type depends on the interpreter's system call.
const NO_FILES: &[&str] = &["FileNotFoundError", "PermissionError", "OSError", "NotADirectoryError"];

#[test]
fn tools_in_python_read_and_reveal_no_more_than_they_may() {
    let server = super::server();
    let team = Team::on(&server);
    let other = team.tool("other");
    other.set_variables(&[("OTHER", "of another tool", true)]);
    let tool = team.tool("hostile").body(BODY).manifest("required_envvars = ['REGION']");
    let tool = tool.manifest("required_secret_envvars = ['TOKEN']").manifest("timeout_seconds = 300");
    tool.set_variables(&[("REGION", "north", false), ("TOKEN", SECRET, true)]);
    let tool = tool.published();
    let mut runs = Vec::new();
    for (number, what, gives) in &CASES {
        runs.extend(check(&team, &tool, *number, what, gives));
        if runs.len() == 100 {
            recorded(&team, &tool, &runs); // a page of the history
        }
    }
    let kept = team.history().iter().map(Value::to_string).collect::<String>();
    assert!(!kept.contains(SECRET) && kept.contains("using [redacted]"));
}

fn check(team: &Team, tool: &Tool<'_>, number: u32, what: &str, gives: &Gives) -> Vec<Run> {
    let mut inputs = vec![input(&json!({})); 10];
    inputs[4] = input(&json!({"what": what}));
    let runs = tool.invoke_inputs(&json!({"inputs": inputs}));
    for (place, run) in runs.iter().enumerate().filter(|(place, _)| *place != 4) {
        assert_eq!(run.output(), "fine", "{what}: the sibling at {place}");
    }
    let run = &runs[4];
    match gives {
        Gives::Text(text) => assert_eq!(run.output(), *text, "{what}"),
        Gives::Failure(kinds, word) => {
            let failure = run.failure();
            assert!(kinds.contains(&failure.kind.as_str()) && failure.message.contains(word), "{what}: {run}");
            assert!(failure.trace.iter().map(String::len).sum::<usize>() < 70_000, "{what}");
        }
    }
    let record = team.get(&format!("/tool/invocation/{}", run.id()));
    assert!(!record.to_string().contains(SECRET), "{what}: {record}");
    println!("| {number:>2} | Python: {what:<24} | {:<24} | {:>6} ms |", outcome(run), run.duration_ms());
    runs
}

fn outcome(run: &Run) -> String {
    run.0["exception_type"].as_str().unwrap_or("ok").to_owned()
}
