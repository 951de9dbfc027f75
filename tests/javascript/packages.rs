//! npm packages by name, version and hash from a lock file. None of their code runs at build time.

use serde_json::{Value, json};

use super::{empty, server, typescript};
use crate::harness::{Attested, Bump, NpmRegistry, Options, Team, Tool, needs, npm_archive, npm_entry, npm_lock};

const BODY: &str = "return greet(toolInput.name);";
const BEFORE: &str = "import { greet } from 'greetings';";

fn words() -> Vec<u8> {
    npm_archive(&[
        ("package.json", r#"{"name": "@old/words", "version": "0.1.0", "main": "lib/words.js"}"#),
        ("lib/words.js", "exports.WORD = 'salve ';"),
    ])
}

/// A package with scripts that would fail if they ran.
fn greetings() -> Vec<u8> {
    let package = json!({
        "name": "greetings", "version": "1.2.0", "exports": {"types": "./index.d.ts", "import": "./index.mjs"},
        "scripts": {"preinstall": "exit 1", "install": "exit 1", "postinstall": "exit 1"},
    });
    npm_archive(&[
        ("package.json", &package.to_string()),
        ("index.mjs", "import { WORD } from '@old/words';\nexport const greet = (name) => WORD + name;\n"),
        ("index.d.ts", "export declare function greet(name: string): string;\n"),
    ])
}

fn locked() -> Vec<(&'static str, Value)> {
    vec![
        ("node_modules/greetings", npm_entry("1.2.0", &greetings())),
        ("node_modules/greetings/node_modules/@old/words", npm_entry("0.1.0", &words())),
        ("node_modules/only-for-development", json!({"version": "1.0.0", "dev": true})),
        ("node_modules/only-for-macs", json!({"version": "1.0.0", "optional": true, "os": ["darwin"]})),
    ]
}

fn project<'t>(team: &'t Team, name: &str, packages: &[(&str, Value)]) -> Tool<'t> {
    let dependencies = json!({"greetings": "^1.0.0"});
    let tool = typescript(team, name, &json!({"dependencies": dependencies}), BEFORE, BODY);
    tool.with_file("package-lock.json", &npm_lock(&dependencies, packages))
}

fn registry() -> NpmRegistry {
    NpmRegistry::serve(&[("greetings", "1.2.0", &greetings()), ("@old/words", "0.1.0", &words())])
}

fn with_registry(url: &str) -> Options {
    Options { environment: vec![("LATHE_NPM_REGISTRY".to_owned(), url.to_owned())], ..Options::default() }
}

#[test]
fn packages_of_the_lock_file_are_part_of_the_tool() {
    let Some(server) = server(with_registry(&registry().url)) else { return };
    let team = Team::on(&server);
    // Committed files below `node_modules` are ignored.
    let tool =
        project(&team, "greets", &locked()).with_file("node_modules/greetings/index.mjs", "throw 1;").published();
    assert_eq!(tool.invoke(json!({"name": "ada"})).output(), "salve ada");
    let detail = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    let log = detail["build_log"].as_str().expect("a log");
    assert!(log.contains("package greetings@1.2.0") && log.contains("package @old/words@0.1.0"), "{log}");
    assert!(!log.contains("only-for-development"), "{log}");
    assert!(log.contains("package-lock.json: packages for development are left out: 1"), "{log}");
    assert!(log.contains("which are for certain machines, are left out: only-for-macs"), "{log}");
    tool.publish(Bump::Patch).expect(201);
    let again = team.get(&format!("/tool/{}/version/1.0.1", tool.id()));
    assert_eq!(again["component_digest"], detail["component_digest"], "the same commit gives the same bytes");
    let verified = team.post(&format!("/tool/{}/version/1.0.1/verify", tool.id()), &json!({})).expect(200);
    assert_eq!((&verified["identical"], &verified["signed"]), (&json!(true), &json!(true)), "{verified}");
    let sbom = team.get(&format!("/tool/{}/version/1.0.1/sbom", tool.id())).to_string();
    for url in ["pkg:npm/greetings@1.2.0", "pkg:npm/%40old/words@0.1.0", "pkg:generic/esbuild@0."] {
        assert!(sbom.contains(url), "{url} is not in {sbom}");
    }
    Attested::of(&team, "greets", "1.0.1").others_verify();
}

#[test]
fn the_apis_of_a_tool_import_packages() {
    let Some(server) = server(with_registry(&registry().url)) else { return };
    let team = Team::on(&server);
    let dependencies = json!({"greetings": "^1.0.0"});
    let package = json!({"dependencies": dependencies, "lathe": {"apis": {"hail": {"description": "Greets."}}}});
    let code = format!("{BEFORE}\nexport const hail = ({{ toolInput }}: any) => greet(toolInput.name);\n");
    let tool = empty(&team, "greets", &package).with_file("index.ts", &code);
    let tool = tool.with_file("package-lock.json", &npm_lock(&dependencies, &locked())).published();
    assert_eq!(tool.invoke(json!({"api": "hail", "arguments": {"name": "ada"}})).output(), "salve ada");
    let verified = team.post(&format!("/tool/{}/version/1.0.0/verify", tool.id()), &json!({})).expect(200);
    assert_eq!(verified["identical"], true, "{verified}");
}

