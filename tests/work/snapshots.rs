//! Packages of Python tools are imported once, when their snapshot is made, and not in every run.

use serde_json::{Value, json};

use crate::egress::libraries::REQUESTS_LOCK;
use crate::harness::{Bump, Options, PackageIndex, Server, Team, Tool, lock_line, needs, package_wheel};

const WHEEL: &str = "-1.0-py3-none-any.whl";

/// A package of one module.
fn package(name: &str, source: &str) -> (String, Vec<u8>) {
    (name.to_owned(), package_wheel(name, "1.0", &[(&format!("{name}.py"), source)]))
}

/// A team with an index of these packages, and a lock file with all of them.
fn team(packages: &[(String, Vec<u8>)]) -> (PackageIndex, Team, String) {
    let files: Vec<_> = packages.iter().map(|(name, _)| format!("{name}{WHEEL}")).collect();
    let served: Vec<_> = packages
        .iter()
        .zip(&files)
        .map(|((name, wheel), file)| (name.as_str(), file.as_str(), wheel.as_slice()))
        .collect();
    let index = PackageIndex::serve(&served);
    let team = Team::on(&Server::private(&Options { python_index: Some(index.url.clone()), ..Options::default() }));
    let lock = packages.iter().map(|(name, wheel)| lock_line(name, "1.0", wheel)).collect();
    (index, team, lock)
}

fn version(team: &Team, tool: &Tool<'_>, version: &str) -> Value {
    team.get(&format!("/tool/{}/version/{version}", tool.id()))
}

fn build_log(team: &Team, tool: &Tool<'_>) -> String {
    version(team, tool, "1.0.0")["build_log"].as_str().expect("a log").to_owned()
}

const LOADED: &str = "import sys\nLOADED = sorted({'words', 'dice', 'loud', 'lost'} & set(sys.modules))";

/// setuptools does this with the packages that it contains.
#[test]
fn a_package_may_add_one_of_its_directories_to_the_path() {
    let source = "import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), 'own'))\n\
        from space.words import WORD\nimport single\nWORDS = [WORD, single.WORD]\n";
    let files = [
        ("boxed/__init__.py", source),
        ("boxed/own/space/words.py", "WORD = 'ave'\n"),
        ("boxed/own/single.py", "WORD = 'salve'\n"),
    ];
    let (_index, team, lock) = team(&[("boxed".to_owned(), package_wheel("boxed", "1.0", &files))]);
    let tool = team.tool("reader").with_file("requirements.lock", &lock).source("import boxed", "return boxed.WORDS");
    assert_eq!(tool.published().invoke(json!({})).json(), json!(["ave", "salve"]));
}

#[test]
fn modules_imported_once_are_available_in_every_run_and_tool() {
    let words = package("words", "import random\nWORDS = ['ave']\n");
    let (_index, team, lock) = team(&[words]);
    let tool = |name: &str, body: &str| {
        let before = format!("{LOADED}\nimport words, random");
        team.tool(name).with_file("requirements.lock", &lock).source(&before, body).published()
    };
    let first = tool("first", "words.WORDS.append('x')\nreturn [LOADED, words.WORDS, random.random()]");
    let runs = [first.invoke(json!({})).json(), first.invoke(json!({})).json()];
    for run in &runs {
        assert_eq!((&run[0], &run[1]), (&json!(["words"]), &json!(["ave", "x"])), "nothing stays of a run");
    }
    assert_ne!(runs[0][2], runs[1][2], "chance is not that of the snapshot");
    let second = tool("second", "return words.WORDS");
    assert_eq!(second.invoke(json!({})).json(), json!(["ave"]));
    let plain = team.tool("plain").body("return 'plain'").published();
    let image = |tool: &Tool<'_>| version(&team, tool, "1.0.0")["image_digest"].clone();
    assert_eq!(image(&first), image(&second), "the same packages");
    assert_ne!(image(&first), image(&plain));
    // Makes the snapshot again, as on another node.
    team.server.forget_snapshots();
    let verified = team.post(&format!("/tool/{}/version/1.0.0/verify", first.id()), &json!({})).expect(200);
    assert_eq!((&verified["identical"], &verified["signed"]), (&json!(true), &json!(true)), "{verified}");
}

