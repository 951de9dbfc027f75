//! `POST /v1/{organization}/tool/test`: builds and runs the tip of a branch without publishing it.

use api_kit::auth::Requirement;
use api_kit::caller::Caller;
use api_kit::error::Error;
use api_kit::extract::{Body, Fields, FromBody, Text, TextMap, text_within};
use api_kit::openapi::OperationDoc;
use api_kit::text_types::{BRANCH_NAME, ENVVAR_NAME, PROJECT_PATH};
use axum::extract::State;
use axum::response;
use builder::{Builder, SuppliedVariables, TestRequest};
use registry::{EnvvarName, InvocationSource, Permission, Principal, SecretValue};
use runner::{Call, Invoker, Subject, ToolCaller};
use serde_json::{Value, json};

use super::inputs::{inputs, inputs_example};
use super::progress::report;
use super::replay_gate::{GATE_PERMISSIONS, replay_gate};
use super::results::run;
use crate::sections;
use crate::wire::{InvocationResults, TestTool, results_example};
use crate::work::{Events, FinalResponse, Reply};

/// Characters of a value, as of a variable of a tool.
const VALUE_CHARACTERS_MAX: usize = 32 << 10;

/// Decoder of the variables of one kind, at most a hundred: a tool has tens of them.
const VARIABLES: TextMap<Text<EnvvarName>, Text<String>> =
    TextMap { keys: ENVVAR_NAME, values: text_within::<VALUE_CHARACTERS_MAX>(), entries_max: 100 };

struct Test {
    builder: Builder,
    invoker: Invoker,
    principal: Principal,
    request: TestTool,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("test-tool", sections::RUNS, "Test a branch")
        .description(
            "Builds the tip of a branch, runs the checks of its project, and runs it on the inputs. Nothing is published. \
            The request has the values of variables; the variables of existing tools are not used. The records of these \
            runs have the source `branch-test`.",
        )
        .returns::<InvocationResults>(200, "The results of the runs. A failed run is a result, too.", results_example())
        .errors(400, &["variable_twice", "invalid_value"])
        .builds_and_runs_a_branch()
}

pub(crate) async fn handle(
    State(builder): State<Builder>,
    State(invoker): State<Invoker>,
    Caller(principal): Caller,
    reply: Reply,
    Body(request): Body<TestTool>,
) -> Result<response::Response, Error> {
    if request.gate.is_some() {
        for permission in GATE_PERMISSIONS.into_iter().chain([Permission::ModifyTool]) {
            Requirement { principal: &principal, permission }.require_for_every_tool()?;
        }
    }
    let test = Test { builder, invoker, principal, request };
    reply.respond(|context| test.run(context.events)).await
}

impl Test {
    async fn run(self, events: Events) -> Result<FinalResponse, Error> {
        let Self { builder, invoker, principal, request } = self;
        let TestTool { inputs, commit_branch, project_path, required_envvars, required_secret_envvars, gate } = request;
        let variables = SuppliedVariables { envvars: required_envvars, secrets: required_secret_envvars };
        let test = TestRequest { project_path, commit_branch: commit_branch.clone(), variables, gate };
        let build = |progress| builder.build_branch(&principal, test, progress);
        let candidate = report(&events, build).await?;
        let source = InvocationSource::BranchTest {
            user_id: principal.user().into(),
            commit_branch: commit_branch.to_string(),
            commit: candidate.commit.clone(),
        };
        let caller = ToolCaller { source, ..ToolCaller::direct(principal) };
        run(&invoker, Call::new(Subject::Candidate(Box::new(candidate)), caller, inputs), &events).await
    }
}

impl FromBody for TestTool {
    const NAME: &'static str = "TestTool";

    fn example() -> Value {
        json!({
            "inputs": inputs_example(),
            "commit_branch": "releases/acme",
            "project_path": "tools/shout",
            "required_envvars": {"GREETING": "hello"},
            "required_secret_envvars": {},
        })
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let inputs = fields.read_required("inputs", inputs());
        let commit_branch = fields.read_required("commit_branch", BRANCH_NAME);
        let project_path = fields.read_required("project_path", PROJECT_PATH);
        let envvars = fields.read_required("required_envvars", VARIABLES);
        let secrets = fields.read_required("required_secret_envvars", VARIABLES);
        let gate = fields.read_optional("gate", replay_gate());
        let (envvars, secrets) = (envvars?, secrets?);
        if let Some(name) = envvars.keys().find(|name| secrets.contains_key(name)) {
            let detail = format!("{name} is in required_envvars and in required_secret_envvars; give it once");
            return fields.refuse("variable_twice", &detail);
        }
        Some(Self {
            inputs: inputs?,
            commit_branch: commit_branch?,
            project_path: project_path?,
            required_envvars: envvars,
            required_secret_envvars: secrets.into_iter().map(|(name, value)| (name, SecretValue::new(value))).collect(),
            gate,
        })
    }
}
