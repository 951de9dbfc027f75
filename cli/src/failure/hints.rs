//! The next step after a failure.

use std::io::ErrorKind;

use super::Failure;

/// The code of a 404 that does not tell why.
const NOT_FOUND: &str = "not_found";

impl Failure {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Advised { failure, advice } => {
                Some(failure.hint().map_or_else(|| advice.clone(), |hint| format!("{hint}; {advice}")))
            }
            other => other.find_own_hint().map(str::to_owned),
        }
    }

    fn find_own_hint(&self) -> Option<&str> {
        match self {
            Self::Usage { hint, .. } | Self::Refused { hint, .. } => Some(hint),
            Self::Advised { .. } => None,
            Self::NotLoggedIn { .. } => Some(
                "run `lathe login --url URL --org ORG`, or set LATHE_URL, LATHE_ORG and LATHE_API_KEY; `lathe org create` creates a key",
            ),
            Self::Unreachable { .. } => Some(
                "check that `lathe serve` runs there; `lathe doctor` checks the connection, `lathe login` changes the address",
            ),
            Self::Server { status, code, .. } => find_hint_for_refusal(*status, code),
            Self::ConnectionLost { .. } => Some(
                "the server goes on with the work; `lathe tool versions TOOL` and `lathe history list` show the result",
            ),
            Self::UnexpectedResponse { .. } => {
                Some("check the URL given to `lathe login`, and that server and client are the same release")
            }
        }
    }
}

/// Prefers the hint for the error code, which is more specific than the status.
fn find_hint_for_refusal(status: u16, code: &str) -> Option<&'static str> {
    find_hint_for_code(code).or_else(|| find_hint_for_status(status, code))
}

/// Returns the next step after an error of the registry on this machine.
pub fn find_hint_for(error: &registry::Error) -> Option<String> {
    find_hint_for_local_code(error.code()).map(str::to_owned)
}

/// Hints for error codes of the registry on this machine, where the caller is the operator.
fn find_hint_for_local_code(code: &str) -> Option<&'static str> {
    match code {
        "database_unavailable" => Some(
            "check the URL in --database or LATHE_DATABASE, and that the database server runs and accepts connections from this machine; \
             `lathe doctor` checks it",
        ),
        "database_busy" => {
            Some("end other connections to the database, or raise its `max_connections`; then try again")
        }
        "storage_failing" => {
            Some("free or repair the disk or the bucket that the message names; `lathe doctor` checks both")
        }
        "database_newer" => Some("a newer release of lathe wrote the database; use that release or a later one"),
        "migration_changed" => {
            Some("another build of lathe wrote the database; use that one, or name another database")
        }
        _ => find_hint_for_code(code),
    }
}

/// Hints for error codes of the registry, which a server and a local data directory both return.
fn find_hint_for_code(code: &str) -> Option<&'static str> {
    match code {
        "already_exists" => Some("choose another name"),
        "assignment_unusable" => Some(
            "`lathe agent assign AGENT TOOL VERSION` replaces the assignment, `lathe agent unassign AGENT TOOL` removes it",
        ),
        "operation_in_progress" => Some("wait until the other operation has ended, then try again"),
        "already_published" => Some("push a commit, or choose another --bump"),
        "variable_required" => Some("deprecate the versions that require it, or set it to another value"),
        "unknown_branch" | "unknown_commit" => {
            Some("commit and push it first; `git push` pushes the branch that is checked out")
        }
        "missing_project_directory" => Some("commit and push it first, or name another directory with --path"),
        "user_unknown" => Some("`lathe user create USER --role ROLE` creates the user"),
        "role_unknown" => Some("`lathe role list` lists the roles"),
        "role_built_in" => Some("`lathe role create` creates a custom role"),
        "role_in_use" => Some(
            "`lathe user list` shows the users with this role; `lathe user edit USER --role ROLE` changes a user's role",
        ),
        "last_administrator" => Some("make another user an administrator first: `lathe user edit USER --role admin`"),
        "model_missing" => {
            Some("tell the operator: `lathe serve --model-url URL --model MODEL` names the model of runs")
        }
        "run_tool_unknown" => Some("`lathe agent tools AGENT` lists the tools of an agent"),
        "human_request_closed" => Some("`lathe inbox` lists the open requests"),
        "human_response" => Some("`lathe inbox show REQUEST` shows what the request takes"),
        "data_directory_in_use" => Some("stop that server, or choose another directory with --data"),
        "storage_failing" => Some("tell the operator: the storage of the server is full or failing"),
        "database_unavailable" => {
            Some("the server cannot reach its database; try again in a moment, or tell the operator")
        }
        "query_too_slow" => Some("use a narrower filter, or fewer words"),
        "no_build_worker" | "not_ready" => Some("tell the operator; `lathe doctor` on the server's machine shows more"),
        _ => None,
    }
}

