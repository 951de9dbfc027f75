//! A tool in Rust, as a fixture.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::harness::{Answer, Bump, Run, Team, input};

static COUNT: AtomicUsize = AtomicUsize::new(0);

pub struct Project<'t> {
    team: &'t Team,
    pub name: String,
    id: OnceLock<String>,
}

impl<'t> Project<'t> {
    /// The project that `lathe tool new` writes.
    pub fn new(team: &'t Team) -> Self {
        let name = format!("rust_tool{}", COUNT.fetch_add(1, Ordering::Relaxed));
        team.lathe().ok(&["tool", "new", &name, "--language", "rust"]);
        Self { team, name, id: OnceLock::new() }
    }

    /// A published project.
    pub fn existing(team: &'t Team, id: &str) -> Self {
        Self { team, name: String::new(), id: OnceLock::from(id.to_owned()) }
    }

    pub fn path(&self) -> String {
        format!("tools/{}", self.name)
    }

    pub fn file(&self, path: &str) -> String {
        let file = self.team.repository.directory.join(self.path()).join(path);
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    /// With another file, and without the template's checks.
    pub fn with(self, path: &str, text: &str) -> Self {
        self.with_bytes(path, text.as_bytes())
    }

    pub fn with_bytes(self, path: &str, bytes: &[u8]) -> Self {
        let checks = self.team.repository.directory.join(self.path()).join("checks");
        if checks.exists() {
            std::fs::remove_dir_all(checks).expect("removed");
        }
        self.team.repository.write(&format!("{}/{path}", self.path()), bytes);
        self
    }

    pub fn without(self, path: &str) -> Self {
        self.team.repository.remove(&format!("{}/{path}", self.path()));
        self
    }

    /// With a replaced part of a file.
    pub fn changed(self, path: &str, from: &str, to: &str) -> Self {
        let text = self.file(path);
        assert!(text.contains(from), "{from:?} is not in {path}");
        self.with(path, &text.replacen(from, to, 1))
    }

    /// With another tool in place of the template's, below the usual imports.
    pub fn source(self, source: &str) -> Self {
        let imports = "//! A tool of a test.\n\nuse lathe::{Context, Error};\nuse schemars::JsonSchema;\nuse serde::Deserialize;\n\n";
        let alone = self.without("checks/example.json");
        alone.with("src/lib.rs", &format!("{imports}lathe::tool!(run_tool);\n\n{source}"))
    }

    /// With lines in `[package.metadata.lathe]`.
    pub fn lathe(self, lines: &str) -> Self {
        let head = "[package.metadata.lathe]\n";
        self.changed("Cargo.toml", head, &format!("{head}{lines}"))
    }

    pub fn set_variables(&self, variables: &[(&str, &str, bool)]) {
        let insert = |(name, value, is_secret): &(&str, &str, bool)| json!({"name": name, "value": value, "is_secret": is_secret});
        let body = json!({"inserts": variables.iter().map(insert).collect::<Vec<_>>(), "updates": [], "deletes": []});
        self.team.post(&format!("/tool/{}/envvar", self.id()), &body).expect(204);
    }

    pub fn id(&self) -> &str {
        self.id.get_or_init(|| {
            let body = json!({"name": self.name, "description": "A tool of a test.", "tags": {}});
            self.team.post("/tool/", &body).expect(201)["id"].as_str().expect("an id").to_owned()
        })
    }

    /// Pushes the project and publishes it.
    pub fn publish(&self, bump: Bump) -> Answer {
        self.team.push();
        let bump = format!("{bump:?}").to_lowercase();
        let body = json!({"project_path": self.path(), "bump_type": bump});
        self.team.post(&format!("/tool/{}/version", self.id()), &body)
    }

    /// Tests the tip of the branch.
    pub fn test(&self) -> Answer {
        let body = json!({
            "inputs": [input(&json!({}))], "commit_branch": self.team.branch(), "project_path": self.path(),
            "required_envvars": {}, "required_secret_envvars": {},
        });
        self.team.post("/tool/test", &body)
    }

    #[track_caller]
    pub fn published(self) -> Self {
        self.publish(Bump::Minor).expect(201);
        self
    }

    pub fn version(&self, version: &str) -> Value {
        self.team.get(&format!("/tool/{}/version/{version}", self.id()))
    }

    pub fn versions(&self) -> Vec<Value> {
        let list = self.team.get(&format!("/tool/{}/version", self.id()));
        list["tool_versions"].as_array().unwrap_or_else(|| panic!("{list}")).clone()
    }

    /// Whether a publication is running, so that a deprecation is refused.
    pub fn is_busy(&self) -> bool {
        let path = format!("/tool/{}/version/%3E%3D0", self.id());
        self.team.request("DELETE", &path).send().status == 409
    }

    /// Asserts that an input does not match the schema.
    #[track_caller]
    pub fn refuses(&self, parameters: &Value) {
        self.try_invoke(parameters).expect(400);
    }

    #[track_caller]
    pub fn invoke(&self, parameters: &Value) -> Run {
        Run(self.try_invoke(parameters).expect(200)["invocation_results"][0].clone())
    }

    fn try_invoke(&self, parameters: &Value) -> Answer {
        let body = json!({"inputs": [input(parameters)]});
        self.team.post(&format!("/tool/{}/version/%3E%3D0/invoke", self.id()), &body)
    }
}
