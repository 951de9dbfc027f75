//! The checks, one function each.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use builder::sandbox::{Missing, Sandbox};
use builder::source::{GIT_VERSION_MIN, GitProgram};
use builder::{Onlooked, RustPrograms, WorkersPlace, look_for_workers};
use registry::DataDir;
use runner::Drill;

use super::{Check, State, install};
use crate::home::Home;
use crate::programs;

/// A server that needs longer than this for its health page is in trouble.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

pub fn git() -> Check {
    let name = "git";
    match GitProgram::find() {
        Ok(git) => found(name, format!("{} ({})", git.version(), git.path().display())),
        Err(error) => Check {
            name,
            state: State::Missing,
            detail: format!("{error}; needed in version {GIT_VERSION_MIN} or later"),
            remedy: Some(install::command("git")),
        },
    }
}

pub fn c_compiler() -> Check {
    let detail = "for building lathe itself, and for tools in Rust";
    match programs::find("cc") {
        Some(path) => found("C compiler", format!("{} ({detail})", path.display())),
        None => optional("C compiler", detail.to_owned(), Some(install::command("gcc"))),
    }
}

/// One of the layers around runners and builds; the others hold without it.
pub fn user_namespaces() -> Check {
    let name = "user namespaces";
    let is_on = |file: &str, off: &str| match std::fs::read_to_string(file) {
        Ok(text) => text.trim() != off,
        Err(_) => true,
    };
    let switches = [
        ("/proc/sys/user/max_user_namespaces", "0"),
        ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
        ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
    ];
    match switches.into_iter().find(|(file, off)| !is_on(file, off)) {
        None => found(name, "available".to_owned()),
        Some((file, off)) => optional(name, format!("switched off by {file} = {off}"), None),
    }
}

/// Confines a process as the server does with those that run tools, and has it try what it must not be able to do.
pub async fn runners() -> Check {
    let name = "runners";
    let drill = match tokio::time::timeout(ANSWER_TIMEOUT, drill()).await {
        Ok(Ok(drill)) => drill,
        Ok(Err(error)) => return missing(name, format!("a process cannot be confined: {error:#}")),
        Err(_) => return missing(name, format!("a process was not confined within {} s", ANSWER_TIMEOUT.as_secs())),
    };
    let open: Vec<_> = drill.attempts.iter().filter(|one| one.refused.is_none()).map(|one| one.name.as_str()).collect();
    if !open.is_empty() {
        return missing(name, format!("a confined process can {}", open.join(", ")));
    }
    let refused = format!("{} ways out are refused", drill.attempts.len());
    match drill.confinement.and_then(|confinement| confinement.lacks()) {
        None => found(name, format!("{refused}, by namespaces, Landlock and seccomp")),
        Some(lacks) => optional(name, format!("{refused}; this kernel does not offer {lacks}"), None),
    }
}

