//! The report of a local test, as text or JSON.

use std::time::Duration;

use builder::Checked;

use super::round::{Refusal, Round};
use crate::failure::Failure;
use crate::output::{DIM, GREEN, RED, RESET, Screen, escape_hidden, render_duration, show_outcomes};

/// Maximum number of printed lines, from the end, where errors are.
const LOG_LINES_MAX: usize = 20;

/// Shows a single round. An error of the build is the command's error.
pub fn show(screen: Screen, round: &Round) -> anyhow::Result<()> {
    if screen.is_json() {
        return screen.print_document(&round.build_document()).map(drop);
    }
    match &round.refusal {
        Some(refusal) => Err(explain_refusal(refusal)),
        None => show_text(screen, round),
    }
}

/// Shows one of many rounds: one line of JSON, or text.
pub fn show_one_of_many(screen: Screen, round: &Round) -> anyhow::Result<()> {
    if screen.is_json() {
        return screen.print_line(round.build_document());
    }
    match &round.refusal {
        Some(refusal) => screen.print_line(format!("{RED}failed{RESET}  {}", escape_hidden(&refusal.message))),
        None => show_text(screen, round),
    }
}

/// Shows a round as text. With inputs, stdout has only the outputs, ready for a pipe; checks go to stderr.
fn show_text(screen: Screen, round: &Round) -> anyhow::Result<()> {
    let lines = round.checks.iter().map(check_text).chain([summarize(round)]);
    if round.runs.is_empty() {
        return lines.into_iter().try_for_each(|line| screen.print_line(line));
    }
    lines.into_iter().for_each(|line| screen.note(line));
    for run in &round.runs {
        for request in &run.unanswered {
            let next = "add one to mocks/, or add --allow-network to send requests to the declared hosts";
            screen.note(format!("no mock matches {}; {next}", escape_hidden(request)));
        }
        list_printed(&run.logs).iter().for_each(|line| screen.note(format!("{DIM}{line}{RESET}")));
    }
    let outcomes: Vec<_> = round.runs.iter().map(|run| (&run.outcome, run.duration_ms)).collect();
    show_outcomes(screen, &outcomes)
}

fn check_text(check: &Checked) -> String {
    let took = render_duration(Duration::from_millis(check.duration_ms));
    let name = escape_hidden(&check.name);
    let Some(failure) = &check.failure else { return format!("{GREEN}ok{RESET}      {name}  {took}") };
    let mut text = format!("{RED}FAILED{RESET}  {name}  {took}  {}", escape_hidden(&check.file));
    let failure = escape_hidden(failure);
    for line in failure.lines().map(str::to_owned).chain(list_printed(&check.logs)) {
        text.push_str(&format!("\n        {line}"));
    }
    text
}

/// Returns the last lines that a tool printed.
fn list_printed(logs: &str) -> Vec<String> {
    let lines: Vec<&str> = logs.lines().collect();
    let skipped = lines.len().saturating_sub(LOG_LINES_MAX);
    lines[skipped..].iter().map(|line| format!("| {}", escape_hidden(line))).collect()
}

fn summarize(round: &Round) -> String {
    let (count, failed) = (round.checks.len(), round.count_failed_checks());
    let took = render_duration(Duration::from_millis(round.duration_ms));
    let checks = if count == 1 { "check" } else { "checks" };
    match (count, failed) {
        (0, _) => format!("built in {took}; no checks; add checks/*.json"),
        (_, 0) => format!("{count} {checks} passed in {took}"),
        _ => format!("{failed} of {count} {checks} failed in {took}"),
    }
}

/// Rules that concern the machine and its settings, and not the project.
const RULES_OF_THE_MACHINE: [&str; 6] = ["digest", "index", "registry", "rust", "sandbox", "toolchain"];

fn explain_refusal(refusal: &Refusal) -> anyhow::Error {
    let Refusal { code, stage, check, file, message } = refusal;
    let hint = match (*code, *stage, file) {
        ("build_failed", "variables", _) => {
            "--envvar NAME alone takes the value from the environment, too; NAME=- reads stdin".to_owned()
        }
        ("build_failed", _, _) if check.as_deref().is_some_and(|check| RULES_OF_THE_MACHINE.contains(&check)) => {
            "`lathe doctor` checks the toolchains and the package registries of this machine".to_owned()
        }
        ("build_failed", _, Some(file)) => {
            format!("correct {file}, then run `lathe tool test` again; with --watch, it runs whenever a file changes")
        }
        ("build_failed", _, None) => {
            "the message names the rule; `lathe tool test --watch` tests whenever a file changes".to_owned()
        }
        _ => "`lathe doctor` checks this machine".to_owned(),
    };
    Failure::coded(code, message.clone(), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_checked(failure: Option<&str>) -> Checked {
        Checked {
            name: "greets".into(),
            file: "checks/greets.json".into(),
            duration_ms: 12,
            failure: failure.map(str::to_owned),
            logs: "one\ntwo\n".into(),
        }
    }

    #[test]
    fn a_failing_check_shows_its_file_the_difference_and_the_log() {
        let text = check_text(&build_checked(Some("the output differs:\n  /a: expected 1, got 2")));
        let expected = "  greets  12 ms  checks/greets.json\n        the output differs:\n          /a: expected 1, got 2\n        | one\n        | two";
        assert!(text.ends_with(expected), "{text}");
        assert!(check_text(&build_checked(None)).ends_with("      greets  12 ms"));
    }

    #[test]
    fn the_hint_of_a_refusal_is_about_what_is_wrong() {
        let hint = |check: &str, file: Option<&str>| {
            let (check, file) = (Some(check.to_owned()), file.map(str::to_owned));
            let refusal = Refusal { code: "build_failed", stage: "dependencies", check, file, message: "no".into() };
            format!("{:?}", explain_refusal(&refusal).downcast::<Failure>().expect("a failure"))
        };
        assert!(hint("index", Some("requirements.lock")).contains("`lathe doctor` checks"), "the registry is down");
        assert!(hint("hashes", Some("requirements.lock")).contains("correct requirements.lock, then run"));
    }

    #[test]
    fn the_summary_counts() {
        let round = |checks| Round { checks, duration_ms: 2_000, ..Round::default() };
        assert_eq!(summarize(&round(Vec::new())), "built in 2.0 s; no checks; add checks/*.json");
        assert_eq!(summarize(&round(vec![build_checked(None)])), "1 check passed in 2.0 s");
        assert_eq!(
            summarize(&round(vec![build_checked(None), build_checked(Some(""))])),
            "1 of 2 checks failed in 2.0 s"
        );
    }
}
