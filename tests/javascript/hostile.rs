//! Projects that try to make esbuild read files outside of the project.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{empty, server};
use crate::harness::{Bump, Options, Team};

const CANARY: &str = "canary-of-the-machine";

#[test]
fn nothing_outside_of_the_project_becomes_part_of_it() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let directory = tempfile::TempDir::new().expect("a directory");
    std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755)).expect("permissions");
    for (file, text) in [("a.txt", CANARY.to_owned()), ("a.json", format!("{{\"canary\": \"{CANARY}\"}}"))] {
        std::fs::write(directory.path().join(file), text).expect("written");
    }
    std::fs::write(directory.path().join("tsconfig.json"), "{\"compilerOptions\": {\"strict\": true}}")
        .expect("written");
    let outside = directory.path().to_str().expect("UTF-8");
    let up = "../".repeat(12);
    let import = |from: &str| format!("import a from '{from}';\nexport const runTool = () => JSON.stringify(a);\n");

    let cases: [(&str, Value, String, Option<String>); 9] = [
        ("absolute", json!({}), import(&format!("{outside}/a.txt")), None),
        ("absolute_json", json!({}), import(&format!("{outside}/a.json")), None),
        ("upwards", json!({}), import(&format!("./{up}{}/a.txt", outside.trim_start_matches('/'))), None),
        ("process", json!({}), import("/proc/self/environ.txt"), None),
        ("browser", json!({"browser": {"./b.txt": format!("{outside}/a.txt")}}), import("./b.txt"), None),
        ("imports", json!({"imports": {"#a": format!("{outside}/a.txt")}}), import("#a"), None),
        (
            "paths",
            json!({}),
            import("b"),
            Some(format!("{{\"compilerOptions\": {{\"paths\": {{\"b\": [\"{outside}/a.txt\"]}}}}}}")),
        ),
        ("base", json!({}), import("a.txt"), Some(format!("{{\"compilerOptions\": {{\"baseUrl\": \"{outside}\"}}}}"))),
        ("entry", json!({"lathe": {"entry_point": "index.ts"}}), format!("export * from '{outside}/a.json';\n"), None),
    ];
    for (name, package, source, tsconfig) in cases {
        let mut tool = empty(&team, name, &package).with_file("index.ts", &source);
        if let Some(tsconfig) = tsconfig {
            tool = tool.with_file("tsconfig.json", &tsconfig);
        }
        let tool = tool.pushed();
        let answer = tool.publish(Bump::Minor);
        answer.expect(400);
        assert!(answer.detail().contains("bundle failed"), "{name}: {answer}");
        assert!(!answer.detail().contains(CANARY), "{name}: {answer}");
    }

    let own = empty(&team, "own", &json!({})).with_file("index.ts", &import("./own.txt")).with_file("own.txt", "mine");
    assert_eq!(own.published().invoke(json!({})).output(), "\"mine\"", "a file of the project's own can be imported");
}
