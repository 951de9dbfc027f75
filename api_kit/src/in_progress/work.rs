//! Kinds of work: where the cost of an operation goes, and what bounds how much of it runs at the same time.

use std::path::PathBuf;

use agents::AGENT_RUNS;
use registry::{AdmissionBounds, Config as StoreConfig};
use repository::GitLimits;

use super::bounds::RequestBounds;
use crate::server::ConnectionLimits;

/// Where the cost of an operation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// The response is constant, or made of what is in memory.
    Memory,
    /// Rows that their keys name.
    Reads,
    /// A list or a search, whose cost grows with what is stored.
    Lists,
    /// A change of rows.
    Writes,
    /// The document of an OAuth client, from the client's host.
    ClientDocuments,
    /// Runs of tools, those of the server included.
    Runs,
    /// A run of an agent that goes on after the response.
    AgentRuns,
    /// A build, with the runs of its checks.
    Builds,
    /// A fetch or a push.
    Git,
    /// A message of an MCP client, whose method has bounds of its own.
    McpMessage,
    /// A stream that lasts until one side ends it.
    Stream,
}

/// The bounds of one kind of work, as the reference shows them.
#[derive(Clone, Debug)]
pub struct WorkBounds {
    pub name: &'static str,
    /// The place of the work.
    pub place: &'static str,
    /// How much of one user runs at the same time.
    pub of_user: String,
    /// How much of one organisation runs at the same time.
    pub of_organization: String,
    /// How much of all organisations runs at the same time.
    pub of_server: String,
    /// The answer to work beyond the bounds.
    pub beyond: &'static str,
}

impl Work {
    pub const ALL: [Self; 11] = [
        Self::Memory,
        Self::Reads,
        Self::Lists,
        Self::Writes,
        Self::ClientDocuments,
        Self::Runs,
        Self::AgentRuns,
        Self::Builds,
        Self::Git,
        Self::McpMessage,
        Self::Stream,
    ];

    /// The name of the kind in the reference.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Reads => "reads",
            Self::Lists => "lists",
            Self::Writes => "writes",
            Self::ClientDocuments => "client documents",
            Self::Runs => "runs",
            Self::AgentRuns => "runs of agents",
            Self::Builds => "builds",
            Self::Git => "git",
            Self::McpMessage => "by method",
            Self::Stream => "streams",
        }
    }

    /// The bounds of the work, on a server with default settings.
    pub fn bounds(self) -> WorkBounds {
        let lists = StoreConfig::default();
        let connections_max = ConnectionLimits::default().connections_max;
        let [requests, streams] = RequestBounds::default().of_organization(connections_max);
        let of_user = RequestBounds::default().of_user(connections_max);
        let connections = || (format!("{requests} requests"), "its connections".to_owned());
        let (place, (of_organization, of_server), beyond) = match self {
            Self::Memory => ("a request thread", connections(), REQUESTS_BEYOND),
            Self::Reads => (
                "the database",
                ("no share".to_owned(), format!("{} connections", lists.reader_connections)),
                "it waits",
            ),
            Self::Lists => (
                "the database",
                (format!("{}", lists.list_connections / 2), format!("{} connections", lists.list_connections)),
                "it waits for 5 s, then 503 `database_busy`; after 2 s 503 `query_too_slow`",
            ),
            Self::Writes => (
                "the database",
                ("no share".to_owned(), "one commit of up to 256 writes, and 1,024 queued writes".to_owned()),
                "it waits, then 503",
            ),
            Self::ClientDocuments => {
                ("the host of the client", ("2 of one address".to_owned(), "8".to_owned()), "see [OAuth](#oauth)")
            }
            Self::Runs => ("a runner process; a tool of the server: the database", compute_shares(runs()), RUNS_BEYOND),
            Self::AgentRuns => ("the server, after the response", compute_shares(AGENT_RUNS), RUNS_BEYOND),
            Self::Builds => ("child processes", compute_shares(builds()), "429 `too_many_builds`, 503 `overloaded`"),
            Self::Git => ("processes of git", compute_shares(GitLimits::default().operations), "503 `git_busy`"),
            Self::McpMessage => ("see [methods](#methods-of-mcp)", connections(), "see [methods](#methods-of-mcp)"),
            Self::Stream => {
                let shares = (format!("{streams} streams"), "its connections".to_owned());
                ("a request thread, at each change", shares, "429 `too_many_streams`")
            }
        };
        let of_user = match self {
            Self::Memory | Self::McpMessage => format!("{} requests", of_user[0]),
            Self::Stream => format!("{} streams", of_user[1]),
            Self::ClientDocuments => of_organization.clone(),
            _ => "as its organisation".to_owned(),
        };
        WorkBounds { name: self.name(), place, of_user, of_organization, of_server, beyond }
    }
}

/// The refusals of requests in progress.
const REQUESTS_BEYOND: &str = "429 `too_many_requests`, 503 `too_many_connections`";

/// The refusals of runs.
const RUNS_BEYOND: &str = "429 `too_many_runs`, 503 `overloaded`";

fn runs() -> AdmissionBounds {
    runner::Config::new(PathBuf::new(), [0; 32], "").runs
}

fn builds() -> AdmissionBounds {
    builder::Config::new(PathBuf::new(), PathBuf::new(), "").builds
}

fn compute_shares(bounds: AdmissionBounds) -> (String, String) {
    let share = |parallel: usize, queued: usize| match queued {
        0 => format!("{parallel}"),
        _ => format!("{parallel}, and {queued} wait"),
    };
    (
        share(bounds.organization_parallel_max, bounds.organization_queued_max),
        share(bounds.parallel_max, bounds.queued_max),
    )
}
