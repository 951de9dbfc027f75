//! `lathe run start`: starts a run of an agent.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::follow;
use crate::client::Client;
use crate::commands::times::parse_duration;
use crate::commands::{input, not_found};
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::text_input;

/// Maximum tools of a run, from the API.
const TOOLS_MAX: usize = 128;
/// The control tool with which a model ends a run.
const COMPLETE: &str = "__complete__";
/// The control tools that a run has unless it names its tools.
const CONTROL_TOOLS: [&str; 5] =
    [COMPLETE, "__run_workflow__", "__store_memory__", "__retrieve_memory__", "__log_progress__"];
/// The control tool with which a model asks a person. An autonomous run asks nobody.
const PAUSE: &str = "__pause_for_human__";

#[derive(Debug, Args)]
pub struct StartArguments {
    /// The agent's slug or id
    agent: String,
    /// What the run shall reach; - for stdin
    objective: String,
    /// Tool that the model sees, by the name in `lathe agent tools`; repeatable, and __complete__ is always there [default: all tools of the agent and all control tools]
    #[arg(long = "tool", short = 't', value_name = "NAME")]
    tools: Vec<String>,
    /// What the model is told beside the objective: a JSON object, @FILE, or - for stdin
    #[arg(long, value_name = "JSON")]
    context: Option<String>,
    /// Model, instead of that of the server
    #[arg(long)]
    model: Option<String>,
    /// Maximum number of answers of the model, up to 200 [default: 20]
    #[arg(long, value_name = "COUNT")]
    max_iterations: Option<u32>,
    /// Maximum number of tokens [default: 1000000, or the server's bound]
    #[arg(long, value_name = "COUNT")]
    max_tokens: Option<u64>,
    /// Ask nobody: a call that would ask a person fails
    #[arg(long)]
    autonomous: bool,
    /// Time in which a person answers, such as 2h [default: 1w]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    human_timeout: Option<Duration>,
    /// Print the run's id and do not wait for its end
    #[arg(long, short = 'd')]
    detach: bool,
}

pub async fn run(client: &Client, arguments: StartArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let agent = client.find_agent(&arguments.agent).await?;
    let tools = choose_tools(client, agent.id.as_str(), &agent.slug, &arguments).await?;
    let started = client.start_agent_run(&build_request(agent.id.as_str(), tools, &arguments)?).await?;
    let id = started.body.agent_run_id.as_str();
    if arguments.detach {
        return screen.answer(&started.document, || format!("started {id}\n\nTo follow it:\n  lathe run follow {id}"));
    }
    screen.note(format!("the run {id} goes on if you stop this command; `lathe run cancel {id}` ends it"));
    follow::run(client, id, screen).await
}

fn build_request(agent: &str, tools: Vec<String>, arguments: &StartArguments) -> anyhow::Result<Value> {
    let objective = match arguments.objective.as_str() {
        "-" => text_input::read_stdin()?,
        text => text.to_owned(),
    };
    let mut request = json!({"agent": agent, "objective": objective, "tools": tools});
    let optional = [
        (
            "context",
            arguments
                .context
                .as_deref()
                .map(|text| input::read_object(text, "--context"))
                .transpose()?
                .map(Value::Object),
        ),
        ("model", arguments.model.as_ref().map(|model| json!(model))),
        ("max_iterations", arguments.max_iterations.map(|count| json!(count))),
        ("max_tokens", arguments.max_tokens.map(|count| json!(count))),
        ("autonomous", arguments.autonomous.then_some(Value::Bool(true))),
        ("human_timeout_seconds", arguments.human_timeout.map(|timeout| json!(timeout.as_secs()))),
    ];
    for (name, value) in optional.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        request[name] = value;
    }
    Ok(request)
}

/// The named tools with the one that ends the run, or all tools of the agent with the control tools.
async fn choose_tools(
    client: &Client,
    agent: &str,
    slug: &str,
    arguments: &StartArguments,
) -> anyhow::Result<Vec<String>> {
    let mut tools = arguments.tools.clone();
    if !tools.is_empty() {
        if !tools.iter().any(|tool| tool == COMPLETE) {
            tools.push(COMPLETE.to_owned());
        }
        return Ok(tools);
    }
    let hint = format!("`lathe agent deploy {slug}` deploys the draft");
    let listed = not_found::name_missing(
        client.list_agent_tools(agent, None).await,
        &format!("deployed revision of {slug}"),
        &hint,
    )?;
    tools.extend(listed.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned));
    tools.extend(CONTROL_TOOLS.map(str::to_owned));
    if !arguments.autonomous {
        tools.push(PAUSE.to_owned());
    }
    if tools.len() > TOOLS_MAX {
        let message = format!("{slug} has {} tools with the control tools, and a run takes {TOOLS_MAX}", tools.len());
        let hint = format!("name those that the run needs with --tool; `lathe agent tools {slug}` lists them");
        return Err(Failure::usage(message, hint));
    }
    Ok(tools)
}
