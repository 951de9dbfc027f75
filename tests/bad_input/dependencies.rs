//! Packages: only by exact version and hash, and without their native code.

use serde_json::json;

use super::{mended, refused};
use crate::harness::{Bump, Options, PackageIndex, Server, Team, Tool, lock_line, package_wheel, wheel};

const PURE: &str = "pure_greeting-1.0-py3-none-any.whl";
const NATIVE: &str = "native_speed-1.0-cp314-cp314-manylinux_2_17_x86_64.whl";
const DAMAGED: &str = "damaged-1.0-py3-none-any.whl";

fn pure() -> Vec<u8> {
    let files = [
        ("pure_greeting/__init__.py", "from .words import WORD\n\ndef greet(name):\n    return WORD + name\n"),
        ("pure_greeting/words.py", "WORD = 'salve '\n"),
    ];
    package_wheel("pure_greeting", "1.0", &files)
}

/// Other contents than `pure`, which the shared cache may already have.
fn html() -> Vec<u8> {
    let source = format!("WORD = 'ave'  # {}\n", std::process::id());
    package_wheel("html-greeting", "1.0", &[("html_greeting.py", &source)])
}

/// A package that needs its native code.
fn native() -> Vec<u8> {
    let files = [
        ("native_speed/__init__.py", "from .inner import fast\n"),
        ("native_speed/inner.py", "from ._speed import fast\n"),
        ("native_speed/_speed.cpython-314-x86_64-linux-gnu.so", "\u{7f}ELF"),
    ];
    package_wheel("native_speed", "1.0", &files)
}

/// A package that works without its native code, reads its data and its metadata.
fn fallback(platform: &str) -> Vec<u8> {
    let source = "import os\nfrom importlib.metadata import version\ntry:\n    from ._speed import fast\n\
        except ImportError:\n    fast = None\n\
        with open(os.path.join(os.path.dirname(__file__), 'words.txt')) as file:\n    WORD = file.read()\n\
        VERSION = version('native-fallback')\n";
    let files = [
        ("native_fallback/__init__.py", source),
        ("native_fallback/words.txt", platform),
        ("native_fallback/_speed.so", "\u{7f}ELF"),
    ];
    package_wheel("native_fallback", "1.0", &files)
}

fn damaged() -> Vec<u8> {
    wheel(&[("damaged/__init__.py", "")])
}

/// A team on a server with an index that has three packages.
fn team() -> Team {
    let packages: [(&str, &str, &[u8]); 3] =
        [("pure-greeting", PURE, &pure()), ("native-speed", NATIVE, &native()), ("damaged", DAMAGED, &damaged())];
    let index = PackageIndex::serve(&packages);
    Team::on(&Server::private(&Options { python_index: Some(index.url), ..Options::default() }))
}

fn locked<'t>(team: &'t Team, lock: &str) -> Tool<'t> {
    team.next_tool().with_file("requirements.lock", lock)
}

#[test]
fn a_pure_wheel_is_imported_by_the_tool() {
    let team = team();
    let lock = lock_line("pure-greeting", "1.0", &pure());
    let source = "import pure_greeting";
    let tool = locked(&team, &lock).source(source, "return pure_greeting.greet(tool_input['name'])").published();
    assert_eq!(tool.invoke(json!({"name": "ada"})).output(), "salve ada");
    let detail = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
    assert!(detail["build_log"].as_str().is_some_and(|log| log.contains("pure-greeting==1.0")), "{detail}");
    // The same commit gives the same bytes, now from the cache.
    tool.publish(Bump::Patch).expect(201);
    let again = team.get(&format!("/tool/{}/version/1.0.1", tool.id()));
    assert_eq!(again["component_digest"], detail["component_digest"]);
    assert_eq!(again["bundle_digest"], detail["bundle_digest"]);
}

