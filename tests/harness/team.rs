//! A private organisation with a user, a key, a token and a repository.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Answer, Lathe, Repository, Request, Run, Server, Tool};

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The file with the login of `lathe`.
const CREDENTIALS: &str = "credentials.toml";

pub struct Team {
    pub server: Arc<Server>,
    pub organization: String,
    pub user: String,
    pub api_key_id: String,
    pub api_key: String,
    pub token: String,
    pub repository: Repository,
    directory: TempDir,
}

impl Team {
    /// A team on the shared server.
    pub fn new() -> Self {
        Self::on(&Server::shared())
    }

    /// A team on a server, created by `lathe org create`.
    pub fn on(server: &Arc<Server>) -> Self {
        let directory = TempDir::new().expect("a directory");
        let home = directory.path();
        let organization = format!("team{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let data = server.data().to_str().expect("UTF-8");
        let lathe = Lathe { home, directory: home };
        let database = server.database().map_or(Vec::new(), |url| vec!["--database", url]);
        let create = ["org", "create", &organization, "--user", "ada", "--data", data];
        let key = lathe.json(&[&create[..], &database].concat());
        let text = |name: &str| key[name].as_str().unwrap_or_else(|| panic!("{key}")).to_owned();
        assert_eq!(text("organization"), organization);
        Self::with_key(server, organization, &key, directory)
    }

    /// The same organisation with a new user of this role and their own clone of the repository.
    pub fn joined_by(&self, user: &str, role: &str) -> Self {
        self.post("/user", &json!({"user_id": user, "role": role})).expect(201);
        let key = self.post("/api_key", &json!({"user_id": user})).expect(201);
        let directory = TempDir::new().expect("a directory");
        Self::with_key(&self.server, self.organization.clone(), &key, directory)
    }

    /// The same user at another server of the database, with a repository of their own.
    pub fn at(&self, server: &Arc<Server>) -> Self {
        let key = json!({"user_id": self.user, "api_key_id": self.api_key_id, "api_key": self.api_key});
        Self::with_key(server, self.organization.clone(), &key, TempDir::new().expect("a directory"))
    }

    fn with_key(server: &Arc<Server>, organization: String, key: &Value, directory: TempDir) -> Self {
        let text = |name: &str| key[name].as_str().unwrap_or_else(|| panic!("{key}")).to_owned();
        let (user, api_key_id, api_key) = (text("user_id"), text("api_key_id"), text("api_key"));
        let token = sign_in_as(server, &organization, &user, &api_key_id, &api_key).expect(200)["id_token"].clone();
        let token = token.as_str().expect("a token").to_owned();
        let repository = Repository::new(directory.path());
        Self { server: server.clone(), organization, user, api_key_id, api_key, token, repository, directory }
    }

    /// The same team after a restart of its server.
    pub fn moved_to(mut self, server: Arc<Server>) -> Self {
        self.server = server;
        // `lathe` logs in again: a server that was started again has another address.
        let _ = std::fs::remove_file(self.home().join(CREDENTIALS));
        self
    }

    /// A directory that is removed with the team.
    pub fn home(&self) -> &Path {
        self.directory.path()
    }

    /// A request to a path below the organisation.
    pub fn request(&self, method: &str, path: &str) -> Request<'_> {
        self.server.request(method, &format!("/v1/{}{path}", self.organization)).bearer(&self.token)
    }

    pub fn get(&self, path: &str) -> Value {
        self.request("GET", path).send().expect(200)
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.request("POST", path).json(body).send()
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.request("DELETE", path).send()
    }

    /// A tool with the smallest possible project.
    pub fn tool(&self, name: &str) -> Tool<'_> {
        Tool::new(self, name)
    }

    /// A tool with an unused name.
    pub fn next_tool(&self) -> Tool<'_> {
        self.tool(&format!("tool{}", COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    pub fn branch(&self) -> String {
        format!("releases/{}", self.organization)
    }

    /// The repository's URL with this team's credentials.
    pub fn git_url(&self) -> String {
        self.git_url_with(&format!("{}_{}:{}", self.organization, self.user, self.token))
    }

    /// The repository's URL with other credentials, or without any when they are empty.
    pub fn git_url_with(&self, credentials: &str) -> String {
        let at = if credentials.is_empty() { "" } else { "@" };
        let host = self.server.address();
        format!("http://{credentials}{at}{host}/v1/{}/tool/git/tools.git", self.organization)
    }

    /// Commits and pushes all changes.
    pub fn push(&self) -> String {
        let commit = self.repository.commit();
        self.repository.ok(&["push", "-q", "--force", &self.git_url(), &format!("HEAD:{}", self.branch())]);
        commit
    }

    /// Returns the records of the team's runs, newest first.
    pub fn history(&self) -> Vec<Value> {
        self.get("/tool/invocation")["tool_invocations"].as_array().expect("a list").clone()
    }

    /// `lathe`, logged in as this team.
    pub fn lathe(&self) -> Lathe<'_> {
        let lathe = Lathe { home: self.home(), directory: &self.repository.directory };
        if !self.home().join(CREDENTIALS).exists() {
            let arguments =
                ["login", "--url", &self.server.url, "--org", &self.organization, "--user", &self.user, "--api-key-id"];
            lathe.run_with(&[&arguments[..], &[&self.api_key_id]].concat(), &self.api_key).ok();
        }
        lathe
    }

    /// Waits until the server has compiled the image.
    pub fn warm_up(&self) {
        let tool = self.tool("warm").body("return 'warm'").pushed();
        let answer = tool.test(&json!({}));
        let run = Run(answer.expect(200)["invocation_results"][0].clone());
        assert_eq!(run.output(), "warm");
    }
}

pub fn sign_in(server: &Server, organization: &str, api_key_id: &str, api_key: &str) -> Answer {
    sign_in_as(server, organization, "ada", api_key_id, api_key)
}

/// Signs a user in with a key, given its id and its secret.
pub fn sign_in_as(server: &Server, organization: &str, user: &str, api_key_id: &str, api_key: &str) -> Answer {
    let path = format!("/v1/{organization}/user/signin_with_api_key");
    let request = server.request("POST", &path).header("x-user-id", user);
    request.header("x-api-key-id", api_key_id).header("x-api-key", api_key).send()
}
