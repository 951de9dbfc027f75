//! Leftovers of a run in memory: none in the runner's process, and none of its secrets in the server's.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aho_corasick::AhoCorasick;
use serde_json::{Value, json};

use crate::egress::authority;
use crate::harness::{Options, Server, Site, Team, Tool, eventually, input, runners, schema_processes};

/// Bytes of memory read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// Words that mark the inputs and outputs of a run.
const SECRET: &str = "canary-of-the-secret-5f0c9d";
const HOST_SECRET: &str = "canary-of-the-host-b81e42";
const PIN: &str = "canary-of-the-caller-77aa13";
const TEXT: &str = "canary-of-the-input-2c9e60";
const PRINTED: &str = "canary-of-the-log-e3d0b5";
const ALL: [&str; 5] = [SECRET, HOST_SECRET, PIN, TEXT, PRINTED];
/// Words that the server does not record, and so may not have in its memory.
const NEVER_RECORDED: [&str; 3] = [SECRET, HOST_SECRET, PIN];

/// Passes the secrets through documents, events, requests and responses, printed output, and every kind of end.
const BODY: &str = "
    import asyncio, time, urllib.request
    secret, pin, ends = config.secrets['TOKEN'], user_variables.sensitive['pin'], tool_input['ends']
    marked = '-'.join(['canary', 'of', 'the', 'log', 'e3d0b5'])
    for _ in range(20):
        print(secret, pin, marked * 20)
    await send_status_event(f'{secret} {pin}', data={'deep': [secret, tool_input]})
    if tool_input['url']:
        headers = {'authorization': '{{secret:HOST_TOKEN}}', 'x-pin': pin}
        request = urllib.request.Request(tool_input['url'] + '?' + secret, secret.encode(), headers)
        urllib.request.urlopen(request).read()
    if ends == 'sleeps':
        time.sleep(tool_input['seconds'])
    if ends == 'raises':
        raise ValueError(f'{secret} {pin} {tool_input}')
    if ends == 'traps':
        deep = [secret, pin]
        for _ in range(1_000_000):
            deep = [deep]
        return deep
    if ends == 'is too large':
        return secret * 100_000
    if ends == 'is stopped':
        while True:
            secret = secret[1:] + secret[0]
    return [secret, pin, tool_input]
";

/// Finds words in the memory of a process, given its directory below `/proc`; `None` when this user may not read it.
fn found(process: &str, words: &[&str]) -> Option<Vec<String>> {
    let (maps, memory) =
        (fs::read_to_string(format!("{process}maps")).ok()?, File::open(format!("{process}mem")).ok()?);
    let words = AhoCorasick::new(words).expect("words");
    let mut found = Vec::new();
    for line in maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|access| access.starts_with('r'))) {
        let (start, end) = line.split(' ').next().and_then(|range| range.split_once('-')).expect("a range");
        let [start, end] = [start, end].map(|address| u64::from_str_radix(address, 16).expect("an address"));
        found.extend(in_range(&memory, start..end, &words).into_iter().map(|bytes| format!("{bytes} in {line}")));
    }
    Some(found)
}

/// Searches a range in pieces that overlap by the longest word.
fn in_range(memory: &File, range: std::ops::Range<u64>, words: &AhoCorasick) -> Vec<String> {
    let (mut found, mut bytes) = (Vec::new(), vec![0; CHUNK_BYTES + words.max_pattern_len()]);
    for start in range.clone().step_by(CHUNK_BYTES) {
        let length = usize::try_from(range.end - start).map_or(bytes.len(), |rest| rest.min(bytes.len()));
        // Mappings of the kernel cannot be read, and hold nothing of a run.
        let Ok(read) = memory.read_at(&mut bytes[..length], start) else { continue };
        let words = words.find_iter(&bytes[..read]).map(|found| String::from_utf8_lossy(&bytes[found.range()]));
        found.extend(words.map(|word| format!("{word} near {start:x}")));
    }
    found
}

