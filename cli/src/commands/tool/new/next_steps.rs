//! The commands that publish a new project, for the checkout and the login of this machine.

use std::path::Path;

use scaffold::{ProjectName, Template};

use crate::client::Credentials;
use crate::commands::tool::checkout::{find_remote_with, run_git};
use crate::home::Home;

/// The name of the remote that is added if the checkout has none for the login's server.
const REMOTE: &str = "lathe";

pub struct NewProject<'a> {
    pub name: &'a ProjectName,
    pub template: &'a Template,
    pub directory: &'a Path,
}

impl NewProject<'_> {
    pub fn render(&self, home: &Home) -> String {
        let Self { name, template, directory } = self;
        let login = home.build_client().ok().map(|client| client.credentials().clone());
        let (directory_text, entry) = (directory.display(), template.entry);
        let path = if self.is_in_its_place() { String::new() } else { format!(" --path {directory_text}") };
        let mut lines = vec![
            format!(
                "created {directory_text}\n\nEdit {directory_text}/{entry}. Build and check it whenever a file changes:"
            ),
            format!("  lathe tool test {directory_text} --watch\n\nPublish it:"),
        ];
        lines.extend(self.list_git_commands(login.as_ref()).into_iter().map(|command| format!("  {command}")));
        lines.push(format!("  lathe tool create {name} --description 'what it does'"));
        lines.push(format!("  lathe tool publish {name} --bump minor{path}"));
        lines.join("\n")
    }

    /// Whether `lathe tool publish` finds the project by its name.
    fn is_in_its_place(&self) -> bool {
        let Self { name, directory, .. } = self;
        match run_git(directory, &["rev-parse", "--show-prefix"]) {
            Some(prefix) => prefix.trim_end_matches('/') == name.project_path(),
            None => directory.ends_with(name.project_path()),
        }
    }

    /// Commands that commit and push the project.
    fn list_git_commands(&self, login: Option<&Credentials>) -> Vec<String> {
        let Self { name, directory, .. } = self;
        let directory_text = directory.display();
        let address = login.and_then(|login| login.build_git_url().ok());
        let organization = login.map_or("ORG", |login| login.organization.as_str());
        let mut commands = Vec::new();
        if run_git(directory, &["rev-parse", "--show-toplevel"]).is_none() {
            commands.push("git init".to_owned());
        }
        let remote = address.as_ref().and_then(|address| find_remote_with(directory, address));
        if remote.is_none() {
            commands.push(format!("git remote add {REMOTE} {}", address.as_deref().unwrap_or("URL")));
        }
        commands.push(format!("git add {directory_text} && git commit -m '{name}: first version'"));
        let checked_out = run_git(directory, &["symbolic-ref", "--short", "HEAD"]);
        let remote = remote.as_deref().unwrap_or(REMOTE);
        commands.push(match checked_out.filter(|branch| branch.starts_with("releases/")) {
            Some(branch) => format!("git push -u {remote} {branch}"),
            None => format!("git push {remote} HEAD:releases/{organization}"),
        });
        commands
    }
}
