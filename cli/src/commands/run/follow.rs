//! `lathe run follow`: prints the steps of a run until it ends or asks a person.

use api::wire::AgentRunStep;

use super::missing::name_missing;
use super::result::{choose_outcome, render_result};
use super::trace::render_step;
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::Screen;

/// Characters of each text of a step. `lathe run trace` prints all of it.
const STEP_CHARACTERS_MAX: usize = 400;

pub async fn run(client: &Client, id: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let mut show = |step: &AgentRunStep| screen.note(render_step(step, STEP_CHARACTERS_MAX));
    let run = name_missing(client.follow_agent_run(id, Some(&mut show)).await, id)?;
    screen.answer(&run.document, || render_result(&run.body))?;
    Ok(choose_outcome(&run.body))
}
