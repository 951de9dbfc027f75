//! The checks, one function each.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use builder::sandbox::{KernelSetting, Missing, Sandbox};
use builder::{
    EsbuildSource, PINNED_ESBUILD, PoolStatus, RustInstallation, WorkerEndpoint, check_registries, pool_status,
};
use ipnet::IpNet;
use registry::StorageUrl;
use repository::{GIT_VERSION_MIN, GitProgram};
use runner::ConfinementSelfTest;

use super::check::{Check, found, missing, optional};
use super::install;
use crate::home::Home;
use crate::programs;
use crate::registries::{Registries, Registry};
use crate::server::{self, BuildSettings};

/// Timeout of the checks that wait for a server or a process.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

pub fn check_git() -> Check {
    let name = "git";
    match GitProgram::find() {
        Ok(git) => found(name, format!("{} ({})", git.version(), git.path().display())),
        Err(error) => {
            let detail = format!("{error}; lathe needs version {GIT_VERSION_MIN} or later");
            missing(name, detail, Some(install::find_install_command("git")))
        }
    }
}

pub fn check_c_compiler() -> Check {
    let detail = "for building lathe and tools in Rust";
    match programs::find("cc") {
        Some(path) => found("C compiler", format!("{} ({detail})", path.display())),
        None => optional("C compiler", detail.to_owned(), Some(install::find_install_command("gcc"))),
    }
}

/// Checks user namespaces, one of several layers of the sandbox. The other layers work without it.
pub fn check_user_namespaces() -> Check {
    let name = "user namespaces";
    match KernelSetting::denying() {
        None => found(name, "available".to_owned()),
        Some(KernelSetting { file, denying_value, .. }) => {
            optional(name, format!("switched off by {file} = {denying_value}"), None)
        }
    }
}

/// Shows whose word the server takes for the address of a client.
pub fn check_trusted_proxies(networks: &[IpNet]) -> Check {
    let name = "trusted proxies";
    if networks.is_empty() {
        return found(name, "none: clients have the addresses of their connections".to_owned());
    }
    let networks: Vec<_> = networks.iter().map(ToString::to_string).collect();
    found(name, format!("{} name the addresses of clients", networks.join(", ")))
}

/// Checks the package registries of builds. Cached packages need none.
pub async fn check_package_registries(registries: &Registries) -> Vec<Check> {
    let checks = match check_registries(&registries.clone().urls()).await {
        Ok(checks) => checks,
        Err(error) => return vec![optional("package registries", format!("they cannot be checked: {error}"), None)],
    };
    let named = [
        ("Python index", "python_index", &registries.python),
        ("npm registry", "npm_registry", &registries.npm),
        ("crate index", "crate_index", &registries.crates),
    ];
    let check = |(name, setting, registry): (&'static str, &str, &Option<Registry>)| {
        let (Some(registry), Some(checked)) = (registry, checks.iter().find(|check| check.setting == setting)) else {
            return optional(name, "none: dependencies are refused".to_owned(), Some(format!("set {setting}")));
        };
        let detail = format!("{} ({})", checked.url, registry.source);
        match &checked.problem {
            None => found(name, detail),
            Some(problem) => optional(
                name,
                format!("{detail} does not answer: {problem}"),
                Some(format!("set {setting} to a mirror")),
            ),
        }
    };
    named.map(check).into()
}

/// Confines a process as the server confines runners, and has it try what it must not be able to do.
pub async fn check_runners() -> Check {
    let name = "runners";
    let test = match tokio::time::timeout(ANSWER_TIMEOUT, run_confinement_self_test()).await {
        Ok(Ok(test)) => test,
        Ok(Err(error)) => return missing(name, format!("a process cannot be confined: {error:#}"), None),
        Err(_) => {
            return missing(name, format!("a process was not confined within {} s", ANSWER_TIMEOUT.as_secs()), None);
        }
    };
    let open: Vec<_> = test.attempts.iter().filter(|one| one.refused.is_none()).map(|one| one.name.as_str()).collect();
    if !open.is_empty() {
        return missing(name, format!("a confined process can {}", open.join(", ")), None);
    }
    let refused = format!("{} attempts to escape are refused", test.attempts.len());
    match test.confinement.and_then(|confinement| confinement.lacks()) {
        None => found(name, format!("{refused}, by namespaces, Landlock and seccomp")),
        Some(lacks) => optional(name, format!("{refused}; this kernel does not offer {lacks}"), None),
    }
}

