//! `POST /v1/{organization}/tool/invocation/{invocation_id}/replay`: replays a run offline, from its
//! recording.
//!
//! The operation needs the permission to read the record, and the permission to run the tool, since it runs the tool. A
//! branch has unpublished code, which receives the values of the run including secrets: this needs the permission to
//! modify the tool.

use api_kit::auth::Requirement;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Decoder as _, Fields, FromBody, InPath};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::{BRANCH_NAME, CONSTRAINT, PROJECT_PATH};
use axum::extract::State;
use axum::response;
use builder::{Builder, ReplayedBranch};
use registry::{Permission, Principal, ProjectPath, Record, RunId, Store};
use runner::{Invoker, Replay, ReplayTarget};
use serde_json::{Value, json};

use crate::routes::progress::report;
use crate::sections;
use crate::wire::{ReplayToolInvocation, Replayed, replay_example};
use crate::work::{Events, FinalResponse, Reply};

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("replay-tool-invocation", sections::HISTORY, "Replay a run")
        .description(
            "Runs the code again, offline, from the recording of the run. The replay has no connection and no clock, and \
            leaves no record. For the version that ran, the response has the first difference, if there is one. For another \
            version or the tip of a branch, the response lists the differences. The operation also needs \
            `Tool:InvokeTool`, and for a branch `Tool:ModifyTool`.",
        )
        .returns::<Replayed>(200, "The result of the comparison.", replay_example())
        .builds_and_runs_a_branch()
        .errors(400, &["tape_missing", "tape_cut", "tape_damaged", "replay_subject"])
        .errors(503, &["artifact_damaged"])
}

pub(crate) async fn handle(
    State(store): State<Store>,
    State(builder): State<Builder>,
    State(invoker): State<Invoker>,
    Caller(principal): Caller,
    InPath(invocation): InPath<RunId>,
    reply: Reply,
    Body(code): Body<ReplayToolInvocation>,
) -> Result<response::Response, Error> {
    let run = store.history().get_invocation(&principal.organization, &invocation).await?.ok_or(Error::NotFound)?;
    let required = |permission| Requirement { principal: &principal, permission };
    required(Permission::InvokeTool).require_for_run(&store, &invocation).await?;
    if matches!(code, ReplayToolInvocation::Branch { .. }) {
        required(Permission::ModifyTool).require_for_run(&store, &invocation).await?;
    }
    let work = Work { store, builder, invoker, principal, run, code };
    reply.respond(|context| work.run(context.events)).await
}

struct Work {
    store: Store,
    builder: Builder,
    invoker: Invoker,
    principal: Principal,
    run: Record,
    code: ReplayToolInvocation,
}

impl Work {
    async fn run(self, events: Events) -> Result<FinalResponse, Error> {
        let Self { store, builder, invoker, principal, run, code } = self;
        let target = match code {
            ReplayToolInvocation::Recorded {} => ReplayTarget::Itself,
            ReplayToolInvocation::Version { version } => ReplayTarget::Version(version),
            ReplayToolInvocation::Branch { commit_branch, project_path } => {
                let project_path = match project_path {
                    Some(path) => path,
                    None => find_path(&store, &run).await?,
                };
                let replayed = ReplayedBranch { commit_branch, project_path };
                let build = |progress| builder.build_for_replay(&principal, replayed, progress);
                ReplayTarget::Candidate(Box::new(report(&events, build).await?))
            }
        };
        let replayed = invoker.replay(Replay { principal, invocation: run.start.id, target }).await?;
        FinalResponse::ok(&Replayed::from(replayed))
    }
}

/// The project path of the version that ran.
async fn find_path(store: &Store, run: &Record) -> Result<ProjectPath, Error> {
    let found = match (&run.start.tool, &run.start.tool_version) {
        (Some(tool), Some(version)) => store.versions().get_version(&run.start.organization, tool, version).await?,
        _ => None,
    };
    let wanted = "a project_path beside the branch";
    found.map(|version| version.project_path).ok_or(Error::Runner(runner::Error::ReplaySubject { wanted }))
}

impl FromBody for ReplayToolInvocation {
    const NAME: &'static str = "ReplayToolInvocation";

    fn example() -> Value {
        json!({"version": "1.1.0"})
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let version = fields.read_optional(
            "version",
            CONSTRAINT.described(
                "A version or a constraint: the highest live version that it admits is replayed. When absent, and without a \
                branch, the version that ran.",
            ),
        );
        let commit_branch =
            fields.read_optional("commit_branch", BRANCH_NAME.described("A branch. Its tip is built and replayed."));
        let project_path = fields.read_optional(
            "project_path",
            PROJECT_PATH
                .described("The project's folder in the branch. When absent, the folder of the version that ran."),
        );
        match (version, commit_branch) {
            (Some(_), Some(_)) => fields.refuse("replay_subject", "version and commit_branch cannot be combined"),
            (Some(version), None) => Some(Self::Version { version }),
            (None, Some(commit_branch)) => Some(Self::Branch { commit_branch, project_path }),
            (None, None) => Some(Self::Recorded {}),
        }
    }
}