/// A verification downloads all packages again.
#[test]
fn a_version_with_packages_is_verified_without_leftovers_of_earlier_builds() {
    let Some(server) = server(with_registry(&registry().url)) else { return };
    let team = Team::on(&server);
    drop(server);
    let id = project(&team, "remade", &locked()).published().id().to_owned();
    // Another registry, without packages.
    let nothing = NpmRegistry::serve(&[]);
    team.server.kill();
    let server = team.server.restarted(|options| {
        options.environment.retain(|(name, _)| name != "LATHE_NPM_REGISTRY");
        options.environment.extend(with_registry(&nothing.url).environment);
    });
    let team = team.moved_to(server);
    let refused = team.post(&format!("/tool/{id}/version/1.0.0/verify"), &json!({})).expect(400);
    assert!(refused["detail"].to_string().contains("is not in the npm registry"), "{refused}");
    // A publication takes the packages from the cache.
    let again = team.tool("remade").with_id(&id).publish(Bump::Patch);
    assert_eq!(again.status, 201, "{again}");
}

#[test]
fn packages_that_differ_from_the_lock_file_are_refused() {
    let Some(server) = server(with_registry(&registry().url)) else { return };
    let team = Team::on(&server);
    let refused = |name: &str, change: &dyn Fn(&mut Value), words: &[&str]| {
        let mut packages = locked();
        change(&mut packages[0].1);
        let tool = project(&team, name, &packages).pushed();
        let answer = tool.publish(Bump::Minor);
        answer.expect(400);
        for word in [&["dependencies failed", "package-lock.json:"], words].concat() {
            assert!(answer.detail().contains(word), "{word:?} is missing in: {answer}");
        }
    };
    let tampered = npm_entry("1.2.0", b"other bytes")["integrity"].clone();
    refused("tampered", &|entry| entry["integrity"] = tampered.clone(), &["(hashes)", "does not have the hash"]);
    refused("unknown", &|entry| *entry = npm_entry("9.9.9", b"new"), &["(registry)", "is not in the npm registry"]);
    refused("other", &|entry| entry["version"] = json!("1.3.0"), &["(archive)", "it holds greetings@1.2.0"]);
    // The archive of `greetings` is in the cache.
    project(&team, "honest", &locked()).published();
    refused("renamed", &|entry| entry["name"] = json!("safe-greetings"), &["(archive)", "it holds greetings@1.2.0"]);
    refused("git", &|entry| entry["resolved"] = json!("git+https://h.example/a.git#0123"), &["comes from"]);
    refused("link", &|entry| *entry = json!({"resolved": "../a", "link": true}), &["is a directory"]);
    refused("hashless", &|entry| entry["integrity"] = json!("sha1-AAAA"), &["(hashes)", "no sha512"]);
    let drifted =
        project(&team, "drifted", &locked()).with_file("package-lock.json", &npm_lock(&json!({}), &[])).pushed();
    assert!(drifted.publish(Bump::Minor).expect(400)["detail"].to_string().contains("other dependencies"));
}

#[test]
fn without_a_registry_dependencies_are_refused() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    // Unique bytes, which the shared cache does not have.
    let entry = npm_entry("1.2.0", &npm_archive(&[("index.js", &format!("// {}", std::process::id()))]));
    let tool = project(&team, "unfetched", &[("node_modules/greetings", entry)]).pushed();
    let detail = tool.publish(Bump::Minor).expect(400)["detail"].to_string();
    assert!(
        detail.contains("no npm registry is set; give one to `lathe tool test` or `lathe serve` with --npm-registry"),
        "{detail}"
    );
}

/// A package of one file.
fn single(name: &str, source: &str) -> (String, Vec<u8>) {
    let package = json!({"name": name, "version": "1.0.0", "type": "module", "exports": "./index.js"}).to_string();
    (name.to_owned(), npm_archive(&[("package.json", &package), ("index.js", source)]))
}

