//! Packages of one organisation never become part of another organisation's tools, even with the same names and versions.

use serde_json::{Value, json};

use super::{server, typescript};
use crate::harness::{Bump, NpmRegistry, Options, Team, Tool, npm_archive, npm_entry, npm_lock};

const VERSION: &str = "1.0.0";

/// A package whose module exports a word.
fn package(name: &str, word: &str) -> Vec<u8> {
    let package = json!({"name": name, "version": VERSION, "main": "index.js"}).to_string();
    npm_archive(&[("package.json", &package), ("index.js", &format!("exports.WORD = '{word}';\n"))])
}

/// A project with the packages `greetings` and `words`, unchanged or with one attack.
struct Project {
    dependencies: Value,
    packages: Vec<(&'static str, Value)>,
    fields: Value,
    files: Vec<(&'static str, &'static str)>,
}

/// Words that no other test and no earlier run uses, since the tests' servers share their caches.
#[derive(Clone, Copy)]
struct Words {
    number: usize,
}

impl Words {
    fn greeting(self) -> String {
        format!("salve {} {}", std::process::id(), self.number)
    }

    fn archive(self, name: &str) -> Vec<u8> {
        package(name, &if name == "greetings" { self.greeting() } else { format!("not {}", self.greeting()) })
    }

    fn entry(self, name: &str) -> Value {
        let mut entry = npm_entry(VERSION, &self.archive(name));
        entry["name"] = json!(name);
        entry
    }

    fn honest(self) -> Project {
        let packages = ["greetings", "words"];
        Project {
            dependencies: json!({"greetings": VERSION, "words": VERSION}),
            packages: vec![
                ("node_modules/greetings", self.entry(packages[0])),
                ("node_modules/words", self.entry(packages[1])),
            ],
            fields: json!({}),
            files: Vec::new(),
        }
    }
}

/// The ways to replace the code of the same packages.
const ATTACKS: [fn(Words) -> Project; 6] = [
    // The packages swap directories, so that their order is the same.
    |words| Project {
        dependencies: json!({"aa": format!("npm:greetings@{VERSION}"), "greetings": format!("npm:words@{VERSION}")}),
        packages: vec![("node_modules/aa", words.entry("greetings")), ("node_modules/greetings", words.entry("words"))],
        ..words.honest()
    },
    |words| Project { fields: json!({"browser": {"greetings": "words"}}), ..words.honest() },
    |words| {
        let files = vec![("mine.js", "exports.WORD = 'mine';")];
        Project { fields: json!({"browser": {"greetings": "./mine.js"}}), files, ..words.honest() }
    },
    |words| {
        let map = json!({"./node_modules/greetings/index.js": "./node_modules/words/index.js"});
        Project { fields: json!({"browser": map}), ..words.honest() }
    },
    |words| {
        let paths = r#"{"compilerOptions": {"paths": {"greetings": ["./node_modules/words"]}}}"#;
        Project { files: vec![("tsconfig.json", paths)], ..words.honest() }
    },
    |words| {
        let files = vec![("node_modules/greetings/index.js", "exports.WORD = 'mine';")];
        Project { files, ..words.honest() }
    },
];

/// Publishes the project, which returns the word of the package `greetings`.
fn published<'t>(team: &'t Team, project: &Project) -> Tool<'t> {
    let Project { dependencies, packages, fields, files } = project;
    let mut fields = fields.clone();
    fields["dependencies"] = dependencies.clone();
    let tool = typescript(team, "greets", &fields, "import { WORD } from 'greetings';", "return WORD;");
    let tool = tool.with_file("package-lock.json", &npm_lock(dependencies, packages));
    let tool = files.iter().fold(tool, |tool, (path, text)| tool.with_file(path, text)).pushed();
    tool.publish(Bump::Minor).expect(201);
    tool
}

#[test]
fn an_author_cannot_choose_packages_for_others() {
    for (number, attack) in ATTACKS.iter().enumerate() {
        let words = Words { number };
        let archives = ["greetings", "words"].map(|name| (name, words.archive(name)));
        let served = archives.each_ref().map(|(name, archive)| (*name, VERSION, archive.as_slice()));
        let environment = vec![("LATHE_NPM_REGISTRY".to_owned(), NpmRegistry::serve(&served).url)];
        let Some(server) = server(Options { environment, ..Options::default() }) else { return };
        let (attacker, team) = (Team::on(&server), Team::on(&server));
        published(&attacker, &attack(words));
        let honest = published(&team, &words.honest());
        let verified = team.post(&format!("/tool/{}/version/1.0.0/verify", honest.id()), &json!({})).expect(200);
        assert_eq!((&verified["identical"], &verified["signed"]), (&json!(true), &json!(true)), "{verified}");
        let told = honest.invoke(json!({}));
        assert_eq!(told.output(), words.greeting(), "after attack {number}");
    }
}
