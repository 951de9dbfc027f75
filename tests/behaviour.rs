//! Behaviour of tools and the results of their runs. There is one guest for each behaviour, and all guests are pushed
//! once.

mod annotations;
mod boundary;
mod encodings;
mod endings;
mod inputs;
mod isolation;
mod ledger;
mod output_schema;
mod outputs;
mod python;
mod secrets;
mod used_secrets;

use serde_json::{Value, json};

use crate::harness::{Bump, Run, Team, Tool};

/// A guest and the expected result of its run.
struct Case {
    name: &'static str,
    before: &'static str,
    body: &'static str,
    manifest: &'static str,
    expect: Expect,
}

enum Expect {
    /// This output.
    Output(String),
    /// This JSON.
    Json(Value),
    /// A failure of this type, with these words in its message.
    Failure(&'static str, &'static [&'static str]),
    /// Any run that the function accepts.
    That(fn(&Run)),
}

fn case(name: &'static str, body: &'static str, expect: Expect) -> Case {
    Case { name, before: "", body, manifest: "", expect }
}

fn gives(name: &'static str, body: &'static str, output: &str) -> Case {
    case(name, body, Expect::Output(output.to_owned()))
}

fn gives_json(name: &'static str, body: &'static str, output: Value) -> Case {
    case(name, body, Expect::Json(output))
}

fn fails(name: &'static str, body: &'static str, kind: &'static str, words: &'static [&'static str]) -> Case {
    case(name, body, Expect::Failure(kind, words))
}

impl Case {
    fn before(self, before: &'static str) -> Self {
        Self { before, ..self }
    }

    fn manifest(self, manifest: &'static str) -> Self {
        Self { manifest, ..self }
    }

    fn write<'t>(&self, team: &'t Team) -> Tool<'t> {
        team.tool(self.name).source(self.before, self.body).manifest(self.manifest)
    }

    fn check(&self, run: &Run) {
        match &self.expect {
            Expect::Output(output) => assert_eq!(run.output(), output),
            Expect::Json(value) => assert_eq!(run.json(), *value),
            Expect::That(accepts) => accepts(run),
            Expect::Failure(kind, words) => {
                let failure = run.failure();
                assert_eq!(failure.kind, *kind, "{run}");
                for word in *words {
                    assert!(failure.message.contains(word), "{word:?} is missing in: {run}");
                }
            }
        }
    }
}

/// Publishes every guest and runs it. The record of every run must equal its answer.
#[track_caller]
fn check(cases: &[Case]) {
    let team = Team::new();
    let tools: Vec<_> = cases.iter().map(|case| case.write(&team)).collect();
    team.push();
    let mut wrong = Vec::new();
    for (case, tool) in cases.iter().zip(&tools) {
        let looked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            tool.publish(Bump::Minor).expect(201);
            let run = tool.invoke(json!({}));
            case.check(&run);
            recorded(&team, &run);
        }));
        if looked.is_err() {
            wrong.push(case.name);
        }
    }
    assert!(wrong.is_empty(), "these guests went wrong: {wrong:?}");
}

/// Asserts that the record of a run equals its answer.
fn recorded(team: &Team, run: &Run) {
    let record = team.get(&format!("/tool/invocation/{}", run.id()));
    for field in ["succeeded", "output", "exception_type", "exception_message", "exception_stack_trace"] {
        assert_eq!(record["invocation_status"][field], run.0[field], "{field} of {record}");
    }
    assert_eq!(record["persisted"], run.is_persisted());
}