#[test]
fn packages_are_imported_once_or_in_each_run_if_runs_would_differ() {
    let babel = npm_archive(&[
        ("package.json", r#"{"name": "babel", "version": "1.0.0", "main": "index.js"}"#),
        ("index.js", "exports.__esModule = true; exports.default = 'inner'; exports.WORD = 'named';"),
    ]);
    let packages = [
        single(
            "calm",
            "export const WAS_LATE = Boolean(globalThis.late);\nexport const LIST = [];\nexport default 'own';",
        ),
        single("dice", "export const FACES = [Math.random(), crypto.randomUUID()];"),
        single("clock", "export const SEEN = new Date().getTime();"),
        single("timer", "export const FIRED = []; setTimeout(() => FIRED.push(1), 0);"),
        single("fails", "export const AT = Boolean(globalThis.late); if (!AT) throw new Error('too early');"),
        ("babel".to_owned(), babel),
    ];
    let served: Vec<_> = packages.iter().map(|(name, bytes)| (name.as_str(), "1.0.0", bytes.as_slice())).collect();
    let registry = NpmRegistry::serve(&served);
    let Some(server) = server(with_registry(&registry.url)) else { return };
    let team = Team::on(&server);
    let dependencies: Value = packages.iter().map(|(name, _)| (name.clone(), json!("1.0.0"))).collect();
    let locked: Vec<_> =
        packages.iter().map(|(name, bytes)| (format!("node_modules/{name}"), npm_entry("1.0.0", bytes))).collect();
    let locked: Vec<_> = locked.iter().map(|(path, entry)| (path.as_str(), entry.clone())).collect();
    let before = "import './late';\nimport calm, { LIST, WAS_LATE } from 'calm';\nimport { FACES } from 'dice';\n\
        import { SEEN } from 'clock';\nimport { FIRED } from 'timer';\nimport { AT } from 'fails';\n\
        import babel, { WORD } from 'babel';";
    let body = "LIST.push('x'); return [[WAS_LATE, calm, LIST, AT, WORD, babel], FACES, SEEN > 1e12, FIRED, Math.random(), crypto.randomUUID()];";
    let tool = typescript(&team, "mixed", &json!({"dependencies": dependencies}), before, body);
    let tool = tool.with_file("package-lock.json", &npm_lock(&dependencies, &locked));
    let tool = tool.with_file("late.ts", "globalThis.late = true;").published();
    let runs = [(); 2].map(|()| tool.invoke(json!({})).json());
    for run in &runs {
        let babel = json!({"__esModule": true, "default": "inner", "WORD": "named"});
        assert_eq!(run[0], json!([false, "own", ["x"], true, "named", babel]), "{run}");
        assert_eq!((&run[2], &run[3]), (&json!(true), &json!([])), "{run}");
    }
    for chance in ["/1/0", "/1/1", "/4", "/5"] {
        assert_ne!(runs[0].pointer(chance), runs[1].pointer(chance), "{chance} is not that of the snapshot");
    }
    let detail = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    let log = detail["build_log"].as_str().expect("a log");
    for line in [
        "dice is imported in each run: it takes random bytes",
        "clock is imported in each run: Error: it looks at the time",
        "timer is imported in each run: Error: it starts a timer",
        "fails is imported in each run: Error: too early",
    ] {
        assert!(log.contains(line), "{line:?} is not in {log}");
    }
    assert!(!log.contains("calm is") && !log.contains("babel is"), "{log}");
    // The snapshot is made again, as on another node.
    team.server.forget_snapshots();
    let verified = team.post(&format!("/tool/{}/version/1.0.0/verify", tool.id()), &json!({})).expect(200);
    assert_eq!(verified["identical"], json!(true), "{verified}");
}

const ZOD: &str = "
import * as z from 'zod';
export const inputSchema = z.object({ name: z.string().min(1).describe('Whom to greet'), times: z.int().default(2) });
";

/// The real zod from the registry in `LATHE_NPM_REGISTRY`. Without the variable, the test does nothing.
#[test]
fn zod_gives_the_schema_and_parses_the_input() {
    let Some(url) = needs::NPM_REGISTRY.require(std::env::var("LATHE_NPM_REGISTRY").ok()) else { return };
    let Some(server) = server(with_registry(&url)) else { return };
    let team = Team::on(&server);
    let dependencies = json!({"zod": "4.6.7"});
    let integrity = "sha512-g8W2D2kU6a8untc053fX1uVBKzM7yqAxW/3zwk83+6RyF2+SKOuV+c0wBDhUwzV1PaGapmZH+rmcUzPf+3CGwg==";
    let lock = npm_lock(&dependencies, &[("node_modules/zod", json!({"version": "4.6.7", "integrity": integrity}))]);
    let source =
        format!("{ZOD}\nexport const runTool = ({{ toolInput }}) => toolInput.name.repeat(toolInput.times);\n");
    let tool = empty(&team, "zod", &json!({"dependencies": dependencies})).with_file("package-lock.json", &lock);
    let tool = tool.with_file("index.js", &source).published();
    let schema = team.get(&format!("/tool/{}/version/1.0.0", tool.id()))["input_schema"].clone();
    assert_eq!(schema["required"], json!(["name"]), "{schema}");
    assert_eq!(schema["properties"]["name"]["description"], "Whom to greet", "{schema}");
    assert_eq!(tool.invoke(json!({"name": "Ada"})).output(), "AdaAda");
}
