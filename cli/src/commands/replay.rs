//! `lathe replay`: repeats a recorded run offline and compares the results.

use api::wire::{ReplayCosts, ReplayDifference, ReplayToolInvocation, Replayed};
use clap::Args;
use registry::{BranchName, ProjectPath};

use super::constraint::Constraint;
use super::not_found;
use crate::client::Client;
use crate::failure::Outcome;
use crate::output::{RunDisplay, Screen, clip, escape_hidden};

/// Maximum length of a value in a difference.
const TEXT_CHARACTERS_MAX: usize = 2_000;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 no difference; 1 a difference, or the replay was refused; 2 invalid command line."
)]
pub struct ReplayArguments {
    /// The record's id, as `lathe history list` shows it
    invocation: String,
    /// Version to run, or a constraint such as 1, ^1.2 or '>=1.2,<2' [default: the recorded version]
    #[arg(long, value_name = "CONSTRAINT", conflicts_with = "branch")]
    version: Option<Constraint>,
    /// Pushed branch to build and run, instead of a version
    #[arg(long)]
    branch: Option<BranchName>,
    /// Project directory in the branch [default: that of the recorded version]
    #[arg(long, value_name = "DIRECTORY", requires = "branch")]
    path: Option<ProjectPath>,
}

pub async fn run(arguments: ReplayArguments, client: &Client, screen: Screen) -> anyhow::Result<Outcome> {
    let ReplayArguments { invocation, version, branch, path } = arguments;
    let request = match (version, branch) {
        (Some(constraint), _) => ReplayToolInvocation::Version { version: constraint.as_str().parse()? },
        (None, Some(commit_branch)) => ReplayToolInvocation::Branch { commit_branch, project_path: path },
        (None, None) => ReplayToolInvocation::Recorded {},
    };
    let display = RunDisplay::start(&format!("replaying {invocation}"));
    let answer = client.replay(&invocation, &request, |event| display.show(event)).await;
    let what = format!("record {invocation}, or no live version that matches");
    let answer = not_found::name_missing(
        answer,
        &what,
        "`lathe history list` lists records, `lathe tool versions TOOL` versions",
    )?;
    drop(display);
    screen.answer(&answer.document, || render_text(&answer.body))?;
    Ok(if answer.body.identical { Outcome::Done } else { Outcome::Failed })
}

fn render_text(replayed: &Replayed) -> String {
    let up_to = if replayed.complete { "" } else { ", up to the end of the recorded time" };
    if replayed.identical {
        return format!("identical{up_to}");
    }
    let mut lines = vec![format!("different{up_to}")];
    lines.extend(replayed.differences.iter().flat_map(build_lines));
    let ReplayCosts { recorded, replayed: now } = &replayed.cost;
    lines.push(format!("cost      {} ms computing, now {} ms", recorded.cpu_ms, now.cpu_ms));
    escape_hidden(&lines.join("\n"))
}

fn build_lines(difference: &ReplayDifference) -> [String; 3] {
    let place = difference.position.map(|position| format!(" {position}")).unwrap_or_default();
    let shown = |text: &Option<String>| match text {
        Some(text) => clip(text, TEXT_CHARACTERS_MAX),
        None => "nothing".to_owned(),
    };
    [
        format!("{}{place}", difference.what),
        format!("  recorded  {}", shown(&difference.recorded)),
        format!("  now       {}", shown(&difference.replayed)),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn render_shown(identical: bool, complete: bool) -> String {
        let differences = json!([
            {"what": "outcome", "position": null, "recorded": "a", "replayed": "b"},
            {"what": "effect", "position": 3, "recorded": null, "replayed": "sent the status event c"},
        ]);
        let differences = if identical { json!([]) } else { differences };
        let cost = json!({"cpu_ms": 2, "guest_us": 3, "host_us": 4, "waiting_us": 5, "memory_peak_bytes": 1});
        let cost = json!({"recorded": cost, "replayed": cost});
        let result = json!({
            "succeeded": true, "output": "b", "duration_ms": 1, "invocation_id": "691f3b2a5c1e4d7f8a9b0c1d", "persisted": false,
        });
        let replayed = json!({
            "identical": identical, "complete": complete, "differences": differences, "invocation_result": result,
            "cost": cost,
        });
        render_text(&serde_json::from_value(replayed).expect("a replay"))
    }

    #[test]
    fn differences_are_a_few_lines_each() {
        assert_eq!(render_shown(true, true), "identical");
        assert_eq!(render_shown(true, false), "identical, up to the end of the recorded time");
        let text = render_shown(false, true);
        assert!(text.contains("outcome\n  recorded  a\n  now       b\neffect 3\n  recorded  nothing\n"), "{text}");
    }
}
