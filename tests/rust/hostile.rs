//! Build scripts that attack the machine which builds them, from push to refusal.

use std::fs;

use super::machine;
use super::project::Project;
use super::refusals::{ALONE, LOCKED_ALONE};
use crate::harness::{Bump, Server, Team, eventually, failed_builds};

/// The argument that identifies sleeping processes of these tests.
const SLEEP: &str = "98765";
const LOG_BYTES_MAX: usize = 100 << 10;
const DETAIL_BYTES_MAX: usize = 8 << 10;
/// The name, the script, the refusal, and the words of the log.
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

/// A build script that tries all attacks and prints the successful ones.
fn reaching(server: &Server) -> String {
    let (data, address) = (server.data().display(), server.address());
    format!(
        r#"
    use std::{{fs, io::Error, net}};
    unsafe extern "C" {{
        fn syscall(number: i64, ...) -> i64;
    }}
    let call = |number: i64, [one, two, three]: [i64; 3]| match unsafe {{ syscall(number, one, two, three, 0, 0) }} {{
        -1 => Err(Error::last_os_error()),
        _ => Ok(()),
    }};
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
        ("the crates", fs::write("/vendor/file", "")),
        ("the files of others", fs::read_dir("/home").and_then(|mut all| all.next().ok_or(Error::other("none"))).map(drop)),
        ("a process", call(101, [16, 1, 0])),
        ("a mount", call(165, [c"none".as_ptr() as i64, c"/tmp".as_ptr() as i64, c"tmpfs".as_ptr() as i64])),
        ("the kernel", call(175, [0, 0, 0])),
        ("another user", call(105, [0, 0, 0])),
        ("a raw socket", call(41, [17, 3, 0])),
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
    // Cargo would wait for processes that still have the script's output open.
    let silent = ["stdin", "stdout", "stderr"].map(|stream| format!(".{stream}(std::process::Stdio::null())")).concat();
    let sleep = format!("std::process::Command::new(\"setsid\").args([\"sleep\", \"{SLEEP}\"]){silent}");
    let component = "/build/target/wasm32-wasip2/release/alone.wasm";
    vec![
        case("reaches out", &reaching(server), "compile failed", "tried all 19"),
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
            "makes a million files",
            "    let made = (0..1_000_000).take_while(|n| std::fs::File::create(format!(\"/build/file{n}\")).is_ok()).count();\n    \
                 panic!(\"{}\", if made < 1_000_000 { \"no more\" } else { \"all\" });",
            "compile failed",
            // The script cannot make more files, or exceeds the bound.
            "",
        ),
        case(
            "nests a hundred thousand directories",
            "    std::env::set_current_dir(\"/build\").unwrap();\n    \
                 let nest = || std::fs::create_dir(\"d\").and_then(|()| std::env::set_current_dir(\"d\"));\n    \
                 let made = (0..100_000).take_while(|_| nest().is_ok()).count();\n    \
                 panic!(\"{}\", if made < 100_000 { \"no more\" } else { \"all\" });",
            "compile failed",
            // The script cannot make more files, or exceeds the bound.
            "",
        ),
        case(
            "takes memory without end",
            "    let mut all = Vec::new();\n    loop {\n        all.push(vec![1_u8; 64 << 20]);\n    }",
            "compile failed",
            "",
        ),
        case(
            "prints much",
            "    (0..400_000).for_each(|n| println!(\"{n} and so on and so on and so on\"));\n    panic!(\"no more\");",
            "compile failed",
            "bytes of output left out",
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
fn hostile_build_scripts_reach_nothing_and_leave_no_processes() {
    let Some(server) = machine::server() else { return };
    let team = Team::on(&server);
    for Case { name, script, refusal, told } in cases(&server) {
        let tool = Project::new(&team).with("Cargo.toml", ALONE).with("Cargo.lock", LOCKED_ALONE);
        let tool = tool.with("src/lib.rs", "//! Nothing.\n").with("build.rs", &script);
        is_refused(&tool, &server, &Refused { name, words: &[refusal], told });
        eventually("the end of all that it started", || sleeping().is_empty().then_some(()));
    }
}

/// The expected end of a publication.
pub struct Refused<'a> {
    pub name: &'a str,
    /// Words of the answer, with the stage and the check.
    pub words: &'a [&'a str],
    /// Words of the build log.
    pub told: &'a str,
}

/// Asserts a 400 with its stage, a bounded log, no version, no scratch directory, and a tool that is free again.
#[track_caller]
pub fn is_refused(tool: &Project<'_>, server: &Server, Refused { name, words, told }: &Refused<'_>) {
    let answer = tool.publish(Bump::Minor);
    println!("{name:<38} {:.120}", answer.detail().lines().next().unwrap_or_default());
    assert_eq!((answer.status, answer.code().as_str()), (400, "build_failed"), "{name}: {answer}");
    assert!(words.iter().all(|word| answer.detail().contains(word)), "{name}: {words:?}: {answer}");
    assert!(answer.detail().len() <= DETAIL_BYTES_MAX, "{name}: {answer}");

    let log = &failed_builds(server.data(), tool.id())[0].log;
    assert!(log.contains(told) && !log.contains("REACHED") && log.len() <= LOG_BYTES_MAX, "{name}: {log}");
    let scratch = fs::read_dir(server.data().join("scratch")).expect("a directory");
    assert_eq!(scratch.count(), 0, "{name}: the scratch directory is there");
    assert!(tool.versions().is_empty(), "{name}");
    assert!(!tool.is_busy(), "{name}: its lease is held");
}

/// The processes that scripts of these tests have started.
fn sleeping() -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("processes").filter_map(Result::ok);
    let lines = processes.filter_map(|process| fs::read_to_string(process.path().join("cmdline")).ok());
    lines.filter(|line| line.starts_with("sleep\0") && line.contains(SLEEP)).collect()
}
