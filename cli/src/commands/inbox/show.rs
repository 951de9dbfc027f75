//! `lathe inbox show`: shows a request.

use api::wire::{HumanForm, HumanRequest, HumanResponse};
use clap::Args;
use serde_json::json;

use super::field::list_fields;
use super::request;
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::{Screen, cut_to_second, escape_hidden};

const OPEN: &str = "open";

#[derive(Debug, Args)]
pub struct ShowArguments {
    /// The request's id
    request: String,
}

pub async fn run(client: &Client, arguments: &ShowArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let id = &arguments.request;
    let shown = request::name_missing(client.get_human_request(id).await, id)?;
    screen.answer(&shown.document, || render_text(&shown.body))
}

fn render_text(asked: &HumanRequest) -> String {
    // Indented, so that a text of a model does not look like one of this command.
    let mut parts = vec![render_facts(asked), format!("Question:\n  {}", indent(&asked.question))];
    parts.extend(asked.context_summary.as_ref().map(|context| format!("Context:\n  {}", indent(context))));
    if !asked.options.is_empty() {
        let option = |(number, option): (usize, &String)| format!("\n  {number}. {}", indent(option));
        let options: String = (1..).zip(&asked.options).map(option).collect();
        parts.push(format!("Options (other answers are taken, too):{options}"));
    }
    parts.extend(render_forms(&asked.forms));
    parts.extend(asked.response.as_ref().map(render_response));
    if asked.status == OPEN {
        let commands: String = request::list_answers(asked).iter().map(|command| format!("\n  {command}")).collect();
        parts.push(format!("To answer:{commands}"));
    }
    escape_hidden(&parts.join("\n\n"))
}

fn render_facts(asked: &HumanRequest) -> String {
    let mut lines = vec![
        format!("id       {}", asked.human_request_id),
        format!("kind     {}", asked.kind),
        format!("urgency  {}", asked.urgency),
        format!("status   {}", asked.status),
        format!("run      {} of {}", asked.agent_run_id, asked.user_id),
        format!("agent    {}", asked.agent_id),
    ];
    lines.extend(asked.tool.as_ref().map(|tool| format!("tool     {tool}")));
    if let Some(call) = &asked.call {
        lines.extend(call.tool_version.as_ref().map(|version| format!("version  {version}")));
        lines.extend(call.component_digest.as_ref().map(|digest| format!("code     {digest}")));
        lines.extend(call.agent_revision.map(|revision| format!("revision {revision} of the agent")));
    }
    lines.push(format!("asked    {}", cut_to_second(&asked.created_at)));
    lines.push(format!("expires  {}", cut_to_second(&asked.expires_at)));
    let by = asked.answered_by.as_ref().map(|user| format!(" by {user}")).unwrap_or_default();
    lines.extend(asked.closed_at.as_ref().map(|at| format!("closed   {}{by}", cut_to_second(at))));
    lines.join("\n")
}

fn render_forms(forms: &[HumanForm]) -> Vec<String> {
    let fields = list_fields(forms);
    let text = |HumanForm { key, message, .. }: &HumanForm| {
        let of_form = fields.iter().filter(|field| field.form == key);
        let lines: String = of_form.map(|field| format!("\n  {}", indent(&field.render()))).collect();
        format!("Form {key}: {}{lines}", indent(message))
    };
    forms.iter().map(text).collect()
}

fn render_response(HumanResponse { human_input, approved, forms }: &HumanResponse) -> String {
    let approved = approved.map(|approved| if approved { "approved" } else { "declined" }.to_owned());
    let values = forms.as_ref().map(|forms| json!(forms).to_string());
    let lines = [approved, human_input.clone(), values].into_iter().flatten();
    format!("Answer:{}", lines.map(|line| format!("\n  {}", indent(&line))).collect::<String>())
}

/// Indents all lines but the first one.
fn indent(text: &str) -> String {
    text.trim_end().replace('\n', "\n  ")
}