#[test]
fn modules_that_differ_between_runs_are_imported_in_each_run() {
    let dice =
        package("dice", "import os, random, uuid\nFACES = [random.random(), uuid.uuid4().hex, os.urandom(8).hex()]\n");
    let loud = package("loud", "print('loud')\n");
    let lost = package("lost", "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1/')\n");
    let words = package("words", "WORD = 'ave'\n");
    let (_index, team, lock) = team(&[dice, loud, lost, words]);
    let tool = team.tool("mixed").with_file("requirements.lock", &lock);
    let body = "try:\n    import lost\nexcept OSError as error:\n    LOADED.append(type(error).__name__)\n\
        return [LOADED, dice.FACES, words.WORD]";
    let tool = tool.source(&format!("{LOADED}\nimport dice, loud, words"), body).published();
    let runs = [(); 2].map(|()| tool.invoke(json!({})));
    let said = runs.each_ref().map(super::super::harness::Run::json);
    for run in &said {
        assert_eq!((&run[0], &run[2]), (&json!(["words", "EgressRefused"]), &json!("ave")));
    }
    let faces = said.each_ref().map(|run| run[1].as_array().expect("a list").clone());
    assert!(faces[0].iter().zip(&faces[1]).all(|(one, other)| one != other), "chance of the snapshot: {faces:?}");
    for run in &runs {
        let record = team.get(&format!("/tool/invocation/{}", run.id()));
        assert!(record.to_string().contains("loud\\n"), "{record}");
    }
    let log = build_log(&team, &tool);
    for line in ["it draws random numbers", "loud is imported in each run: it prints", "lost is imported in each run: "]
    {
        assert!(log.contains(line), "{line:?} is not in {log}");
    }
    assert!(!log.contains("words is imported"), "{log}");
}

/// A node without the snapshot loads it from the artifacts.
#[test]
fn a_snapshot_is_an_artifact_of_its_versions() {
    let unseen = format!("WORD = 'ave'  # {}\n", std::process::id());
    let (_index, team, lock) = team(&[package("words", &unseen)]);
    let tool = team.tool("kept").with_file("requirements.lock", &lock).source("import words", "return words.WORD");
    let tool = tool.published();
    let image = version(&team, &tool, "1.0.0")["image_digest"].as_str().expect("a digest").to_owned();
    let stored = team
        .server
        .artifacts()
        .iter()
        .filter(|(path, _)| image.ends_with(&*path.file_name().expect("a name").to_string_lossy()))
        .count();
    assert_eq!(stored, 1, "{image}");
    let id = tool.id().to_owned();
    team.server.kill();
    team.server.forget_code(image.trim_start_matches("sha256:"));
    let server = team.server.restarted(|_| ());
    let team = team.moved_to(server);
    assert_eq!(team.tool("kept").with_id(&id).invoke(json!({})).output(), "ave");
}

#[test]
fn a_module_of_the_project_takes_precedence_over_a_package() {
    let (_index, team, lock) = team(&[package("words", "WORD = 'of the package'\n")]);
    let tool =
        team.tool("own").with_file("requirements.lock", &lock).with_file("words.py", "WORD = 'of the project'\n");
    let tool = tool.source("import words", "return words.WORD").published();
    assert_eq!(tool.invoke(json!({})).output(), "of the project");
    tool.publish(Bump::Patch).expect(201);
}

const BUILDS: [&str; 2] = ["1.0.0", "1.0.1"];
const RUNS: usize = 20;

/// Prints the cost and the savings of a snapshot, for packages of the index that `LATHE_PYTHON_INDEX` names.
#[test]
fn costs_and_savings_of_a_snapshot_of_requests() {
    let Some(index) = needs::PYTHON_INDEX.require(std::env::var("LATHE_PYTHON_INDEX").ok()) else { return };
    let team = Team::on(&Server::private(&Options { python_index: Some(index), ..Options::default() }));
    // A module with a reserved name keeps the packages in the project's bundle.
    for (name, more) in [("snapshot", "notes.py"), ("bundle", "lathe_preload.py")] {
        let tool = team.tool(name).with_file("requirements.lock", REQUESTS_LOCK).with_file(more, "");
        let source = "import sys\nLOADED = 'requests' in sys.modules\nimport requests";
        let tool = tool.source(source, "return LOADED").published();
        tool.publish(Bump::Patch).expect(201);
        assert_eq!(tool.invoke(json!({})).json(), json!(name == "snapshot"));
        let mut runs: Vec<_> = (0..RUNS).map(|_| tool.invoke(json!({})).duration_ms()).collect();
        runs.sort_unstable();
        println!("requests in the {name}: a run takes {} ms", runs[RUNS / 2]);
        for number in BUILDS {
            let log = version(&team, &tool, number)["build_log"].as_str().expect("a log").to_owned();
            let steps: Vec<_> = log.lines().filter(|line| line.contains("done in")).collect();
            println!("    {number}: {}", steps.join("; "));
        }
    }
}
