//! The demo's environment: a temporary directory, a server and a client.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use scaffold::Template;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::git::Git;
use crate::client::{Client, Credentials};
use crate::home::Home;
use crate::server::Assembled;

/// Time for the server's orderly end, after which it is aborted.
const SHUTDOWN_TIME_MAX: Duration = Duration::from_secs(3);

pub const ORGANIZATION: &str = "demo";
pub const USER: &str = "ada";
pub const TOOL: &str = "greet_guests";

/// The parts of the demo. [`Environment::shut_down`] ends them in order. Dropping removes the directory, and the server
/// ends with the runtime.
pub struct Environment {
    template: &'static Template,
    directory: TempDir,
    /// `None` with the server of a login.
    server: Option<Server>,
    client: Option<Client>,
}

struct Server {
    stop: oneshot::Sender<()>,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Environment {
    pub fn prepare(template: &'static Template) -> anyhow::Result<Self> {
        let directory =
            tempfile::Builder::new().prefix("lathe-demo-").tempdir().context("making a temporary directory")?;
        Ok(Self { template, directory, server: None, client: None })
    }

    /// The template of the demo's tool.
    pub fn template(&self) -> &'static Template {
        self.template
    }

    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    pub fn home_directory(&self) -> PathBuf {
        self.directory.path().join("home")
    }

    pub fn home(&self) -> Home {
        Home::at(self.home_directory())
    }

    /// The tool author's clone of the organisation's repository.
    pub fn repository(&self) -> PathBuf {
        self.directory.path().join("repository")
    }

    pub fn project(&self) -> PathBuf {
        self.repository().join(project_path())
    }

    pub fn find_git(&self) -> anyhow::Result<Git> {
        Git::new(self.directory.path(), &self.home_directory(), &self.client()?.credentials().url)
    }

    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    pub fn client(&self) -> anyhow::Result<&Client> {
        self.client.as_ref().context("the demo has not logged in yet")
    }

    pub fn log_in(&mut self, credentials: Credentials) -> anyhow::Result<()> {
        let home = self.home();
        home.save_credentials(&credentials)?;
        self.client = Some(home.build_client()?);
        Ok(())
    }

    /// Runs the server in the background.
    pub fn serve(&mut self, assembled: Assembled) {
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(assembled.serve(async {
            // A dropped sender stops the server too.
            let _ = stopped.await;
            Duration::ZERO
        }));
        self.server = Some(Server { stop, task });
    }

    /// Waits for the server, which should not end by itself.
    pub async fn wait_for_server_end(&mut self) -> anyhow::Result<()> {
        match &mut self.server {
            Some(server) => (&mut server.task).await.context("the server ended")?,
            None => Ok(()),
        }
    }

    /// Stops the server and removes the directory.
    pub async fn shut_down(mut self) {
        drop(self.client.take());
        if let Some(Server { stop, mut task }) = self.server.take() {
            // Fails only if the server has ended.
            let _ = stop.send(());
            if tokio::time::timeout(SHUTDOWN_TIME_MAX, &mut task).await.is_err() {
                task.abort();
            }
        }
        let path = self.directory.path().to_owned();
        if let Err(error) = self.directory.close() {
            tracing::warn!(%error, path = %path.display(), "the temporary directory could not be removed");
        }
    }
}

/// The project's path within the repository.
pub fn project_path() -> String {
    format!("tools/{TOOL}")
}

/// The branch from which the organisation's tools are published.
pub fn branch() -> String {
    format!("releases/{ORGANIZATION}")
}