/// Hints for errors of files, whose messages name the path.
pub fn find_hint_for_io(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::NotFound => Some("check the path; a relative one begins in the current directory"),
        ErrorKind::PermissionDenied => {
            Some("run the command as the owner of the path, or let its owner give you access with `chmod` or `chown`")
        }
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            Some("a file is where a directory should be: name another directory, or move the file away")
        }
        ErrorKind::IsADirectory => Some("a directory is where a file should be: name the file"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            Some("free space on the file system of the path, then try again")
        }
        ErrorKind::ReadOnlyFilesystem => {
            Some("the file system of the path is mounted read-only: name a path on another one")
        }
        _ => None,
    }
}

fn find_hint_for_status(status: u16, code: &str) -> Option<&'static str> {
    match status {
        401 => {
            Some("run `lathe login` with a key that is valid; `lathe profile list` shows the logins on this machine")
        }
        403 => Some("`lathe whoami` shows your role and what you may do"),
        404 if code == NOT_FOUND => Some("`lathe whoami` shows the organisation and the server of this login"),
        429 | 503 => Some("the server is busy; try again in a moment"),
        500 => Some("tell the operator the request id; the server's log has the cause under it"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_for_a_code_wins_over_that_for_a_status() {
        assert_eq!(find_hint_for_refusal(409, "already_exists"), Some("choose another name"));
        assert_eq!(find_hint_for_refusal(503, "database_busy"), find_hint_for_status(503, ""));
        assert!(find_hint_for_refusal(503, "storage_failing").is_some_and(|hint| !hint.contains("busy")));
        assert_eq!(find_hint_for_refusal(400, "anything"), None);
        assert!(find_hint_for_refusal(404, "not_found").is_some());
        assert_eq!(find_hint_for_refusal(404, "version_deprecated"), None, "the login is not the reason");
    }

    #[test]
    fn a_command_on_the_servers_machine_is_told_to_look_at_its_own_settings() {
        let hints = ["database_unavailable", "database_busy", "storage_failing"]
            .map(|code| (find_hint_for_local_code(code), find_hint_for_code(code)));
        assert!(hints.iter().all(|(local, remote)| local.is_some() && local != remote));
        assert!(
            find_hint_for_local_code("database_unavailable")
                .is_some_and(|hint| !hint.contains("lost") && hint.contains("--database"))
        );
        assert_eq!(find_hint_for_local_code("already_exists"), find_hint_for_code("already_exists"));
    }

    #[test]
    fn the_hint_for_a_failed_build_names_its_log() {
        let server = |code: &str, build_id: Option<&str>| Failure::Server {
            status: 409,
            code: code.to_owned(),
            detail: "no".to_owned(),
            build_id: build_id.map(str::to_owned),
        };
        let hint = |error: anyhow::Error| error.downcast::<Failure>().expect("a failure").hint().expect("a hint");
        let advised = hint(Failure::add_build_hints("greet", server("operation_in_progress", Some("b1")).into()));
        assert!(advised.starts_with("wait until") && advised.contains("`lathe tool log greet b1`"), "{advised}");
        assert!(!hint(Failure::add_build_hints("greet", server("operation_in_progress", None).into())).contains("log"));
        let missing = hint(Failure::add_build_hints("greet", server("variables_missing", Some("b1")).into()));
        assert!(missing.contains("`lathe envvar list greet`") && missing.contains("greet b1"), "{missing}");
        // Nothing was built.
        let again = hint(Failure::add_build_hints("greet", server("already_published", Some("b1")).into()));
        assert_eq!(again, "push a commit, or choose another --bump");
    }
}
