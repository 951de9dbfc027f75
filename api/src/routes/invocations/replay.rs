//! `POST /v1/{organization}/tool/invocation/{invocation_id}/replay`: a run once more, over its tape.
//!
//! Beside the right to read the record it takes the right to run the tool, since it does. A branch is code that nobody
//! published, and gets what the run had, secrets too: that takes the right to modify the tool.

use axum::extract::State;
use axum::response;
use builder::Builder;
use registry::{BranchName, Constraint, Cost, Invocation, InvocationId, Permission, Principal, ProjectPath, Store};
use runner::{Against, Difference, Invoker, Replay, Replayed, What};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::app::App;
use crate::auth::{Caller, require_for_run};
use crate::error::Error;
use crate::extract::{Body, FromBody, InPath, Node};
use crate::openapi::{Operation, Tag, form};
use crate::routes::names::{branch_name_form, constraint_form, project_path_form};
use crate::routes::progress::reported;
use crate::routes::results::{self, InvocationResult};
use crate::work::{Answer, Events, Reply};

pub(crate) struct Request {
    code: Code,
}

/// Whose code runs over the tape.
enum Code {
    Itself,
    Version(Constraint),
    Branch { branch: BranchName, project_path: Option<ProjectPath> },
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Replayed")]
pub(crate) struct Response {
    /// Whether nothing differs. What a run cost is not compared.
    identical: bool,
    /// Whether the run was compared to its end. One that its time stopped is compared up to there.
    complete: bool,
    /// Of the version that ran: the first one. Of other code: at most 100.
    differences: Vec<DifferenceInstance>,
    /// How the replay ended.
    invocation_result: InvocationResult,
    cost: Costs,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReplayDifference")]
struct DifferenceInstance {
    what: WhatInstance,
    /// Which effect it was, from zero; among the status events where other code ran.
    position: Option<usize>,
    recorded: Option<String>,
    replayed: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ReplayDifferenceKind")]
enum WhatInstance {
    /// Output, or type, message and stack trace of what was raised.
    Outcome,
    /// What the run printed.
    Logs,
    /// An effect, or what came before it.
    Effect,
    /// How often something happened.
    Count,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReplayCosts")]
struct Costs {
    /// Null for a run of an earlier release.
    recorded: Option<Cost>,
    replayed: Cost,
}

pub(crate) fn operation() -> Operation {
    Operation::new("replay-tool-invocation", Tag::History, "Replay a run")
        .says(
            "Runs the code again over the tape of the run, with no connection and no clock, and without a record. The \
            version that ran gives the same answer, byte for byte, or the first difference is named. Another version, or \
            the tip of a branch, gives all that it does otherwise. It takes `Tool:InvokeTool` as well, and for a branch \
            `Tool:ModifyTool`.",
        )
        .answers::<Response>(200, "What came of it.", example())
        .builds_and_runs_a_branch()
        .refuses(400, &["tape_missing", "tape_cut", "tape_damaged", "replay_subject"])
        .refuses(503, &["artifact_damaged"])
}

fn example() -> Value {
    let result = &results::example()["invocation_results"][0];
    let cost = json!({
        "cpu_ms": 1, "guest_us": 640, "host_us": 25, "waiting_us": 120, "memory_peak_bytes": 23_068_672,
    });
    json!({
        "identical": false,
        "complete": true,
        "differences": [{"what": "outcome", "position": null, "recorded": "hello", "replayed": "HELLO"}],
        "invocation_result": result,
        "cost": {"recorded": cost, "replayed": cost},
    })
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    InPath(invocation): InPath<InvocationId>,
    reply: Reply,
    Body(Request { code }): Body<Request>,
) -> Result<response::Response, Error> {
    let run = app.store().get_invocation(&principal.organization, &invocation).await?.ok_or(Error::NotFound)?;
    require_for_run(&app, &principal, Permission::InvokeTool, &invocation).await?;
    if matches!(code, Code::Branch { .. }) {
        require_for_run(&app, &principal, Permission::ModifyTool, &invocation).await?;
    }
    let (store, builder, invoker) = (app.store().clone(), app.builder().clone(), app.invoker().clone());
    let work = Work { store, builder, invoker, principal, run, code };
    reply.with(&app, |job| work.done(job.events)).await
}

struct Work {
    store: Store,
    builder: Builder,
    invoker: Invoker,
    principal: Principal,
    run: Invocation,
    code: Code,
}

impl Work {
    async fn done(self, events: Events) -> Result<Answer, Error> {
        let Self { store, builder, invoker, principal, run, code } = self;
        let against = match code {
            Code::Itself => Against::Itself,
            Code::Version(constraint) => Against::Version(constraint),
            Code::Branch { branch, project_path } => {
                let path = match project_path {
                    Some(path) => path,
                    None => path_of(&store, &run).await?,
                };
                let build = |progress| builder.build_for_replay(&principal, path, branch, progress);
                Against::Candidate(Box::new(reported(&events, build).await?))
            }
        };
        let replayed = invoker.replay(Replay { principal, invocation: run.id, against }).await?;
        Answer::ok(&Response::from(replayed))
    }
}

/// Where the project of the version lies that ran.
async fn path_of(store: &Store, run: &Invocation) -> Result<ProjectPath, Error> {
    let found = match (&run.tool, &run.tool_version) {
        (Some(tool), Some(version)) => store.get_version(&run.organization, tool, version).await?,
        _ => None,
    };
    let wanted = "a project_path beside the branch";
    found.map(|version| version.project_path).ok_or(Error::Runner(runner::Error::ReplaySubject { wanted }))
}

impl From<Replayed> for Response {
    fn from(replayed: Replayed) -> Self {
        let Replayed { differences, is_complete, result, recorded_cost, replayed_cost, .. } = replayed;
        Self {
            identical: differences.is_empty(),
            complete: is_complete,
            differences: differences.into_iter().map(DifferenceInstance::from).collect(),
            invocation_result: result.into(),
            cost: Costs { recorded: recorded_cost, replayed: replayed_cost },
        }
    }
}

impl From<Difference> for DifferenceInstance {
    fn from(difference: Difference) -> Self {
        let Difference { what, position, recorded, replayed } = difference;
        let what = match what {
            What::Outcome => WhatInstance::Outcome,
            What::Logs => WhatInstance::Logs,
            What::Effect => WhatInstance::Effect,
            What::Count => WhatInstance::Count,
        };
        Self { what, position, recorded, replayed }
    }
}

impl FromBody for Request {
    const NAME: &'static str = "ReplayToolInvocation";