/// The package, its metadata, and the messages for another name or version.
#[test]
fn a_hash_pins_the_package_that_its_wheel_names() {
    let (other, index) = (pure(), PackageIndex::serve(&[("safelib", PURE, &pure()), ("pure-greeting", PURE, &pure())]));
    let team = Team::on(&Server::private(&Options { python_index: Some(index.url), ..Options::default() }));
    let refused_as_another = |name: &str, version: &str| {
        let tool = locked(&team, &lock_line(name, version, &other)).pushed();
        let words = ["(identity)", "requirements.lock:1: ", &format!("{name}=={version}"), "is pure-greeting 1.0"];
        refused(&team, &tool, &words);
        mended(tool);
    };
    // Before the cache has the wheel, and afterwards.
    refused_as_another("safelib", "1.0");
    refused_as_another("pure-greeting", "2.0.0");
    locked(&team, &lock_line("Pure_Greeting", "1.0.0", &other)).published();
    refused_as_another("safelib", "1.0");
    refused_as_another("pure-greeting", "2.0.0");
    // The cache has a wheel with the hash, but not for this package.
    let tool = locked(&team, &lock_line("nowhere", "1.0", &other)).pushed();
    refused(&team, &tool, &["(index)", "nowhere==1.0", "not in the package index"]);
    mended(tool);
}

/// Two organisations pin different wheels of one name and version. Each gets its own, from the caches of wheels and of
/// snapshots.
#[test]
fn packages_of_one_name_are_not_exchanged_between_organizations() {
    let wheels = ["one", "two"].map(|word| {
        let source = format!("WORD = '{word} {}'\n", std::process::id());
        package_wheel("twins", "1.0", &[("twins.py", &source)])
    });
    let [one, two] = wheels.each_ref().map(Vec::as_slice);
    let index = PackageIndex::serve(&[
        ("twins", "twins-1.0-1-py3-none-any.whl", one),
        ("twins", "twins-1.0-2-py3-none-any.whl", two),
    ]);
    let server = Server::private(&Options { python_index: Some(index.url), ..Options::default() });
    let teams = [Team::on(&server), Team::on(&server)];
    for _ in 0..2 {
        for ((team, wheel), word) in teams.iter().zip(&wheels).zip(["one", "two"]) {
            let tool = locked(team, &lock_line("twins", "1.0", wheel));
            let tool = tool.source("import twins", "return twins.WORD").published();
            assert_eq!(tool.invoke(json!({})).output(), format!("{word} {}", std::process::id()));
            let verified = team.post(&format!("/tool/{}/version/1.0.0/verify", tool.id()), &json!({})).expect(200);
            assert_eq!((&verified["identical"], &verified["signed"]), (&json!(true), &json!(true)), "{verified}");
        }
    }
}

#[test]
fn an_index_that_speaks_html_serves_too() {
    let index = PackageIndex::serve(&[("html-greeting", "html_greeting-1.0-py3-none-any.whl", &html())]);
    let url = index.url.replace("/simple", "/html");
    let team = Team::on(&Server::private(&Options { python_index: Some(url), ..Options::default() }));
    let tool = locked(&team, &lock_line("html-greeting", "1.0", &html()));
    let tool = tool.source("import html_greeting", "return html_greeting.WORD").published();
    assert_eq!(tool.invoke(json!({})).output(), "ave");
}

#[test]
fn packages_without_a_hash_are_refused() {
    let team = team();
    let check = |lock: &str, words: &[&str]| {
        let tool = locked(&team, lock).pushed();
        refused(&team, &tool, &[&["dependencies failed"], words].concat());
        tool.test(&json!({})).expect(400);
        mended(tool);
    };
    let other = lock_line("pure-greeting", "1.0", b"other bytes");
    check("pure-greeting==1.0\n", &["requirements.lock:1: ", "pure-greeting", "--hash"]);
    check("\n\npure-greeting>=1.0 --hash=sha256:00\n", &["requirements.lock:3: ", "pinned"]);
    check("pure-greeting==1.0 --hash=md5:00\n", &["requirements.lock:1: ", "sha256"]);
    check(&other, &["(hashes)", "requirements.lock:1: ", "pure-greeting==1.0"]);
    check(&lock_line("damaged", "1.0", &damaged()), &["(wheel)", "damaged==1.0", "no METADATA"]);
    check(&lock_line("nowhere", "1.0", b""), &["(index)", "nowhere==1.0", "not in the package index"]);
    check("--index-url https://example.com\n", &["requirements.lock:1: ", "not a pinned package"]);
    check("./local.whl\n", &["requirements.lock:1: "]);
    check("pure-greeting==1.0 ; extra == 'x' --hash=sha256:00\n", &["(marker)", "pure-greeting: a marker"]);
}

