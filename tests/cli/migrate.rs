//! `lathe migrate`, and backups of an installation with Postgres.

use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::{Bump, Cluster, Lathe, Options, Said, Server, Team, Tool};

fn utf8(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn filled(team: &Team) -> Tool<'_> {
    let tool = team.tool("echo").body("return {'echo': tool_input, 'token': config.secrets['TOKEN']}");
    tool.set_variables(&[("TOKEN", "a secret value", true)]);
    let tool = tool.manifest("required_secret_envvars = ['TOKEN']").published();
    for number in 0..12 {
        tool.invoke(json!({"text": format!("needle 日本 {number}")}));
    }
    tool
}

/// Stops the server.
fn stop(server: &Server) {
    server.signal(Signal::SIGTERM);
    assert!(server.ended().success());
}

fn program(name: &str, arguments: &[&str]) {
    let output = Command::new(name).args(arguments).output().expect("a program of Postgres");
    assert!(output.status.success(), "{name} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn on_database(url: &str) -> impl FnOnce(&mut Options) {
    let url = url.to_owned();
    move |options| options.database = Some(url)
}

fn migrate(team: &Team, data: &str, url: &str, more: &[&str]) -> Said {
    team.lathe().run(&[&["migrate", "--data", data, "--to", url], more].concat())
}

fn rows(document: &Value, table: &str, column: &str) -> u64 {
    let tables = document["tables"].as_array().expect("tables");
    let found = tables.iter().find(|found| found["table"] == table).expect("the table");
    found[column].as_u64().expect("a number")
}

#[test]
fn an_installation_moves_to_postgres() {
    let Some(cluster) = Cluster::start() else { return };
    let url = cluster.url("postgres");
    let server = Server::private(&Options::default());
    let team = Team::on(&server);
    let id = filled(&team).id().to_owned();
    let history = team.history();
    let data = utf8(server.data()).to_owned();
    migrate(&team, &data, &url, &[]).refused(1, &["is in use by process", "stop that server"]);
    stop(&server);

    let shown = migrate(&team, &data, &url, &["--dry-run", "--json"]).ok().document();
    assert_eq!((rows(&shown, "inv_finished", "rows"), rows(&shown, "inv_finished", "rows_copied")), (12, 0), "{shown}");
    let said = migrate(&team, &data, &url, &[]).ok();
    for words in ["inv_finished", "sha256:", "all rows were copied", "keys, the repositories and the artifacts"] {
        assert!(said.stdout.contains(words), "{words}: {said:?}");
    }
    assert!(said.stdout.contains(&format!("lathe serve --data {data} --database {url}")), "{said:?}");
    assert!(said.stderr.contains("inv_finished: 12 rows copied\n"), "{said:?}");
    assert!(said.stderr.contains("inv_finished: 12 rows compared\n"), "{said:?}");
    let again = migrate(&team, &data, &url, &["--json"]).ok().document();
    assert_eq!(rows(&again, "inv_text", "rows"), 12, "{again}");

    let server = server.restarted(on_database(&url));
    let team = team.moved_to(server.clone());
    assert_eq!(team.history(), history);
    let found = team.lathe().ok(&["history", "search", "needle"]);
    assert!(found.contains("echo"), "{found}");
    let tool = team.tool("echo").with_id(&id);
    assert_eq!(tool.invoke(json!({"text": "x"})).json()["echo"], json!({"text": "x"}));
    assert_eq!(tool.publish(Bump::Patch).status, 201);
    migrate(&team, &data, &url, &[]).refused(1, &["is in use by process"]);
    stop(&server);
    migrate(&team, &data, &url, &[]).refused(1, &["the database has other data", "an empty database"]);
    backed_up_and_restored(&team, &server, &url);
}

/// Keeps the database with its own tools, and the rest with a backup.
fn backed_up_and_restored(team: &Team, server: &Server, url: &str) {
    let (dump, backup, restored) = (team.home().join("dump"), team.home().join("backup"), team.home().join("restored"));
    let (dump, backup, restored) = (utf8(&dump), utf8(&backup), utf8(&restored));
    program("pg_dump", &["--format=custom", "--file", dump, url]);
    let said =
        team.lathe().run(&["backup", backup, "--with-keys", "--data", utf8(server.data()), "--database", url]).ok();
    assert!(said.stdout.contains("lacks the database") && said.stdout.contains("pg_dump"), "{said:?}");
    let manifest = std::fs::read_to_string(format!("{backup}/manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!((&manifest["format"], &manifest["database"]["is_included"]), (&json!(1), &json!(false)));
    assert!(!Path::new(&format!("{backup}/lathe.db")).exists());

    let other = url.replace("/postgres", "/restored");
    let restore = ["restore", backup, "--data", restored];
    let lathe: Lathe<'_> = team.lathe();
    lathe.run(&restore).refused(1, &["without the database", "pg_restore", "--database"]);
    program("psql", &["--quiet", "--command", "CREATE DATABASE restored TEMPLATE template0", url]);
    let with_database = [&restore[..], &["--database", &other]].concat();
    lathe.run(&with_database).refused(1, &["the database has no organisations", "pg_restore"]);
    program("psql", &["--quiet", "--command", "DROP DATABASE restored", url]);
    program("psql", &["--quiet", "--command", "CREATE DATABASE restored TEMPLATE template0", url]);
    program("pg_restore", &["--dbname", &other, dump]);
    let said = lathe.run(&with_database).ok();
    assert!(said.stdout.contains("--database URL") && !said.stderr.contains("warning"), "{said:?}");
    assert!(lathe.ok(&["org", "list", "--data", restored, "--database", &other]).contains("live tools"));
}

#[test]
fn a_directory_without_a_database_and_a_wrong_url_are_refused() {
    let server = Server::shared();
    let team = Team::on(&server);
    let absent = team.home().join("absent");
    migrate(&team, utf8(&absent), "postgres://127.0.0.1:1/x", &[]).refused(1, &["there is no data directory"]);
    migrate(&team, "data", "mysql://127.0.0.1/x", &[]).refused(2, &["postgres://"]);
    team.lathe().ok(&["org", "create", "acme", "--user", "ada", "--data", utf8(&absent)]);
    let closed = migrate(&team, utf8(&absent), "postgres://lathe@127.0.0.1:1/x", &[]);
    closed.refused(1, &["the database is unavailable"]);
}

#[test]
fn a_backup_with_a_database_is_restored_to_the_data_directory() {
    let server = Server::shared();
    let team = Team::on(&server);
    let (data, backup) = (team.home().join("small"), team.home().join("backup"));
    let (data, backup) = (utf8(&data), utf8(&backup));
    let lathe = team.lathe();
    lathe.ok(&["org", "create", "acme", "--user", "ada", "--data", data]);
    lathe.ok(&["backup", backup, "--with-keys", "--data", data]);
    let restored = format!("{data}-restored");
    let restore = ["restore", backup, "--data", &restored, "--database", "postgres://lathe@127.0.0.1:1/x"];
    lathe.run(&restore).refused(1, &["the backup has its database", "lathe migrate"]);
}
