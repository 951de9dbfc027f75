//! Projects whose files cost far more than their size suggests. None of them may stop the server or exhaust its
//! memory, and no message may contain parts of the server's environment.

use serde_json::json;

use super::{check, mended};
use crate::harness::{Bump, Options, Server, Team, Tool, lock_line};

const HEAD: &str = "[project]\nname = \"costly\"\n";
/// The size limit of `pyproject.toml`.
const PROJECT_FILE_BYTES_MAX: usize = 256 << 10;
const LOCK_FILE_BYTES_MAX: usize = 4 << 20;

fn project(text: &str) -> impl FnOnce(Tool<'_>) -> Tool<'_> {
    move |tool| tool.with_file("pyproject.toml", text)
}

fn locked(text: &str) -> impl FnOnce(Tool<'_>) -> Tool<'_> {
    move |tool| tool.with_file("requirements.lock", text)
}

#[test]
fn nested_requirements_end_no_server() {
    let team = Team::on(&Server::private(&Options::default()));
    let process = team.server.process_id();
    let nested = "(".repeat(60_000);
    let dependencies = format!("{HEAD}dependencies = [\"x ; {nested}os_name\", \"{nested}\"]\n");
    check(&team, project(&dependencies), &["manifest failed (dependencies): pyproject.toml:3: ", "names no package"]);
    let line = format!("six==1.16.0 ; {nested}os_name == 'nt'\n");
    check(&team, locked(&line), &["requirements.lock:1: six: a marker has at most"]);
    check(&team, locked(&format!("six=={nested}\n")), &["requirements.lock:1: six must be pinned"]);
    assert_eq!(team.server.process_id(), process);
}

#[test]
fn a_marker_of_a_kilobyte_is_read_once() {
    let team = Team::new();
    let pairs = |left: &str, right: &str| {
        let pair = |number| format!("{left}=='a{number:02}'and {right}=='b{number:02}'");
        (0..30).map(pair).collect::<Vec<_>>().join("or ")
    };
    let line = |marker: &str| lock_line("six", "1.16.0", b"").replace(" --hash", &format!(" ; {marker} --hash"));
    check(&team, locked(&line(&pairs("extra", "extra"))), &["(marker)", "requirements.lock:1: six: a marker"]);
    // The marker uses valid variables and does not match the target platform.
    let short = pairs("os_name", "os_name")[..1_000].rsplit_once("or ").expect("pairs").0.to_owned();
    team.next_tool().with_file("requirements.lock", &line(&short)).published();
}

#[test]
fn a_refusal_reveals_nothing_of_the_servers_environment() {
    let secret = ("BACKUP_PASSWORD".to_owned(), "6f1c0a open sesame".to_owned());
    let server = Server::private(&Options { environment: vec![secret.clone()], ..Options::default() });
    let team = Team::on(&server);
    let inherited = |name: &str| (name.to_owned(), std::env::var(name).expect("a variable of the tests"));
    for (name, value) in [inherited("PATH"), inherited("HOME"), secret] {
        for text in
            [format!("a @ x${{{name}}}"), format!("${{{name}}}"), format!("a==${{{name}}}"), format!("a ; ${{{name}}}")]
        {
            let tool = team.next_tool().with_file("requirements.lock", &format!("{text} --hash=sha256:00\n")).pushed();
            let answer = tool.publish(Bump::Minor);
            answer.expect(400);
            assert!(!answer.to_string().contains(&value), "{answer}");
            mended(tool);
            let dependencies = format!("{HEAD}dependencies = [\"{text}\"]\n");
            let tool = team.next_tool().with_file("pyproject.toml", &dependencies).pushed();
            let answer = tool.publish(Bump::Minor);
            answer.expect(400);
            assert!(!answer.to_string().contains(&value), "{answer}");
            mended(tool);
        }
    }
}

#[test]
fn project_files_and_lock_files_have_bounds() {
    let team = Team::new();
    let tables = |count: usize| (0..count).map(|number| format!("[a.b{number}]\n")).collect::<String>();
    let text = format!("{HEAD}{}", tables(200_000));
    check(
        &team,
        project(&text),
        &["pyproject.toml: the file has ", &format!("{PROJECT_FILE_BYTES_MAX} are the limit")],
    );
    let lock = "\n".repeat(LOCK_FILE_BYTES_MAX + 1);
    check(&team, locked(&lock), &["requirements.lock: the file has 4194305 bytes; 4194304 are the limit"]);
    for file in ["package-lock.json", "package.json", "Cargo.toml", "Cargo.lock"] {
        check(&team, |tool| tool.with_file(file, &lock), &[&format!("{file}: the file has 4194305 bytes")]);
    }
    // Below the limit, the project file is valid.
    let text = format!("{HEAD}{}", tables(20_000));
    assert!(text.len() < PROJECT_FILE_BYTES_MAX);
    let tool = team.next_tool().with_file("pyproject.toml", &text).published();
    assert_eq!(tool.invoke(json!({"a": 1})).output(), r#"{"a":1}"#);
}

#[test]
fn deep_project_files_are_refused_with_their_line() {
    let team = Team::new();
    let keys = vec!["a"; 50_000].join(".");
    for text in
        [format!("{HEAD}[{keys}]\n"), format!("{HEAD}{keys} = 1\n"), format!("{HEAD}a = {}\n", "[".repeat(50_000))]
    {
        check(&team, project(&text), &["manifest failed (syntax): pyproject.toml"]);
    }
}
