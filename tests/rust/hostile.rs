//! Build scripts that attack the machine which builds them, from push to refusal.

use std::fs;

use super::machine;
use super::project::Project;
use super::refusals::{ALONE, LOCKED_ALONE};
use crate::harness::{Bump, Server, Team, eventually, failed_builds};

/// What a sleeping process is started with here, so that it is found again.
const SLEEP: &str = "98765";
const LOG_BYTES_MAX: usize = 100 << 10;
/// The script, the refusal, and what the log has.
struct Case {
    name: &'static str,
    script: String,
    refusal: &'static str,
    told: &'static str,
}

fn case(name: &'static str, body: &str, refusal: &'static str, told: &'static str) -> Case {
    let script = format!("//! A build script.\n\nfn main() {{\n{body}\n}}\n");
    Case { name, script, refusal, told }
}

/// Tries all at once, and tells what it got at.
fn reaching(server: &Server) -> String {
    let (data, address) = (server.data().display(), server.address());
    format!(
        r#"
    use std::{{fs, net}};
    let attempts: Vec<(&str, std::io::Result<()>)> = vec![
        ("passwords", fs::read("/etc/shadow").map(drop)),
        ("the master key", fs::read("{data}/keys/master.key").map(drop)),
        ("the scratch directories", fs::read_dir("{data}/scratch").map(drop)),
        ("the server", net::TcpStream::connect("{address}").map(drop)),
        ("the world", net::TcpStream::connect("1.1.1.1:443").map(drop)),
        ("a name", net::ToSocketAddrs::to_socket_addrs("example.com:443").map(drop)),
        ("its lock file", fs::write("Cargo.lock", "")),
        ("its sources", fs::write("src/more.rs", "")),
        ("the compiler", fs::write(std::env::var("RUSTC").unwrap(), "")),
        ("the system", fs::write("/usr/bin/cc", "")),
        ("a root", fs::write("/file", "")),
    ];
    for (name, attempt) in &attempts {{
        if attempt.is_ok() {{
            eprintln!("REACHED {{name}}");
        }}
    }}
    if fs::read("/proc/1/environ").is_ok_and(|environment| !environment.is_empty()) {{
        eprintln!("REACHED an environment");
    }}
    panic!("tried all {{}}", attempts.len() + 1);"#
    )
}

fn cases(server: &Server) -> Vec<Case> {
    // Cargo would wait for whoever still has the script's output.
    let silent = ["stdin", "stdout", "stderr"].map(|stream| format!(".{stream}(std::process::Stdio::null())")).concat();
    let sleep = format!("std::process::Command::new(\"setsid\").args([\"sleep\", \"{SLEEP}\"]){silent}");
    let component = "/build/target/wasm32-wasip2/release/alone.wasm";
    vec![
        case("reaches out", &reaching(server), "compile failed", "tried all 12"),
        case("goes on in the background", &format!("    {sleep}.spawn().unwrap();"), "inspect failed (exports)", ""),
        case(
            "starts processes without end",
            &format!("    while {sleep}.spawn().is_ok() {{}}\n    panic!(\"no more\");"),
            "compile failed",
            "no more",
        ),
        case(
            "writes without end",
            "    let mut file = std::fs::File::create(\"/build/large\").unwrap();\n    \
                 while std::io::Write::write_all(&mut file, &[0; 1 << 20]).is_ok() {}\n    panic!(\"no more\");",
            "compile failed",
            "",
        ),
        case(
            "prints much",
            "    (0..400_000).for_each(|n| println!(\"{n} and so on and so on and so on\"));\n    panic!(\"no more\");",
            "compile failed",
            "bytes left out",
        ),
        case(
            "puts a link in the component's place",
            &format!(
                "    std::fs::create_dir_all(\"/build/target/wasm32-wasip2/release\").unwrap();\n    \
                 let _ = std::fs::remove_file(\"{component}\");\n    \
                 std::os::unix::fs::symlink(\"/etc/passwd\", \"{component}\").unwrap();"
            ),
            "inspect failed (exports)",
            "",
        ),
    ]
}

#[test]
fn build_scripts_reach_nothing_and_leave_nothing() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    for Case { name, script, refusal, told } in cases(&server) {
        let tool = Project::new(&team).with("Cargo.toml", ALONE).with("Cargo.lock", LOCKED_ALONE);
        let tool = tool.with("src/lib.rs", "//! Nothing.\n").with("build.rs", &script);
        let answer = tool.publish(Bump::Minor);
        answer.expect(400);
        assert!(answer.detail().contains(refusal), "{name}: {answer}");

        let log = &failed_builds(server.data(), tool.id())[0].log;
        println!("{name:<38} {}", answer.detail().lines().next().unwrap_or_default());
        assert!(log.contains(told) && !log.contains("REACHED") && log.len() <= LOG_BYTES_MAX, "{name}: {log}");
        let versions = team.get(&format!("/tool/{}/version", tool.id()));
        assert!(!versions.to_string().contains("1.0.0"), "{name}: {versions}");
        let scratch = fs::read_dir(server.data().join("scratch")).expect("a directory");
        assert_eq!(scratch.count(), 0, "{name}: the scratch directory is there");
        eventually("the end of all that it started", || sleeping().is_empty().then_some(()));
        // The tool is free again.
        tool.publish(Bump::Minor).expect(400);
    }
}

/// Processes that a script here started.
fn sleeping() -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("processes").filter_map(Result::ok);
    let lines = processes.filter_map(|process| fs::read_to_string(process.path().join("cmdline")).ok());
    lines.filter(|line| line.starts_with("sleep\0") && line.contains(SLEEP)).collect()
}
