//! Replays of runs with large response bodies, which are in the storage of the artifacts.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{identical, replay};
use crate::harness::{Nodes, Options, Server, Site, Team, Tool, change_database, count_rows, eventually, input};

const BEFORE: &str = "
    import hashlib
    from amigo_tool_scaffold.http import fetch
";

/// Receives a body of the given size.
const BODY: &str = "
    answer = await fetch(tool_input['url'])
    return hashlib.sha256(answer.body).hexdigest()
";

fn asking<'t>(team: &'t Team, site: &Site) -> Tool<'t> {
    let host = json!([site.address.to_string()]);
    team.next_tool().source(BEFORE, BODY).manifest(&format!("allowed_hosts = {host}")).published()
}

fn files(server: &Server) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(server.data().join("bodies"))
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path());
    folders
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder"))
        .map(|file| file.expect("a file").path())
        .collect()
}

#[test]
fn a_large_body_is_a_file_until_its_tapes_expire() {
    let (site, server) = (Site::serve(), Server::private(&Options::reaching_loopback()));
    let team = Team::on(&server);
    let tool = asking(&team, &site);
    let url = |count: u32| json!({"url": site.url(&format!("/noise/{count}"))});
    let runs: Vec<_> = [400_000, 400_000, 500_000, 100_000].map(|count| tool.invoke(url(count))).into();
    let asked = site.requests().len();
    assert_eq!((files(&server).len(), count_rows(&team, "tape_bodies")), (2, 3), "equal bodies are stored once");
    for run in &runs {
        identical(&team, run.id());
    }
    let database = std::fs::metadata(server.data().join("lathe.db")).expect("a database").len();
    println!("the database has {database} bytes");
    // The server is killed, and another one reads the same bodies.
    server.kill();
    let server = server.restarted(|_| {});
    let team = team.moved_to(server.clone());
    for run in &runs {
        identical(&team, run.id());
    }
    assert_eq!(site.requests().len(), asked, "a replay sent a request");

    let spoilt = files(&server).into_iter().find(|path| std::fs::metadata(path).expect("a file").len() > 450_000);
    let spoilt = spoilt.expect("the body of the third run");
    let whole = std::fs::read(&spoilt).expect("a body");
    std::fs::write(&spoilt, [&whole[..99], &[whole[99] ^ 1], &whole[100..]].concat()).expect("written");
    let refused = replay(&team, runs[2].id(), &json!({}));
    assert_eq!((refused.status, refused.code()), (400, "tape_damaged".into()));
    identical(&team, runs[0].id());
    std::fs::write(&spoilt, whole).expect("written");
    identical(&team, runs[2].id());

    let expire = format!("UPDATE tapes SET expires_at = 1 WHERE invocation <> '{}'", runs[1].id());
    change_database(server.data(), &["DROP TRIGGER tapes_never_updated", &expire]);
    server.kill();
    let server = server.restarted(|_| {});
    let team = team.moved_to(server.clone());
    eventually("the sweep", || (files(&server).len() == 1).then_some(()));
    assert!(!spoilt.exists());
    identical(&team, runs[1].id());
    assert_eq!(replay(&team, runs[2].id(), &json!({})).code(), "tape_missing");
}

#[test]
fn a_large_body_is_an_object_that_all_servers_read() {
    let site = Site::serve();
    let Some(nodes) = Nodes::start_with(2, &Options::reaching_loopback()) else { return };
    let team = nodes.team();
    let tool = asking(&team, &site);
    let url = |count: u32| json!({"url": site.url(&format!("/noise/{count}"))});
    let run = tool.invoke(url(400_000));
    let objects = nodes.place.bucket.keys_with("/bodies/");
    assert_eq!(objects.len(), 1);
    assert_eq!(files(&nodes.servers[0]), [] as [PathBuf; 0]);
    let path = format!("/tool/invocation/{}/replay", run.id());
    let replayed =
        |server: usize| -> Value { nodes.request(server, &team, "POST", &path).json(&json!({})).send().expect(200) };
    for server in [1, 0] {
        assert_eq!(replayed(server)["identical"], true, "server {server}");
    }
    // The other server uses the object of the first one.
    let path_of_runs = format!("/tool/{}/version/%3E%3D0/invoke", tool.id());
    let again = nodes.request(1, &team, "POST", &path_of_runs).json(&json!({"inputs": [input(&url(400_000))]}));
    again.send().expect(200);
    assert_eq!(nodes.place.bucket.keys_with("/bodies/"), objects);

    // A bucket that is gone costs no run, and no recording.
    nodes.place.bucket.delete();
    let meanwhile = tool.invoke(url(600_000));
    assert_eq!(meanwhile.output().len(), 64);
    let path = format!("/tool/invocation/{}/replay", meanwhile.id());
    let answer = nodes.request(1, &team, "POST", &path).json(&json!({})).send().expect(200);
    assert_eq!(answer["identical"], true, "{answer}");
    assert!(!nodes.servers[0].log_about("a large body of a recording is kept in the database").is_empty());
}
