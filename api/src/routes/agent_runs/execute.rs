//! `POST /agents/execute`: starts a run of an agent.

use agents::{AgentReference, AgentRunOptions, AgentRunService, ModelBounds, OnStuck, StuckAction};
use api_kit::call_depth::CallDepth;
use api_kit::caller::Caller;
use api_kit::caller_names::InNamesOf;
use api_kit::extract::{
    AnyObject, Boolean, Decoder as _, Fields, FromBody, Idempotent, List, Object, OneOf, PathParameter as _, Query,
    Text, WholeNumber,
};
use api_kit::openapi::OperationDoc;
use api_kit::tasks::Tasks;
use axum::extract::State;
use registry::InvalidValue;
use serde_json::{Value, json};

use super::response_time::{Answer, ResponseTime};
use crate::routes::agents::fields::read_built_in_tools;
use crate::sections;
use crate::wire::{AgentRun, agent_run_example};

const OBJECTIVE_BYTES_MAX: usize = 64 << 10;
const NAME_BYTES_MAX: usize = 128;
const TOOLS_MAX: usize = 128;
const ITERATIONS_MAX: i64 = 200;
/// Thirty days.
const HUMAN_TIMEOUT_SECONDS_MAX: i64 = 2_592_000;

const OBJECTIVE: Text<String> = Text::new(
    || json!({"type": "string", "minLength": 1, "maxLength": OBJECTIVE_BYTES_MAX, "x-bytes-max": OBJECTIVE_BYTES_MAX}),
    |text| check_bytes(text, OBJECTIVE_BYTES_MAX),
);

const NAME: Text<String> = Text::new(
    || json!({"type": "string", "minLength": 1, "maxLength": NAME_BYTES_MAX, "x-bytes-max": NAME_BYTES_MAX}),
    |text| check_bytes(text, NAME_BYTES_MAX),
);

const ACTION: OneOf<StuckAction> = OneOf(&[
    ("fail", StuckAction::Fail),
    ("escalate", StuckAction::Escalate),
    ("retry_with_hint", StuckAction::RetryWithHint),
]);

const TOOLS: &str = "The tools that the model sees: names of the agent's tools, and the control tools `__complete__`, \
    `__run_workflow__`, `__pause_for_human__`, `__store_memory__`, `__retrieve_memory__` and `__log_progress__`. Without \
    `__complete__` a run ends without an answer.";

const BUILT_IN_TOOLS: &str = "The families of the Library that the run has, instead of those of the agent. Gateways have none. `humanIntervention` makes that of \
    the agent stricter.";

const MODEL: &str = "The model, instead of that of the server's settings. The operator may allow some models only.";

const TOKENS: &str =
    "Tokens after which the model is not asked again. The operator may set a bound, which lowers the default.";

const AUTONOMOUS: &str =
    "Whether the run goes on without people: a call that would ask a person fails, and so does a run that is stuck.";

const CONTEXT: &str = "What the model is told beside the objective, up to 64 KiB.";

const ON_STUCK: &str = "What happens when the same call had the same result several times in a row: the run fails, a person is \
    asked, or the model is told a hint once.";

pub(crate) struct Request {
    agent: AgentReference,
    options: AgentRunOptions,
    tokens_max: Option<u64>,
}

pub(crate) fn operation() -> OperationDoc {
    OperationDoc::new("execute-agent", sections::AGENTS, "Run an agent")
        .description(
            "Lets a model call the tools of an agent until it has reached the objective. The model is that of the server's \
            settings. The run acts for the caller, with the caller's rights at each call, and every call is in the history. The \
            response comes when the run has ended or waits for a person; a client that goes away ends nothing. A repeated \
            request with the same idempotency key gets the run that the first one started.",
        )
        .returns::<AgentRun>(200, "The run has ended, or waits for a person.", agent_run_example())
        .returns::<AgentRun>(202, "With `async=true`: the run has started. Also when the server stops meanwhile, or the request is a repetition: the run goes on.", agent_run_example())
        .errors(403, &["organization_differs"])
        .errors(400, &["run_tool_unknown", "model_not_allowed", "run_tokens_exceeded", "loop_detected"])
        .errors(429, &["too_many_runs"])
        .errors(503, &["model_missing", "overloaded"])
        .links_to("get-agent-run", "agent_run_id", "/agent_run_id")
}