    fn form() -> Value {
        json!({
            "type": "object",
            "properties": {
                "version": form::said(
                    form::or_null(constraint_form()),
                    "A version or constraint: the highest live version that it admits runs over the tape. Without it, \
                    and without a branch, the version that ran.",
                ),
                "commit_branch": form::said(form::or_null(branch_name_form()), "A branch, whose tip is built and runs."),
                "project_path": form::said(
                    form::or_null(project_path_form()),
                    "The project's folder in the branch; otherwise that of the version that ran.",
                ),
            },
        })
    }

    fn example() -> Value {
        json!({"version": "1.1.0"})
    }

    fn from_body(body: &Node) -> Option<Self> {
        let version = match body.optional("version") {
            Some(node) => Some(node.parsed(Constraint::parse)?),
            None => None,
        };
        let branch = match body.optional("commit_branch") {
            Some(node) => Some(node.parsed(BranchName::parse)?),
            None => None,
        };
        let project_path = match body.optional("project_path") {
            Some(node) => Some(node.parsed(ProjectPath::parse)?),
            None => None,
        };
        let code = match (version, branch) {
            (Some(_), Some(_)) => {
                return body.refuse("replay_subject", "either a version or a branch, not both".to_owned());
            }
            (Some(constraint), None) => Code::Version(constraint),
            (None, Some(branch)) => Code::Branch { branch, project_path },
            (None, None) => Code::Itself,
        };
        body.object().map(|_| Self { code })
    }
}
