//! `lathe tool test` on a local directory, without a server.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, SystemTime};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{
    PATIENCE, PackageIndex, Process, SIGNATURE, Said, Site, Terminal, clean_environment, eventually, local_cache,
    lock_line, package_wheel,
};

/// Time within which most machines would start a round that must not start.
const QUIET_TIME: Duration = Duration::from_millis(500);

/// A project outside a git repository, of a user without a login.
pub struct Project(TempDir);

impl Project {
    pub fn new(body: &str) -> Self {
        let project = Self(TempDir::new().expect("a directory"));
        project.write("pyproject.toml", "[project]\nname = \"alone\"\n\n[tool.lathe]\n");
        project.body(body);
        project
    }

    pub fn path(&self) -> PathBuf {
        self.0.path().join("alone")
    }

    /// Writes a file atomically, so that a watcher never sees a part of it.
    pub fn write(&self, path: &str, text: &str) {
        let (file, new) = (self.path().join(path), self.0.path().join("new"));
        fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
        fs::write(&new, text).expect("a file");
        fs::rename(new, file).expect("moved");
    }

    /// Appends to a file in place, in one write.
    pub fn append(&self, path: &str, text: &str) {
        let file = fs::File::options().append(true).open(self.path().join(path));
        file.and_then(|mut file| file.write_all(text.as_bytes())).expect("written");
    }

    fn body(&self, body: &str) {
        self.write("tool.py", &format!("async def {SIGNATURE}:\n    {body}\n"));
    }

    pub fn check(&self, name: &str, check: &Value) {
        self.write(&format!("checks/{name}.json"), &check.to_string());
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lathe"));
        clean_environment(&mut command);
        command.args(arguments).current_dir(self.0.path());
        command.env("HOME", self.0.path()).env("XDG_CACHE_HOME", local_cache());
        command
    }

    pub fn test(&self, arguments: &[&str]) -> Said {
        Said::from(self.command(&[&["tool", "test", "alone"], arguments].concat()).output().expect("the program ends"))
    }
}

pub fn echo() -> Project {
    Project::new("return tool_input")
}

fn echoes(output: &Value) -> Value {
    json!({"input_parameters": {"a": 1}, "expected_output": output})
}

