//! Fixtures for tools and their projects.

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::{Answer, Event, Request, Run, Site, Team};

/// The six parameters of every entry point.
pub const SIGNATURE: &str = "run_tool(tool_input, metadata, config, conversation, send_status_event, user_variables)";

#[derive(Clone, Copy, Debug)]
pub enum Bump {
    Major,
    Minor,
    Patch,
    Auto,
}

pub struct Tool<'t> {
    team: &'t Team,
    pub name: String,
    manifest: Vec<String>,
    id: OnceLock<String>,
}

/// One input of a regular run.
pub fn input(parameters: &Value) -> Value {
    json!({
        "input_parameters": parameters,
        "invocation_mode": "regular",
        "nonsensitive_user_variables": {},
        "sensitive_user_variables": {},
    })
}

impl<'t> Tool<'t> {
    /// Writes a project that returns its input.
    pub fn new(team: &'t Team, name: &str) -> Self {
        let tool = Self { team, name: name.to_owned(), manifest: Vec::new(), id: OnceLock::new() };
        tool.write_manifest();
        tool.body("return tool_input")
    }

    /// Writes the smallest project again, over all changes.
    pub fn renewed(mut self) -> Self {
        self.team.repository.remove_all(&self.path());
        self.manifest.clear();
        self.write_manifest();
        self.body("return tool_input")
    }

    /// The project's path in the repository.
    pub fn path(&self) -> String {
        format!("tools/{}", self.name)
    }

    pub fn with_file(self, path: &str, text: &str) -> Self {
        self.with_bytes(path, text.as_bytes())
    }

    pub fn with_bytes(self, path: &str, bytes: &[u8]) -> Self {
        self.team.repository.write(&format!("{}/{path}", self.path()), bytes);
        self
    }

    pub fn without_file(self, path: &str) -> Self {
        self.team.repository.remove(&format!("{}/{path}", self.path()));
        self
    }

    /// Writes `tool.py` with this body of an `async` entry point.
    pub fn body(self, body: &str) -> Self {
        self.source("", body)
    }

    /// Writes `tool.py` with lines before the `async` entry point.
    pub fn source(self, before: &str, body: &str) -> Self {
        let text = format!("{}\n\nasync def {SIGNATURE}:\n{}\n", unindented(before), indented(body));
        self.with_file("tool.py", &text)
    }

    /// Writes a body that waits until the site opens its latch if its input is [`Site::hold`], and returns immediately
    /// otherwise.
    pub fn held_by(self, site: &Site) -> Self {
        let body = "
            if 'held' in tool_input:
                import urllib.request
                urllib.request.urlopen(tool_input['held']).read()
            return 'rested'
        ";
        let tool = self.body(body).manifest(&format!("allowed_hosts = ['{}']", site.address));
        tool.manifest("timeout_seconds = 300")
    }

    /// Adds a line to `[tool.lathe]`.
    pub fn manifest(mut self, line: &str) -> Self {
        self.manifest.push(line.to_owned());
        self.write_manifest();
        self
    }

    fn write_manifest(&self) {
        let lines = self.manifest.join("\n");
        let text = format!("[project]\nname = \"{}\"\n\n[tool.lathe]\n{lines}\n", self.name);
        self.team.repository.write(&format!("{}/pyproject.toml", self.path()), text.as_bytes());
    }

    /// Commits and pushes all changes of the team.
    pub fn pushed(self) -> Self {
        self.team.push();
        self
    }

    /// Pushes and publishes the tool.
    #[track_caller]
    pub fn published(self) -> Self {
        let tool = self.pushed();
        tool.publish(Bump::Minor).expect(201);
        tool
    }

    /// Returns the tool's id. The first call creates the tool.
    pub fn id(&self) -> &str {
        self.id.get_or_init(|| {
            let body = json!({"name": self.name, "description": "A tool of a test.", "tags": {}});
            let created = self.team.post("/tool/", &body).expect(201);
            created["id"].as_str().expect("an id").to_owned()
        })
    }

    /// Uses an existing tool.
    pub fn with_id(self, id: &str) -> Self {
        self.id.set(id.to_owned()).expect("a tool that has no id yet");
        self
    }

    pub fn publish(&self, bump: Bump) -> Answer {
        self.publish_request(bump).send()
    }

    pub fn publish_request(&self, bump: Bump) -> Request<'t> {
        let bump = format!("{bump:?}").to_lowercase();
        let body = json!({"project_path": self.path(), "bump_type": bump});
        self.team.request("POST", &format!("/tool/{}/version", self.id())).json(&body)
    }

    /// Tests the tip of the branch.
    pub fn test(&self, parameters: &Value) -> Answer {
        self.test_request(parameters).send()
    }

    fn test_request(&self, parameters: &Value) -> Request<'t> {
        let body = json!({
            "inputs": [input(parameters)], "commit_branch": self.team.branch(), "project_path": self.path(),
            "required_envvars": {}, "required_secret_envvars": {},
        });
        self.team.request("POST", "/tool/test").json(&body)
    }

    /// Writes another body and streams a test of it.
    pub fn test_events(&self, body: &str) -> Vec<Event> {
        let text = format!("async def {SIGNATURE}:\n{}\n", indented(body));
        self.team.repository.write(&format!("{}/tool.py", self.path()), text.as_bytes());
        self.team.push();
        self.test_request(&json!({})).events()
    }

    pub fn set_variables(&self, variables: &[(&str, &str, bool)]) {
        let insert = |(name, value, is_secret): &(&str, &str, bool)| json!({"name": name, "value": value, "is_secret": is_secret});
        let body = json!({"inserts": variables.iter().map(insert).collect::<Vec<_>>(), "updates": [], "deletes": []});
        self.team.post(&format!("/tool/{}/envvar", self.id()), &body).expect(204);
    }

    /// Runs the newest version once.
    #[track_caller]
    pub fn invoke(&self, parameters: Value) -> Run {
        self.invoke_inputs(&json!({"inputs": [input(&parameters)]})).remove(0)
    }

    /// Runs the newest version with a complete request, and asserts that every input has a result.
    #[track_caller]
    pub fn invoke_inputs(&self, body: &Value) -> Vec<Run> {
        let answer = self.invoke_request(body).send().expect(200);
        let results = answer["invocation_results"].as_array().expect("a list");
        assert_eq!(results.len(), body["inputs"].as_array().expect("a list").len());
        results.iter().cloned().map(Run).collect()
    }

    pub fn invoke_request(&self, body: &Value) -> Request<'t> {
        self.team.request("POST", &format!("/tool/{}/version/%3E%3D0/invoke", self.id())).json(body)
    }

    /// Returns the live versions in order.
    pub fn versions(&self) -> Vec<String> {
        let path = format!("/tool/{}/version", self.id());
        let list = self.team.request("GET", &path).query(&[("sort_by", "+created_at")]).send().expect(200);
        let number = |version: &Value| {
            let part = |name: &str| version["version"][name].as_u64().expect("a number");
            format!("{}.{}.{}", part("major"), part("minor"), part("patch"))
        };
        list["tool_versions"].as_array().expect("a list").iter().map(number).collect()
    }
}

/// Indents every line of a body by four spaces.
fn indented(body: &str) -> String {
    unindented(body).lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// Removes the indentation that all lines share.
pub fn unindented(text: &str) -> String {
    let lines = text.trim_matches('\n').lines();
    let full = lines.clone().filter(|line| !line.trim().is_empty());
    let shared = full.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    lines.map(|line| line.get(shared..).unwrap_or("")).collect::<Vec<_>>().join("\n")
}
