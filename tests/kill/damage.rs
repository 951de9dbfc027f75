//! The comparison finds what is lost, doubled or incomplete: the data of a killed server is damaged before its next start.

use std::fs;

use super::action::What;
use super::run::{Run, Setting};
use crate::harness::{Options, change_database};

/// Removes the end of a run, copies another run, removes an attestation, and revives a version.
const CHANGES: [&str; 9] = [
    "PRAGMA foreign_keys = OFF",
    "DROP TRIGGER inv_finished_never_deleted",
    "DROP TRIGGER attestations_never_deleted",
    "DROP TRIGGER versions_never_revived",
    "DELETE FROM inv_finished WHERE sequence = (SELECT max(sequence) FROM inv_finished)",
    "INSERT INTO inv_started (invocation, organization, started_at, boot, tool, major, minor, patch, account, mode, source_kind,
        source, input)
        SELECT 'f' || substr(invocation, 2), organization, started_at, boot, tool, major, minor, patch, account, mode,
        source_kind, source, input FROM inv_started ORDER BY rowid LIMIT 1",
    "INSERT INTO inv_finished (invocation, organization, finished_at, duration_ms, succeeded, output, persisted,
        status_events, logs)
        SELECT 'f' || substr(invocation, 2), organization, 0, 0, 1, output, persisted, status_events, logs
        FROM inv_finished ORDER BY sequence LIMIT 1",
    "DELETE FROM attestations",
    "UPDATE versions SET deprecated = 0",
];

#[test]
fn the_comparison_finds_damage() {
    let mut run = damaged();
    run.restart();
    run.look(true);
    let found = &run.findings;
    let has = |found: &[String], word: &str| assert!(found.iter().any(|line| line.contains(word)), "{word}: {found:?}");
    has(&found.lost, "run RunEnd");
    has(&found.lost, "push ");
    has(&found.lost, "deprecation ");
    has(&found.doubled, "call ");
    has(&found.half_published, "build or attestation");
    has(&found.half_published, "artifact ");
    has(&found.half_published, "does not run");
    has(&found.other, "records without an end");
}

/// A killed server with damaged data.
fn damaged() -> Run {
    let servers = vec![Options::default()];
    let mut run = Run::new(Setting { name: "damage", seed: 0, clients: 1, servers, is_faulty: false });
    run.look(true);
    run.findings.assert_none();
    let (client, stage) = (&mut run.clients[0], &run.stage);
    for _ in 0..2 {
        client.begin(stage, What::call(2, false));
    }
    let push = client.edit();
    client.begin(stage, push);
    let publish = client.publish();
    client.begin(stage, publish);
    let deprecation = client.deprecate();
    client.begin(stage, deprecation);
    run.kill_now();
    change_database(run.servers[0].data(), &CHANGES);
    let bundles = run.servers[0].artifacts().into_iter().min_by_key(|(_, bytes)| *bytes);
    fs::remove_file(bundles.expect("a bundle").0).expect("a file less");
    run.rewind(0);
    run
}