#[test]
fn json_has_one_meaning_in_every_file_and_argument() {
    let project = echo();
    for (wrong, told) in [
        (r#"{"a": 1, "a": 2}"#, "an object has the same key twice at line 1 column"),
        (r#"{"a": 18446744073709551616}"#, "a whole number does not fit into 64 bits at line 1 column 7"),
    ] {
        let said = project.test(&["--input", wrong]);
        said.refused(2, &["--input is not JSON", told]);
        project.write("checks/wrong.json", &format!(r#"{{"expected_output": 1, "input_parameters":{wrong}}}"#));
        let said = project.test(&[]);
        said.refused(1, &["checks/wrong.json", told.split(" at ").next().expect("a problem")]);
        fs::remove_file(project.path().join("checks/wrong.json")).expect("removed");
        project.write("mocks/wrong.json", &format!(r#"{{"request": {{}}, "response": {{"body": {wrong}}}}}"#));
        project
            .test(&["--input", "{}"])
            .refused(1, &["mocks/wrong.json", told.split(" at ").next().expect("a problem")]);
        fs::remove_file(project.path().join("mocks/wrong.json")).expect("removed");
    }
}

#[test]
fn the_cache_is_bounded() {
    let wheels = local_cache().join("lathe/cache/wheels");
    fs::create_dir_all(&wheels).expect("a directory");
    let (old, new) = (wheels.join("0".repeat(64)), wheels.join("1".repeat(64)));
    for (path, bytes) in [(&old, 2 << 30), (&new, 1)] {
        fs::File::create(path).and_then(|file| file.set_len(bytes)).expect("a file without contents");
    }
    let file = fs::File::options().write(true).open(&old).expect("a file");
    file.set_modified(SystemTime::UNIX_EPOCH).expect("an old file");
    echo().test(&[]).ok();
    assert!(!old.exists() && new.exists(), "the least recently used files beyond the bound are deleted");
}

#[test]
fn a_project_without_checks_is_built() {
    let project = echo();
    let said = project.test(&[]).ok();
    assert!(said.stdout.contains("no checks; add checks/*.json"), "{said:?}");
    for step in ["manifest", "dependencies", "compile", "checks"] {
        assert!(said.stderr.contains(&format!("    {step}  ")), "{step} is missing: {said:?}");
    }
    let here = project.command(&["tool", "test"]).current_dir(project.path()).output().expect("the program ends");
    assert!(here.status.success());
}

#[test]
fn every_check_is_shown_and_a_failed_one_sets_the_exit_code() {
    let project = echo();
    project.check("good", &echoes(&json!({"a": 1})));
    let said = project.test(&[]).ok();
    assert!(said.stdout.contains("ok      good") && said.stdout.contains("1 check passed in "), "{said:?}");
    project.check("bad", &echoes(&json!({"a": 2, "b": 3})));
    let said = project.test(&[]);
    assert_eq!(said.code, Some(1), "{said:?}");
    for word in [
        "FAILED  bad",
        "checks/bad.json",
        "/a: expected 2, got 1",
        "/b: expected 3, and it is missing",
        "ok      good",
        "1 of 2 checks failed in ",
    ] {
        assert!(said.stdout.contains(word), "{word:?} is missing in: {said:?}");
    }
    let said = project.test(&["--json"]);
    let document = said.document();
    assert_eq!((said.code, &document["succeeded"]), (Some(1), &json!(false)), "{said:?}");
    assert_eq!(document["checks"].as_array().map(Vec::len), Some(2), "{document}");
    assert_eq!((&document["checks"][0]["name"], &document["checks"][0]["passed"]), (&json!("bad"), &json!(false)));
    assert!(document["checks"][0]["failure"].to_string().contains("/a: expected 2, got 1"), "{document}");
    let steps = document["steps"].as_array().expect("steps").iter().map(|step| step["name"].clone());
    let steps: Vec<Value> = steps.filter(|step| step != "image").collect();
    assert_eq!(json!(steps), json!(["manifest", "dependencies", "compile", "checks"]));
}

/// The projects of `tests/bad_input/costly.rs`, which a server refuses.
#[test]
fn costly_projects_are_refused() {
    let project = echo();
    let refused = |file: &str, text: &str, expected: &str| {
        project.write(file, text);
        let said = project.test(&[]);
        assert!(said.code == Some(1) && format!("{said:?}").contains(expected), "{expected:?} is missing in: {said:?}");
        assert!(!format!("{said:?}").contains(&std::env::var("PATH").expect("a path")), "{said:?}");
    };
    let nested = "(".repeat(60_000);
    let pairs: Vec<_> = (0..30).map(|number| format!("extra=='a{number:02}'and extra=='b{number:02}'")).collect();
    let marker = lock_line("six", "1.16.0", b"").replace(" --hash", &format!(" ; {} --hash", pairs.join("or ")));
    refused("requirements.lock", &format!("six==1.16.0 ; {nested}os_name == 'nt'\n"), "a marker has at most");
    refused("requirements.lock", &marker, "six: a marker");
    refused("requirements.lock", "a @ x${PATH} --hash=sha256:00\n", "a must be pinned");
    let head = "[project]\nname = \"costly\"\n";
    refused("pyproject.toml", &format!("{head}dependencies = [\"{nested}\"]\n"), "names no package");
    refused("pyproject.toml", &format!("{head}a = {}\n", "[".repeat(50_000)), "nested deeper");
}

#[test]
fn inputs_are_run_and_stdout_has_only_their_outputs() {
    let project = echo();
    project.check("good", &echoes(&json!({"a": 1})));
    let said = project.test(&["--input", r#"{"b": 2}"#]).ok();
    assert_eq!(said.stdout, "{\"b\":2}\n");
    assert!(said.stderr.contains("ok      good"), "{said:?}");
    project.body("print('loud'); raise KeyError(config.envvars['REGION'])");
    project.write("pyproject.toml", "[project]\nname = \"alone\"\n[tool.lathe]\nrequired_envvars = [\"REGION\"]\n");
    fs::remove_dir_all(project.path().join("checks")).expect("removed");
    project.test(&["--input", "{}"]).refused(1, &["requires the variable REGION: add `--envvar REGION=VALUE`"]);
    let said = project.test(&["--input", "{}", "--envvar", "REGION=eu"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("KeyError: 'eu'") && said.stderr.contains("| loud"), "{said:?}");
}

#[test]
fn errors_of_the_build_are_errors_of_the_command() {
    let project = echo();
    project.write("tool.py", "def");
    project.test(&[]).refused(1, &["compile failed (syntax): tool.py:1: ", "hint:"]);
    let document = project.test(&["--json"]).document();
    assert_eq!((&document["error"]["code"], &document["error"]["stage"]), (&json!("build_failed"), &json!("compile")));
    let project = echo();
    project.check("odd", &json!({"output": 1}));
    project.test(&[]).refused(1, &["checks failed (check): checks/odd.json: unknown field `output`"]);
    let nowhere = project.command(&["tool", "test", "nowhere"]).output().expect("the program ends");
    Said::from(nowhere).refused(2, &["nowhere is not a directory", "--branch"]);
    project.test(&["--watch", "--branch", "x"]).refused(2, &["--watch", "--branch"]);
    project.test(&["--pushed"]).refused(1, &["not logged in"]);
}

#[test]
fn packages_come_from_the_given_index() {
    // A wheel that the cache does not have yet.
    let words = package_wheel("words", "1.0", &[("words.py", &format!("WORD = 'ave'  # {}\n", std::process::id()))]);
    let index = PackageIndex::serve(&[("words", "words-1.0-py3-none-any.whl", &words)]);
    let project = Project::new("import words; return words.WORD");
    project.write("requirements.lock", &lock_line("words", "1.0", &words));
    project.check("speaks", &json!({"expected_output": "ave"}));
    project
        .test(&[])
        .refused(1, &["dependencies failed (index): requirements.lock:1: words==1.0", "LATHE_PYTHON_INDEX"]);
    project.test(&["--python-index", &index.url]).ok();
    project.test(&[]).ok(); // from the cache
}

/// A `lathe tool test --watch` process and the rounds that it prints.
struct Watching {
    process: Process,
    rounds: Receiver<Value>,
}

impl Watching {
    fn start(project: &Project) -> Self {
        let mut command = project.command(&["tool", "test", "alone", "--watch", "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Process::start(command);
        let stdout = BufReader::new(process.child().stdout.take().expect("a pipe"));
        let (sender, rounds) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let round = serde_json::from_str(&line.expect("text")).expect("a document in each line");
                if sender.send(round).is_err() {
                    return;
                }
            }
        });
        Self { process, rounds }
    }

    #[track_caller]
    fn round(&self) -> Value {
        self.rounds.recv_timeout(PATIENCE).expect("a round")
    }
}

#[test]
fn a_watch_clears_the_terminal_and_says_the_time() {
    let project = echo();
    let mut terminal = Terminal::start(project.command(&["tool", "test", "alone", "--watch"]));
    terminal.shows("UTC  watching alone; stop with Ctrl-C");
    project.append("tool.py", "\n# changed\n");
    let clear = "\u{1b}[2J\u{1b}[3J\u{1b}[H";
    eventually("the second round", || (terminal.text().matches(clear).count() >= 2).then_some(()));
    let text = terminal.text();
    let (before, _) = text.split_once(" UTC  watching").expect("a time");
    let time = &before[before.len() - 8..];
    assert!(time.bytes().all(|byte| byte.is_ascii_digit() || byte == b':'), "{time}");
    terminal.signal(Signal::SIGINT);
    assert!(terminal.ended().success());
}

#[test]
fn inputs_reach_declared_hosts_when_the_author_allows_it() {
    let site = Site::serve();
    let project =
        Project::new("import urllib.request; return urllib.request.urlopen(tool_input['url']).read().decode()");
    let manifest = format!("[project]\nname = \"alone\"\n[tool.lathe]\nallowed_hosts = [\"{}\"]\n", site.address);
    project.write("pyproject.toml", &manifest);
    let input = json!({"url": site.url("/status/200")}).to_string();
    let said = project.test(&["--input", &input]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stderr.contains("no mock matches GET http://127.0.0.1") && said.stderr.contains("--allow-network"),
        "{said:?}"
    );
    assert_eq!(site.requests(), Vec::<String>::new());
    project.test(&["--input", &input, "--allow-network"]).ok();
    assert_eq!(site.requests(), ["GET /status/200"]);
    // Other hosts stay out of reach, and checks never have a network.
    let other = json!({"url": Site::serve().url("/status/200")}).to_string();
    assert_eq!(project.test(&["--input", &other, "--allow-network"]).code, Some(1));
    project.check("asks", &json!({"input_parameters": {"url": site.url("/status/200")}, "expected_output": ""}));
    assert_eq!(project.test(&["--input", &input, "--allow-network"]).code, Some(1));
    assert_eq!(site.requests().len(), 2);
    project.test(&["--allow-network"]).refused(2, &["--input"]);
}

/// Saves as editors do: moves a new file over the old one.
fn save(project: &Project, path: &str, text: &str) {
    fs::write(project.path().join(".tool.py.swp"), text).expect("a file");
    fs::rename(project.path().join(".tool.py.swp"), project.path().join(path)).expect("moved");
}

#[test]
fn a_watched_project_is_tested_whenever_it_changes() {
    let project = echo();
    project.check("good", &echoes(&json!({"a": 1})));
    // An editor's swap file is not part of the project.
    project.write(".gitignore", "*.swp\n");
    let mut watching = Watching::start(&project);
    assert_eq!(watching.round()["succeeded"], true);
    project.append("tool.py", &format!("\nasync def {SIGNATURE}:\n    return {{'a': 2}}\n"));
    let round = watching.round();
    assert!(round["checks"][0]["failure"].to_string().contains("/a: expected 1, got 2"), "{round}");
    save(&project, "tool.py", "def");
    assert_eq!(watching.round()["error"]["stage"], "compile");
    // A change of a file outside the project, or to the same contents, starts no round.
    project.write(".gitignore", "*.swp\n*.log\n");
    project.write("some.log", "x");
    project.write("tool.py", "def");
    assert!(watching.rounds.recv_timeout(QUIET_TIME).is_err(), "a round without a change");
    // New directories are watched too.
    project.write("src/deep/words.py", "WORD = 'one'\n");
    assert_eq!(watching.round()["error"]["stage"], "compile");
    project.body("from deep.words import WORD; return WORD");
    assert!(watching.round()["checks"][0]["failure"].to_string().contains("got \\\"one\\\""));
    project.write("src/deep/words.py", "WORD = {'a': 1}\n");
    assert_eq!(watching.round()["succeeded"], true);
    fs::remove_file(project.path().join("pyproject.toml")).expect("removed");
    assert_eq!(watching.round()["error"]["stage"], "manifest");
    watching.process.signal(Signal::SIGINT);
    let ended = watching.process.ended_within(PATIENCE).expect("an end");
    assert!(ended.success(), "{ended}");
}

#[test]
fn a_test_reads_what_a_commit_has() {
    let project = Project::new("return [open('data.txt', 'rb').read().decode(), open('kept.txt').read()]");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        clean_environment(&mut command);
        assert!(command.current_dir(project.path()).args(arguments).status().expect("git").success());
    };
    project.write("data.txt", "one\r\ntwo\r\n");
    project.write("kept.txt", "tracked");
    project.write(".gitignore", "kept.txt\n");
    project.write(".gitattributes", "*.txt text\n");
    git(&["init", "--quiet"]);
    git(&["add", "--force", "kept.txt"]);
    let said = project.test(&["--input", "{}"]).ok();
    assert_eq!(said.stdout.trim(), r#"["one\ntwo\n","tracked"]"#, "{said:?}");
}

#[test]
fn an_input_file_has_a_byte_order_mark_or_is_refused() {
    let project = echo();
    project.write("marked.json", "\u{feff}{\"a\": 1}");
    let said = project.test(&["--input", "@alone/marked.json"]).ok();
    assert_eq!(said.stdout.trim(), "{\"a\":1}", "{said:?}");
    let wide: Vec<u8> = "{\"a\": 1}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(project.path().join("wide.json"), wide).expect("a file");
    project
        .test(&["--input", "@alone/wide.json"])
        .refused(2, &["alone/wide.json: the text is encoded in UTF-16LE", "iconv -f UTF-16LE"]);
}
