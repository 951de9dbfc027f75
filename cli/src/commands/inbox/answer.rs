//! `lathe inbox answer`: answers a request.

use api::wire::HumanResponse;
use clap::Args;

use super::values::read_values;
use super::{request, wait};
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

#[derive(Debug, Args)]
pub struct AnswerArguments {
    /// The request's id
    request: String,
    /// The answer to a question, or the reason for --decline
    text: Option<String>,
    /// Agree with a question, permit a call, or accept a form
    #[arg(long)]
    approve: bool,
    /// Disagree with a question, forbid a call, or leave a form empty
    #[arg(long, conflicts_with_all = ["approve", "fields"])]
    decline: bool,
    /// Value of a field of a form, KEY.NAME=VALUE if the request has several forms; repeatable, also for each value of a list
    #[arg(long = "field", value_name = "NAME=VALUE")]
    fields: Vec<String>,
    /// Wait until the run has ended or asks again
    #[arg(long)]
    wait: bool,
}

pub async fn run(client: &Client, arguments: &AnswerArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let id = &arguments.request;
    let answer = read(client, arguments).await?;
    let answered = request::name_missing(client.answer_human_request(id, &answer).await, id)?;
    let run = answered.body.agent_run_id.as_str();
    if arguments.wait {
        return wait::run(client, run, screen).await;
    }
    screen.answer(&answered.document, || {
        format!("answered {id}; the run {run} goes on\n\nTo list its next request:\n  lathe inbox --run {run}")
    })
}

/// Reads the answer. Reads the request, too, for the fields of its forms, and to tell what is missing.
async fn read(client: &Client, arguments: &AnswerArguments) -> anyhow::Result<HumanResponse> {
    let AnswerArguments { request: id, text, approve, decline, fields, .. } = arguments;
    let (has_fields, approved) = (!fields.is_empty(), (*approve || *decline).then_some(*approve));
    let mut answer = HumanResponse { human_input: text.clone(), approved, forms: None };
    let is_complete = !has_fields && !*approve && (text.is_some() || *decline);
    if is_complete {
        return Ok(answer);
    }
    let asked = request::name_missing(client.get_human_request(id).await, id)?.body;
    if !has_fields && !*approve {
        return Err(request::refuse_unfit("the answer is missing", &asked));
    }
    if request::is_form(&asked) {
        answer.forms = Some(read_values(&asked.forms, fields)?);
    } else if has_fields {
        return Err(request::refuse_unfit("the request has no form", &asked));
    }
    Ok(answer)
}