fn given(parameters: &Value) -> Value {
    let mut one = input(parameters);
    one["input_parameters"]["text"] = json!(TEXT);
    one["sensitive_user_variables"] = json!({"pin": PIN});
    json!({"inputs": [one]})
}

fn tool<'t>(team: &'t Team, site: &Site) -> Tool<'t> {
    let authority = authority(site);
    let tool = team.tool("knows").body(BODY).manifest("required_secret_envvars = ['TOKEN', 'HOST_TOKEN']");
    let tool = tool.manifest(&format!("allowed_hosts = ['{authority}']"));
    let tool = tool.manifest(&format!("secret_hosts.HOST_TOKEN = ['{authority}']")).manifest("limits.cpu_seconds = 1");
    tool.set_variables(&[("TOKEN", SECRET, true), ("HOST_TOKEN", HOST_SECRET, true)]);
    tool.published()
}

fn server() -> Arc<Server> {
    let arguments = ["--runners", "1", "--egress-networks", "127.0.0.0/8,::1/128"].map(str::to_owned);
    Server::private(&Options { arguments: arguments.into(), ..Options::default() })
}

#[test]
fn nothing_of_a_run_is_in_memory_after_the_next_run() {
    let (site, server) = (Site::serve(), server());
    let team = Team::on(&server);
    let (knows, plain) = (tool(&team, &site), team.tool("plain").body("return 'nothing'").published());
    assert_eq!(plain.invoke(json!({})).output(), "nothing");
    let (runner, serves) = (runners(&server, 1)[0].file(""), format!("/proc/{}/", server.process_id()));
    let is_allowed = found(&runner, &ALL).is_some();
    assert!(is_allowed, "this user may not read the memory of a runner: run the tests as root, or allow ptrace");
    // During a run its secrets are found, otherwise the search would prove nothing.
    let (url, is_seen) = (site.url("/echo"), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_seen.load(Ordering::Relaxed) {
                knows.invoke_inputs(&given(&json!({"ends": "sleeps", "seconds": 2, "url": url})));
            }
        });
        eventually("the sight of a secret in use", || found(&runner, &ALL).filter(|found| !found.is_empty()));
        is_seen.store(true, Ordering::Relaxed);
    });
    for ends in ["returns", "raises", "traps", "is too large", "is stopped"] {
        knows.invoke_inputs(&given(&json!({"ends": ends, "url": url})));
        assert_eq!(plain.invoke(json!({})).output(), "nothing");
        leaves_nothing(ends, &runner, &ALL);
        leaves_nothing(ends, &serves, &NEVER_RECORDED);
    }
}

/// These processes serve all organisations.
#[test]
fn nothing_of_an_input_is_in_a_schema_process_after_the_next_call() {
    let server = server();
    let team = Team::on(&server);
    let schema = json!({"type": "object", "properties": {"v": {"type": "array", "items": {"type": "string"}}}});
    let tool = team.tool("long").manifest("input_schema = 'in.json'").with_file("in.json", &schema.to_string());
    let tool = tool.body("return len(tool_input['v'])").published();
    let call = |words: &[&str]| assert_eq!(tool.invoke(json!({"v": words})).output(), words.len().to_string());
    call(&[TEXT; 20_000]);
    call(&[""; 10_000]);
    let [process] = schema_processes(&server)[..] else { panic!("one process is kept") };
    leaves_nothing("returns", &process.file(""), &[TEXT]);
}

/// Waits until a run's memory is dropped, which happens after its answer.
fn leaves_nothing(ends: &str, process: &str, words: &[&str]) {
    eventually(&format!("the end of what a run that {ends} left in {process}"), || {
        let left = found(process, words).expect("its memory");
        left.iter().take(5).for_each(|one| eprintln!("{ends}: {one}"));
        left.is_empty().then_some(())
    });
}
