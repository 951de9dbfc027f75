//! `lathe inbox answer --wait`: waits until a run has ended or asks again.

use crate::client::Client;
use crate::commands::run::{choose_outcome, render_result};
use crate::failure::{Failure, Outcome};
use crate::output::{Screen, Spinner};

/// The run continues when the wait for it fails.
const ADVICE: &str = "the answer was accepted, and the run goes on";

pub async fn run(client: &Client, id: &str, screen: Screen) -> anyhow::Result<Outcome> {
    let progress = Spinner::start("waiting");
    progress.show(format!("the run {id} goes on"));
    let waited = client.wait_for_agent_run(id).await;
    drop(progress);
    let run = waited.map_err(|error| Failure::add_hint(error, ADVICE.to_owned()))?;
    screen.answer(&run.document, || render_result(&run.body))?;
    Ok(choose_outcome(&run.body))
}