async fn drill() -> anyhow::Result<Drill> {
    let program = std::env::current_exe()?;
    let mut command = tokio::process::Command::new(program);
    command.args(["internal", "run", "--drill"]).env_clear().stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await?;
    if !output.status.success() {
        anyhow::bail!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Has the sandbox of builds try what it must not be able to do.
pub async fn build_sandbox(bubblewrap: Option<&Path>, data: &Path) -> Check {
    let name = "build sandbox";
    let needed = "only Rust tools need it, whose builds run their authors' code on this machine";
    let Some(program) = bubblewrap else {
        let remedy = Some(install::command("bubblewrap"));
        return optional(name, format!("bubblewrap is not installed ({needed})"), remedy);
    };
    match Sandbox::probe(Some(program), data).await {
        Ok(_) => found(name, format!("holds, with {}", program.display())),
        Err(missing) => optional(name, format!("{} ({needed})", missing.reason), Some(missing.remedy)),
    }
}

/// Who builds for the server of a data directory; nothing when it builds itself, or never ran.
pub async fn build_workers(data: &Path) -> Option<Check> {
    let name = "build workers";
    if !data.is_dir() {
        return None; // nor is one made
    }
    let place = WorkersPlace::new(DataDir::open(data).ok()?.workers(), "");
    let remedy = Some(format!("lathe worker --data {}", data.display()));
    Some(match look_for_workers(&place.socket()).await {
        Ok(Onlooked { workers: 0, .. }) => {
            let detail = "none is connected, and the server waits for one".to_owned();
            Check { name, state: State::Missing, detail, remedy }
        }
        Ok(Onlooked { workers, busy }) => found(name, format!("{workers} connected, {busy} at work")),
        Err(error) if error.is_nobody() => return None,
        Err(error) => optional(name, format!("the server does not tell: {error}"), None),
    })
}

/// What builds tools in Rust.
pub fn rust(toolchain: Option<&Path>) -> Check {
    let name = "Rust";
    match RustPrograms::missing(toolchain) {
        None => found(name, toolchain.unwrap_or(Path::new("")).display().to_string()),
        Some(Missing { reason, remedy }) => optional(name, format!("for tools in Rust: {reason}"), Some(remedy)),
    }
}

pub fn esbuild() -> Check {
    match programs::esbuild(std::env::var_os("LATHE_ESBUILD").as_deref().map(Path::new)) {
        Some(esbuild) => found("esbuild", esbuild.path().display().to_string()),
        None => optional(
            "esbuild",
            "for tools in JavaScript and TypeScript".to_owned(),
            Some("npm install --global esbuild".to_owned()),
        ),
    }
}

pub fn data_directory(directory: &Path) -> Check {
    let name = "data directory";
    let existing =
        directory.ancestors().find(|ancestor| ancestor.exists()).filter(|found| !found.as_os_str().is_empty());
    let existing = existing.unwrap_or(Path::new("."));
    // A file without a name leaves nothing behind, and is refused for every reason that a real one would be.
    match tempfile::tempfile_in(existing) {
        Ok(_) if existing == directory => found(name, format!("{} is writable", directory.display())),
        Ok(_) => found(name, format!("{} can be created", directory.display())),
        Err(error) => Check {
            name,
            state: State::Missing,
            detail: format!("{} is not writable: {error}", existing.display()),
            remedy: Some("choose another with --data, or change its owner".to_owned()),
        },
    }
}

pub async fn server(home: &Home) -> Check {
    let name = "server";
    let client = match home.client() {
        Ok(client) => client,
        Err(error) => return optional(name, format!("{error:#}"), Some("lathe login --help".to_owned())),
    };
    let url = client.credentials().url.clone();
    match tokio::time::timeout(ANSWER_TIMEOUT, client.check()).await {
        Ok(Ok(())) => found(name, format!("{url} answers, and the key is accepted")),
        Ok(Err(error)) => not_reached(format!("{error:#}")),
        Err(_) => not_reached(format!("{url} gave no answer within {} s", ANSWER_TIMEOUT.as_secs())),
    }
}

fn missing(name: &'static str, detail: String) -> Check {
    Check { name, state: State::Missing, detail, remedy: None }
}

fn not_reached(detail: String) -> Check {
    let remedy = Some("start it with `lathe serve`, or name another with `lathe login`".to_owned());
    Check { name: "server", state: State::Missing, detail, remedy }
}

fn found(name: &'static str, detail: String) -> Check {
    Check { name, state: State::Ok, detail, remedy: None }
}

fn optional(name: &'static str, detail: String, remedy: Option<String>) -> Check {
    Check { name, state: State::Optional, detail, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_can_be_made_is_fine() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(data_directory(&directory.path().join("a/b")).state == State::Ok);
        let file = tempfile::NamedTempFile::new_in(directory.path()).expect("a file");
        assert!(data_directory(Path::new("lathe-data-of-nobody")).state == State::Ok);
        assert!(data_directory(&file.path().join("below")).state == State::Missing);
    }
}