/// The chain of imports, from the author's line to the native module.
#[test]
fn a_package_that_needs_its_native_code_is_refused_when_the_tool_imports_it() {
    let team = team();
    let tool = locked(&team, &lock_line("native-speed", "1.0", &native()));
    let tool = tool.source("import native_speed", "return native_speed.fast()").pushed();
    let chain = "(tool.py:1 → native_speed → native_speed.inner → native_speed._speed)";
    refused(&team, &tool, &["compile failed (import): tool.py:1: ", chain, "no native code", "native-speed==1.0"]);
    mended(tool);
}

/// Advice about installations of another kind does not help.
#[test]
fn a_package_that_answers_a_failed_import_with_advice_is_told_by_the_failed_import() {
    let source = "try:\n    from ._speed import fast\nexcept ImportError as error:\n    \
        raise ImportError('\\n\\nPLEASE READ THIS\\n') from error\n";
    let files = [("advising/__init__.py", source), ("advising/_speed.so", "\u{7f}ELF")];
    let wheel = package_wheel("advising", "1.0", &files);
    let index = PackageIndex::serve(&[("advising", "advising-1.0-cp314-cp314-win_amd64.whl", &*wheel)]);
    let team = Team::on(&Server::private(&Options { python_index: Some(index.url), ..Options::default() }));
    let tool = locked(&team, &lock_line("advising", "1.0", &wheel));
    let tool = tool.source("import advising", "return advising.fast()").pushed();
    let reason =
        "tool.py:1: ModuleNotFoundError: cannot import 'advising._speed' (tool.py:1 → advising → advising._speed)";
    refused(&team, &tool, &[reason, "no native code", "advising==1.0"]);
    mended(tool);
}

/// The choice of the wheel does not depend on the cache.
#[test]
fn a_package_that_works_without_its_native_code_is_used() {
    let [linux, windows] = ["linux", "windows"].map(fallback);
    let named = |platform: &str| format!("native_fallback-1.0-cp314-cp314-{platform}.whl");
    let (first, second) = (named("win_amd64"), named("manylinux_2_17_x86_64"));
    let files = [("native-fallback", &*first, &*windows), ("native-fallback", &*second, &*linux)];
    let index = PackageIndex::serve(&files);
    let team = Team::on(&Server::private(&Options { python_index: Some(index.url), ..Options::default() }));
    let only = lock_line("native-fallback", "1.0", &windows);
    let both =
        format!("{} {}", only.trim(), lock_line("native-fallback", "1.0", &linux).split_once(' ').expect("a hash").1);
    for (lock, word) in [(only, "windows"), (both, "linux")] {
        let body = "return [native_fallback.fast, native_fallback.WORD, native_fallback.VERSION]";
        let tool = locked(&team, &lock).source("import native_fallback", body).published();
        assert_eq!(tool.invoke(json!({})).json(), json!([null, word, "1.0"]));
        let detail = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
        let line = "native-fallback==1.0 is used without its native files: native_fallback/_speed.so";
        assert!(detail["build_log"].as_str().is_some_and(|log| log.contains(line)), "{detail}");
    }
}

#[test]
fn dependencies_without_a_lock_file_are_refused_with_the_command_that_makes_one() {
    let team = Team::new();
    let manifest = "[project]\nname = \"needy\"\ndependencies = [\"attrs\"]\n";
    let tool = team.tool("needy").with_file("pyproject.toml", manifest).pushed();
    refused(&team, &tool, &["dependencies failed (lock-file): requirements.lock: ", "uv export"]);
    let tool = tool.with_file("uv.lock", "version = 1\n").pushed();
    refused(&team, &tool, &["(lock-file)", "uv.lock has to be exported"]);
    mended(tool);
}

