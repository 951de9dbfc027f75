//! `POST /v1/{organization}/tool/test`: a branch's tip is built and run; nothing is published.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response;
use builder::{Builder, TestRequest};
use registry::{BranchName, EnvvarName, InvocationSource, Principal, ProjectPath, SecretValue};
use runner::{Call, Input, Invoker, ResultPersistence, Subject};

use super::input::inputs;
use super::names::stripped;
use super::progress::reported;
use super::results;
use crate::app::App;
use crate::auth::Caller;
use crate::error::Error;
use crate::extract::{Body, FromBody, Node};
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

pub(crate) async fn handle(
    State(app): State<App>,
    Caller(principal): Caller,
    reply: Reply,
    Body(request): Body<Request>,
) -> Result<response::Response, Error> {
    let test = Test { builder: app.builder().clone(), invoker: app.invoker().clone(), principal, request };
    reply.with(&app, |events| test.run(events)).await
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
        };
        results::run(&invoker, call, &events).await
    }
}

impl FromBody for Request {
    fn from_body(body: &Node) -> Option<Self> {
        let inputs = inputs(body);
        let commit_branch = body.required("commit_branch").and_then(|node| node.parsed(BranchName::parse));
        let project_path = body.required("project_path").and_then(|node| node.parsed(ProjectPath::parse));
        let envvars = variables(body, "required_envvars");
        let secrets = variables(body, "required_secret_envvars");
        let secrets = secrets?.into_iter().map(|(name, value)| (name, SecretValue::new(value))).collect();
        let test =
            TestRequest { project_path: project_path?, commit_branch: commit_branch?, envvars: envvars?, secrets };
        Some(Self { inputs: inputs?, test })
    }
}

fn variables(body: &Node, key: &str) -> Option<BTreeMap<EnvvarName, String>> {
    body.required(key)?.text_entries(VARIABLES_MAX, stripped)
}