async fn run_confinement_self_test() -> anyhow::Result<ConfinementSelfTest> {
    let program = std::env::current_exe()?;
    let mut command = tokio::process::Command::new(program);
    command.args(["internal", "run", "--self-test"]).env_clear().stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await?;
    if !output.status.success() {
        anyhow::bail!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Has a process in the build sandbox try what it must not be able to do.
pub async fn build_sandbox(bubblewrap: Option<&Path>, data: &Path) -> Check {
    let name = "build sandbox";
    let needed = "needed only for tools in Rust, since their builds run the author's code";
    let Some(program) = bubblewrap else {
        let remedy = Some(install::find_install_command("bubblewrap"));
        return optional(name, format!("bubblewrap is not installed ({needed})"), remedy);
    };
    match Sandbox::probe(Some(program), data).await {
        Ok(_) => found(name, format!("works, with {}", program.display())),
        Err(missing) => optional(name, format!("{} ({needed})", missing.reason), Some(missing.remedy)),
    }
}

/// Checks the build workers of a data directory's server. `None` if the server does not run or needs no workers.
pub async fn build_workers(data: &Path) -> Option<Check> {
    let name = "build workers";
    if !data.is_dir() {
        return None; // This check must not create the directory.
    }
    let endpoint = WorkerEndpoint::new(data.join("workers"), "");
    let remedy = Some(format!("lathe worker --data {}", data.display()));
    Some(match pool_status(&endpoint.socket()).await {
        Ok(PoolStatus { workers: 0, .. }) => {
            missing(name, "none is connected, and the server needs one to build".to_owned(), remedy)
        }
        Ok(PoolStatus { workers, busy }) => found(name, format!("{workers} connected, {busy} busy")),
        Err(error) if error.is_no_server() => return None,
        Err(error) => optional(name, format!("the server does not report its workers: {error}"), None),
    })
}

/// Checks the toolchain for tools in Rust.
pub fn check_rust(toolchain: Option<&Path>) -> Check {
    let name = "Rust";
    match RustInstallation::missing(toolchain) {
        None => found(name, toolchain.unwrap_or(Path::new("")).display().to_string()),
        Some(Missing { reason, remedy }) => optional(name, format!("for tools in Rust: {reason}"), Some(remedy)),
    }
}

/// Checks the bundler of JavaScript and TypeScript.
pub fn check_esbuild(builds: &BuildSettings) -> Check {
    let name = "esbuild";
    match programs::find_esbuild(builds.esbuild.as_deref()) {
        EsbuildSource::Installed(esbuild) => found(name, esbuild.path().display().to_string()),
        EsbuildSource::Package if builds.registries().npm.is_some() => {
            found(name, format!("{PINNED_ESBUILD}, from the npm registry when it is first needed"))
        }
        EsbuildSource::Package | EsbuildSource::Missing => optional(
            name,
            "for tools in JavaScript and TypeScript".to_owned(),
            Some("npm install --global esbuild".to_owned()),
        ),
    }
}

pub fn check_data_directory(directory: &Path) -> Check {
    let name = "data directory";
    let existing =
        directory.ancestors().find(|ancestor| ancestor.exists()).filter(|found| !found.as_os_str().is_empty());
    let existing = existing.unwrap_or(Path::new("."));
    // An unnamed file meets the same refusals as a named one and leaves nothing behind.
    match tempfile::tempfile_in(existing) {
        Ok(_) if existing == directory => found(name, format!("{} is writable", directory.display())),
        Ok(_) => found(name, format!("{} can be created", directory.display())),
        Err(error) => {
            let detail = format!("{} is not writable: {error}", existing.display());
            missing(name, detail, Some("give another directory with --data, or change its owner".to_owned()))
        }
    }
}

/// Checks the bucket that has the artifacts, or is to have them. `None` while they are in the data directory.
pub async fn check_storage(directory: &Path, named: Option<StorageUrl>) -> Option<Check> {
    let name = "storage";
    let url = match server::read_recorded_storage(directory) {
        Ok(recorded) => recorded.or(named)?,
        Err(error) => return Some(missing(name, format!("{error:#}"), None)),
    };
    let checked = async { server::connect(&url)?.check().await };
    Some(match checked.await {
        Ok(()) => found(name, format!("{url}: objects can be written, read, listed and deleted")),
        Err(error) => missing(name, error.to_string(), None),
    })
}

/// Reports a settings file that is not named. The current directory may be somebody else's checkout, and the file can
/// name programs to start.
pub fn check_ignored_settings() -> Check {
    let detail = "lathe.toml in the current directory is not read unless it is named".to_owned();
    optional("settings file", detail, Some("lathe doctor --config lathe.toml".to_owned()))
}

pub async fn check_server(home: &Home) -> Check {
    let name = "server";
    let client = match home.build_client() {
        Ok(client) => client,
        Err(error) => return optional(name, format!("{error:#}"), Some("lathe login --help".to_owned())),
    };
    let url = client.credentials().url.clone();
    match tokio::time::timeout(ANSWER_TIMEOUT, client.check()).await {
        Ok(Ok(())) => found(name, format!("{url} answers, and the key is accepted")),
        Ok(Err(error)) => build_not_reached(format!("{error:#}")),
        Err(_) => build_not_reached(format!("{url} did not answer within {} s", ANSWER_TIMEOUT.as_secs())),
    }
}

fn build_not_reached(detail: String) -> Check {
    missing("server", detail, Some("start it with `lathe serve`, or give another address to `lathe login`".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::check::CheckState;
    use super::*;

    #[test]
    fn a_directory_that_can_be_created_is_ok() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(check_data_directory(&directory.path().join("a/b")).state == CheckState::Ok);
        let file = tempfile::NamedTempFile::new_in(directory.path()).expect("a file");
        assert!(check_data_directory(Path::new("lathe-data-of-nobody")).state == CheckState::Ok);
        assert!(check_data_directory(&file.path().join("below")).state == CheckState::Missing);
    }
}
