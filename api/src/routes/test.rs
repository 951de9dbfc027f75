//! `POST /v1/{organization}/tool/test`: a branch's tip is built and run; nothing is published.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response;
use builder::{Builder, TestRequest};
use registry::{BranchName, EnvvarName, InvocationSource, Permission, Principal, ProjectPath, SecretValue};
use runner::{Call, Depth, Input, Invoker, ResultPersistence, Subject};
use serde_json::{Value, json};

use super::gate::{GATE_TAKES, gate, gate_form};
use super::input::{inputs, inputs_example, inputs_form};
use super::names::{branch_name_form, envvar_name_form, project_path_form, stripped};
use super::progress::reported;
use super::results;
use crate::app::App;
use crate::auth::{Caller, require_for_all};
use crate::error::Error;
use crate::extract::{Body, FromBody, Node};
use crate::openapi::{Operation, Tag, form};
use crate::work::{Answer, Events, Reply};

/// Variables of one kind; a tool has tens of them.
const VARIABLES_MAX: usize = 100;

pub(crate) struct Request {
    inputs: Vec<Input>,
    test: TestRequest,
}

struct Test {
    builder: Builder,
    invoker: Invoker,
    principal: Principal,
    request: Request,
}

pub(crate) fn operation() -> Operation {
    Operation::new("test-tool", Tag::Runs, "Test a branch")
        .says(
            "Builds the tip of a branch, runs its project's checks, and runs it, without publishing anything. Values of variables come in the \
            request; those of a tool's own are not used. The records of these runs have the source `branch-test`.",
        )
        .answers::<results::Response>(200, "How the runs ended; one that failed is a result, too.", results::example())
        .builds_and_runs_a_branch()
}

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    reply: Reply,
    Body(request): Body<Request>,
) -> Result<response::Response, Error> {
    if request.test.gate.is_some() {
        for permission in GATE_TAKES.into_iter().chain([Permission::ModifyTool]) {
            require_for_all(&principal, permission)?;
        }
    }
    let test = Test { builder: app.builder().clone(), invoker: app.invoker().clone(), principal, request };
    reply.with(&app, |job| test.run(job.events)).await
}

impl Test {
    async fn run(self, events: Events) -> Result<Answer, Error> {
        let Self { builder, invoker, principal, request: Request { inputs, test } } = self;
        let commit_branch = test.commit_branch.to_string();
        let build = |progress| builder.build_branch(&principal, test, progress);
        let candidate = reported(&events, build).await?;
        let source = InvocationSource::BranchTest {
            user_id: principal.user.to_string(),
            commit_branch,
            commit: candidate.commit.clone(),
        };
        let call = Call {
            subject: Subject::Candidate(Box::new(candidate)),
            principal,
            inputs,
            source,
            result_persistence: ResultPersistence::default(),
            conversation: None,
            depth: Depth::default(),
            operation: None,
        };
        results::run(&invoker, call, &events).await
    }
}

impl FromBody for Request {
    const NAME: &'static str = "TestTool";

    fn form() -> Value {
        let variables = || form::map(&envvar_name_form(), &form::text(), VARIABLES_MAX);
        json!({
            "type": "object",
            "required": ["inputs", "commit_branch", "project_path", "required_envvars", "required_secret_envvars"],
            "properties": {
                "inputs": inputs_form(),
                "commit_branch": branch_name_form(),
                "project_path": project_path_form(),
                "required_envvars": variables(),
                "required_secret_envvars": variables(),
                "gate": gate_form(),
            },
        })
    }

    fn example() -> Value {
        json!({
            "inputs": inputs_example(),
            "commit_branch": "releases/acme",
            "project_path": "tools/shout",
            "required_envvars": {"GREETING": "hello"},
            "required_secret_envvars": {},
        })
    }

    fn from_body(body: &Node) -> Option<Self> {
        let inputs = inputs(body);
        let commit_branch = body.required("commit_branch").and_then(|node| node.parsed(BranchName::parse));
        let project_path = body.required("project_path").and_then(|node| node.parsed(ProjectPath::parse));
        let envvars = variables(body, "required_envvars");
        let secrets = variables(body, "required_secret_envvars");
        let secrets = secrets?.into_iter().map(|(name, value)| (name, SecretValue::new(value))).collect();
        let gate = gate(body)?;
        let test = TestRequest {
            project_path: project_path?,
            commit_branch: commit_branch?,
            envvars: envvars?,
            secrets,
            gate,
        };
        Some(Self { inputs: inputs?, test })
    }
}

fn variables(body: &Node, key: &str) -> Option<BTreeMap<EnvvarName, String>> {
    body.required(key)?.text_entries(VARIABLES_MAX, stripped)
}