pub(crate) async fn handle(
    State(runs): State<AgentRunService>,
    State(tasks): State<Tasks>,
    Caller(principal): Caller,
    CallDepth(depth): CallDepth,
    Query(time): Query<ResponseTime>,
    InNamesOf(names): InNamesOf,
    request: Idempotent<Request>,
) -> Answer {
    let Idempotent { request: Request { agent, options, tokens_max }, once } = request;
    let tokens_max = tokens_max.unwrap_or_else(|| runs.tokens_default());
    let options = AgentRunOptions { names, depth, tokens_max, ..options };
    let begin = async move { Ok(runs.start(&principal, &agent, options, once).await?) };
    time.respond(begin, &tasks).await
}

impl FromBody for Request {
    const NAME: &'static str = "ExecuteAgent";

    fn example() -> Value {
        json!({
            "agent": "support", "objective": "Find the orders of Ann.", "tools": ["search_orders", "__complete__"],
            "max_iterations": 10,
        })
    }

    fn read(fields: &mut Fields) -> Option<Self> {
        let agent =
            fields.read_required("agent", AgentReference::decoder().described("The id or the slug of the agent."));
        let objective = fields.read_required("objective", OBJECTIVE.described("What the run shall reach."));
        let tools = List { items: NAME, length: 1..=TOOLS_MAX };
        let tools = fields.read_required("tools", tools.described(TOOLS));
        let families = Object(read_built_in_tools).described(BUILT_IN_TOOLS);
        let built_in_tools = fields.read_optional("builtInTools", families);
        let model = fields.read_optional("model", NAME.described(MODEL));
        let iterations = WholeNumber(1..=ITERATIONS_MAX).described("Answers of the model, at most.");
        let iterations = fields.read_optional("max_iterations", iterations.with_default(AgentRunOptions::ITERATIONS));
        let tokens = WholeNumber(1..=ModelBounds::TOKENS_MAX.cast_signed()).described(TOKENS);
        let tokens = fields.read_optional("max_tokens", tokens.with_default(AgentRunOptions::TOKENS));
        let key = NAME.described("The key of the answer in the context.").with_default(AgentRunOptions::RESULT_KEY);
        let result_key = fields.read_optional("result_key", key);
        let on_stuck = fields.read_optional("on_stuck", Object(read_on_stuck).described(ON_STUCK));
        let autonomous = fields.read_optional("autonomous", Boolean.with_default(false).described(AUTONOMOUS));
        let timeout = WholeNumber(1..=HUMAN_TIMEOUT_SECONDS_MAX).described("Seconds in which a person answers.");
        let default = AgentRunOptions::HUMAN_TIMEOUT_SECONDS;
        let human_timeout = fields.read_optional("human_timeout_seconds", timeout.with_default(default));
        let context = fields.read_optional("context", AnyObject.described(CONTEXT)).unwrap_or_default();
        if Value::Object(context.clone()).to_string().len() > OBJECTIVE_BYTES_MAX {
            let wrong = InvalidValue::new("the context", "must have at most 65536 bytes as JSON");
            fields.check_field::<()>("context", Err(wrong))?;
        }
        let usual = AgentRunOptions::new(objective?);
        Some(Self {
            agent: agent?,
            options: AgentRunOptions {
                tools: Some(tools?),
                built_in_tools,
                model,
                iterations_max: iterations.map_or(Ok(usual.iterations_max), u32::try_from).ok()?,
                result_key: result_key.unwrap_or(usual.result_key),
                on_stuck: on_stuck.unwrap_or_default(),
                autonomous: autonomous.unwrap_or_default(),
                human_timeout_seconds: human_timeout.map_or(Ok(default), u64::try_from).ok()?,
                context,
                ..usual
            },
            tokens_max: tokens.and_then(|tokens| u64::try_from(tokens).ok()),
        })
    }
}

fn read_on_stuck(fields: &mut Fields) -> Option<OnStuck> {
    let default = OnStuck::default();
    let times = WholeNumber(2..=ITERATIONS_MAX).described("Equal calls with equal results, one after the other.");
    let iterations = fields.read_optional("iterations", times.with_default(default.iterations));
    let action = fields.read_optional("action", ACTION.with_default("fail"));
    let hint = fields.read_optional("hint", OBJECTIVE.described("What the model is told."));
    let iterations = iterations.and_then(|iterations| u32::try_from(iterations).ok()).unwrap_or(default.iterations);
    Some(OnStuck { iterations, action: action.unwrap_or(default.action), hint })
}

fn check_bytes(text: &str, bytes_max: usize) -> Result<String, String> {
    match text.len() {
        0 => Err("should not be empty".to_owned()),
        length if length > bytes_max => Err(format!("should have at most {bytes_max} bytes")),
        _ => Ok(text.to_owned()),
    }
}