/// The texts that uv 0.13.9 writes after `uv add "amigo_tool_scaffold @ URL"`. The index has another package of the name.
#[test]
fn the_platforms_own_package_is_known_by_name() {
    let project = "[project]\nname = \"own\"\ndependencies = [\n    \"amigo-tool-scaffold\",\n    \"pure-greeting\",\n]\n\n\
        [tool.lathe]\n\n[tool.uv.sources]\namigo-tool-scaffold = { url = \"http://user:token@127.0.0.1:1/scaffold.tar.gz\" }\n";
    let hash = format!("--hash=sha256:{}", "7d".repeat(32));
    let exported = format!(
        "# This file was autogenerated by uv via the following command:\n\
         #    uv export --no-dev --no-emit-project --format requirements-txt -o requirements.lock\n\
         amigo-tool-scaffold @ http://user:token@127.0.0.1:1/scaffold.tar.gz \\\n    {hash}\n    # via own\n"
    );
    let other = package_wheel("amigo-tool-scaffold", "9.0", &[("amigo_tool_scaffold/metadata.py", "raise SystemExit")]);
    let named = ("amigo-tool-scaffold", "amigo_tool_scaffold-9.0-py3-none-any.whl", &*other);
    let index = PackageIndex::serve(&[("pure-greeting", PURE, &pure()), named]);
    let team = Team::on(&Server::private(&Options { python_index: Some(index.url), ..Options::default() }));
    let greeting = lock_line("pure-greeting", "1.0", &pure());
    for lock in
        [format!("{exported}{greeting}"), format!("{}{greeting}", lock_line("amigo_tool_scaffold", "9.0", &other))]
    {
        let tool = locked(&team, &lock).with_file("pyproject.toml", project);
        let source = "import pure_greeting\nfrom amigo_tool_scaffold.metadata import Metadata";
        let tool = tool.source(source, "return pure_greeting.greet(type(metadata).__name__)").published();
        assert_eq!(tool.invoke(json!({})).output(), "salve Metadata");
        let detail = team.get(&format!("/tool/{}/version/1.0.0", tool.id()));
        let log = detail["build_log"].as_str().expect("a log");
        let says_so = |line: &str| {
            line.contains(": amigo-tool-scaffold is the platform's own: the build uses the release of this")
        };
        assert!(log.lines().any(says_so) && !log.contains("token"), "{log}");
    }
    let alone = "[project]\nname = \"own\"\ndependencies = [\"amigo-tool-scaffold\"]\n\n[tool.lathe]\n";
    team.next_tool().with_file("pyproject.toml", alone).published();
}

#[test]
fn a_server_without_an_index_says_so() {
    let team = Team::new();
    let tool = team.tool("needy").with_file("requirements.lock", &lock_line("attrs", "25.1.0", b"")).pushed();
    refused(&team, &tool, &["dependencies failed (index)", "attrs==25.1.0", "LATHE_PYTHON_INDEX"]);
    assert_eq!(tool.publish(Bump::Minor).status, 400);
    mended(tool);
}

#[test]
fn a_lock_file_that_is_older_than_the_project_is_refused_with_what_differs() {
    let team = team();
    let lock = lock_line("pure-greeting", "1.0", &pure());
    let tool = locked(&team, &lock).source("import pure_greeting", "return pure_greeting.greet('you')");
    let project = |dependencies: &str| {
        format!("[project]\nname = \"greets\"\ndependencies = [\n{dependencies}]\n\n[tool.lathe]\n")
    };
    let mut tool = tool.with_file("pyproject.toml", &project("    \"Pure_Greeting>=1,<2\",\n")).published();
    for (dependencies, words) in [
        (
            "    \"pure-greeting>=1\",\n    \"six\",\n",
            ["(stale)", "pyproject.toml:5: \"six\" is not in requirements.lock", "uv export"],
        ),
        (
            "    \"pure-greeting>=1.1\",\n",
            ["pyproject.toml:4: ", "does not accept the version 1.0 of requirements.lock:1", "uv export"],
        ),
        ("    \"pure-greeting==1.*,!=1.0\",\n", ["dependencies failed (stale)", "pyproject.toml:4: ", "version 1.0"]),
    ] {
        tool = tool.with_file("pyproject.toml", &project(dependencies)).pushed();
        refused(&team, &tool, &words);
    }
    let elsewhere = "    \"pure-greeting~=1.0\",\n    \"pywin32; sys_platform == 'win32'\",\n";
    let tool = tool.with_file("pyproject.toml", &project(elsewhere)).pushed();
    tool.publish(Bump::Patch).expect(201);
}
