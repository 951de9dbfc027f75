//! Backups in each setting: SQLite or Postgres, a directory or a bucket. Each is made under load and restored on an empty machine, with
//! an empty database and an empty bucket, and compared with a ledger of what clients had got an answer for.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::Signal;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::backup::{Answered, work};
use crate::harness::{Bucket, Bump, Cluster, Lathe, Options, Repository, Said, Server, Site, Team, eventually, input};
use crate::turns::talk::{Agent, decision};

/// Where a server keeps what it acknowledges.
#[derive(Clone, Copy, Debug)]
struct Setting {
    has_postgres: bool,
    has_bucket: bool,
}

/// A machine: its database server and its bucket, if the setting has them.
struct Machine {
    cluster: Option<Arc<Cluster>>,
    database: &'static str,
    bucket: Option<Bucket>,
}

const SOURCE: &str = "
    import hashlib
    from amigo_tool_scaffold.http import fetch
";
const BODY: &str = "
    answer = await fetch(tool_input['url'])
    return hashlib.sha256(answer.body).hexdigest()
";

/// A response body of this size is stored beside the artifacts.
const LARGE: u32 = 400_000;

impl Machine {
    /// `None` without Postgres or an S3 server.
    #[track_caller]
    fn new(setting: Setting) -> Option<Self> {
        let cluster = if setting.has_postgres { Some(Arc::new(Cluster::start()?)) } else { None };
        let bucket = if setting.has_bucket { Some(Bucket::create()?) } else { None };
        Some(Self { cluster, database: "postgres", bucket })
    }

    /// A machine with an empty database and an empty bucket. The database server of the tests may be the same.
    fn empty(&self) -> Option<Self> {
        let bucket = if self.bucket.is_some() { Some(Bucket::create()?) } else { None };
        Some(Self { cluster: self.cluster.clone(), database: "restored", bucket })
    }

    fn url(&self) -> Option<String> {
        self.cluster.as_ref().map(|cluster| cluster.url(self.database))
    }

    fn options(&self) -> Options {
        let mut options = Options { database: self.url(), ..Options::reaching_loopback() };
        if let Some(bucket) = &self.bucket {
            options.arguments.extend(["--storage".to_owned(), bucket.url()]);
            options.environment = bucket.variables();
        }
        options
    }

    /// Runs a command on a data directory.
    fn run(&self, team: &Team, arguments: &[&str], data: &Path) -> Said {
        let url = self.url();
        let database = url.as_deref().map_or(Vec::new(), |url| vec!["--database", url]);
        let lathe = Lathe { home: team.home(), directory: team.home() };
        let mut command = lathe.command(&[arguments, &["--data", utf8(data)], &database].concat());
        command.envs(self.bucket.iter().flat_map(Bucket::variables)).stdin(Stdio::null());
        Said::from(command.output().expect("the program ends"))
    }

    /// Dumps the database of a server. A database in the data directory is part of the backup.
    fn dump(&self, file: &Path) {
        if let Some(url) = self.url() {
            postgres("pg_dump", &["--format=custom", "--file", utf8(file), &url]);
        }
    }

    fn load(&self, file: &Path) {
        if let (Some(cluster), Some(url)) = (&self.cluster, self.url()) {
            let create = format!("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0", self.database);
            postgres("psql", &["--quiet", "--command", &create, &cluster.url("postgres")]);
            postgres("pg_restore", &["--dbname", &url, utf8(file)]);
        }
    }
}

fn utf8(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[track_caller]
fn postgres(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().expect("a program of Postgres");
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Objects that do not change during the backup, by their paths, and runs that can be replayed.
struct Ledger {
    objects: Vec<(String, Value)>,
    recorded: String,
    echo: String,
    other: String,
}

/// Reads an object. Those of the Library are not below the organisation.
fn read(team: &Team, path: &str) -> Value {
    if path.starts_with("/api/") || path.starts_with("/agents/") {
        let answer = team.server.request("GET", path).bearer(&team.token).send();
        return answer.expect(200)["data"].clone();
    }
    team.get(path)
}

fn create_item(team: &Team, family: &str, id: &str, item: &Value) -> String {
    let path = format!("/api/v1/{family}");
    let created = team.server.request("POST", &path).bearer(&team.token).json(item).send();
    format!("{path}/{}", created.expect(201)["data"][id].as_str().expect("an id"))
}

/// Makes one of each thing that a server keeps.
fn fill(team: &Team, site: &Site) -> Ledger {
    let echo = team.tool("echo").body("return {'echo': tool_input, 'token': config.secrets['TOKEN']}");
    echo.set_variables(&[("TOKEN", "a secret value", true)]);
    let echo = echo.manifest("required_secret_envvars = ['TOKEN']").published();
    let hosts = format!("allowed_hosts = {}", json!([site.address.to_string()]));
    let fetches = team.tool("fetches").source(SOURCE, BODY);
    let fetches = fetches.manifest(&hosts).published();
    let recorded = fetches.invoke(json!({"url": site.url(&format!("/noise/{LARGE}"))})).id().to_owned();
    let agent = Agent::new(team, "support").with(&[decision("talk", &[echo.id()])]);
    let talk = agent.talk();
    let turn = talk.turn("talk");
    let run = talk.run(&turn, "echo", json!({"said": "hello"}));
    team.post("/user", &json!({"user_id": "bob", "role": "invoker"})).expect(201);
    team.post("/user/me/variable", &json!({"name": "customer_id", "value": "8812", "is_sensitive": false})).expect(204);
    let artifact = json!({"title": "Sales", "artifact_type": "report", "content": "x".repeat(300_000), "content_type": "text/plain"});
    let mut paths = vec![
        format!("/tool/{}/version", echo.id()),
        format!("/tool/{}/version/1.0.0/provenance", echo.id()),
        "/keys".to_owned(),
        "/user/bob".to_owned(),
        "/user/me/variable".to_owned(),
        "/role".to_owned(),
        format!("/agent/{}", agent.id),
        format!("/agent/{}/revision", agent.id),
        format!("/conversation/{}", talk.id),
        format!("/conversation/{}/log", talk.id),
        format!("/tool/invocation/{}", run.id()),
        format!("/tool/invocation/{recorded}"),
        create_item(team, "memory", "memory_id", &json!({"content": "The customer prefers e-mail."})),
        create_item(team, "artifacts", "artifact_id", &artifact),
        create_item(team, "prompts", "prompt_id", &json!({"name": "greet", "content": "Hello {{customer}}"})),
        create_item(team, "skills", "skill_id", &json!({"name": "greets", "content": "# Greet"})),
    ];
    paths.sort();
    let objects = paths.into_iter().map(|path| (path.clone(), read(team, &path))).collect();
    Ledger { objects, recorded, echo: echo.id().to_owned(), other: team.tool("other").id().to_owned() }
}

/// Backs up under load, and returns what was answered before.
fn back_up_under_load(machine: &Machine, team: &Team, ledger: &Ledger, backup: &Path, dump: &Path) -> Answered {
    let (answered, is_over) = (Mutex::new(Answered::default()), AtomicBool::new(false));
    let (echo, other) = (team.tool("echo").with_id(&ledger.echo), team.tool("other").with_id(&ledger.other));
    std::thread::scope(|scope| {
        let working = scope.spawn(|| work(team, &echo, &other, &answered, &is_over));
        eventually("some work", || {
            let answered = answered.lock();
            (answered.runs.len() >= 12 && answered.versions.len() >= 2).then_some(())
        });
        let before = answered.lock().clone();
        machine.dump(dump);
        let said = machine.run(team, &["--json", "backup", utf8(backup)], team.server.data());
        is_over.store(true, Ordering::Relaxed);
        working.join().expect("work");
        let counts = &said.ok().document()["counts"];
        assert_eq!(counts["repositories"], 1, "{counts}");
        for lost in ["artifacts_lost", "bodies_lost", "packs_lost"] {
            assert_eq!(counts[lost], 0, "{counts}");
        }
        before
    })
}

fn is_restored(setting: Setting) {
    let Some(machine) = Machine::new(setting) else { return };
    let site = Site::serve();
    let server = Server::private(&machine.options());
    let team = Team::on(&server);
    let ledger = fill(&team, &site);
    let [backup, dump, restored] = ["backup", "database.dump", "restored/data"].map(|name| team.home().join(name));
    let before = back_up_under_load(&machine, &team, &ledger, &backup, &dump);
    server.signal(Signal::SIGTERM);
    server.ended();
    let key = team.home().join("kept.key");
    std::fs::copy(server.data().join("keys/master.key"), &key).expect("a key");
    // Nothing of the first machine is left.
    std::fs::remove_dir_all(server.data()).expect("a data directory");
    machine.bucket.iter().for_each(Bucket::delete);

    let Some(empty) = machine.empty() else { return };
    empty.load(&dump);
    let restore = ["--json", "restore", utf8(&backup), "--key", utf8(&key)];
    let said = empty.run(&team, &restore, &restored).ok();
    assert_eq!(said.document()["lost"], json!({"artifacts": 0, "bodies": 0, "packs": 0}), "{said:?}");
    let team = team.moved_to(Server::on_data(&restored, &empty.options()));
    has_all(&team, &before, &ledger);
    goes_on(&team, &ledger);
    let said = empty.run(&team, &["doctor"], &restored);
    assert!(said.stdout.contains("repositories and packs are whole"), "{said:?}");
}

fn has_all(team: &Team, before: &Answered, ledger: &Ledger) {
    for (path, object) in &ledger.objects {
        assert_eq!(read(team, path), *object, "{path}");
    }
    for (id, output) in &before.runs {
        let record = team.get(&format!("/tool/invocation/{id}"));
        assert_eq!(record["invocation_status"]["output"], output.as_str(), "{record}");
    }
    for (version, output) in &before.versions {
        let path = format!("/tool/{}/version/%3D%3D{version}/invoke", ledger.other);
        let answer = team.post(&path, &json!({"inputs": [input(&json!({}))]})).expect(200);
        assert_eq!(answer["invocation_results"][0]["output"], output.as_str(), "{version}");
    }
    let clone = Repository::clone_from(team.home(), "restored-clone", &team.git_url(), &["--no-single-branch"]);
    clone.ok(&["fsck", "--full", "--strict"]);
    for (branch, commit) in &before.branches {
        // The branch may have moved on during the backup.
        clone.ok(&["merge-base", "--is-ancestor", commit, &format!("origin/{branch}")]);
    }
}

/// Everything that needs the repository, the artifacts, the secrets and the recordings works.
fn goes_on(team: &Team, ledger: &Ledger) {
    let echo = team.tool("echo").with_id(&ledger.echo);
    assert_eq!(echo.invoke(json!({"after": 1})).json()["token"], "[redacted]", "the secret is there");
    let verified = team.post(&format!("/tool/{}/version/1.0.0/verify", ledger.echo), &json!({})).expect(200);
    assert_eq!((&verified["identical"], &verified["signed"]), (&json!(true), &json!(true)), "{verified}");
    let replayed = team.post(&format!("/tool/invocation/{}/replay", ledger.recorded), &json!({})).expect(200);
    assert_eq!(replayed["identical"], true, "{replayed}");
    let other = team.tool("other").with_id(&ledger.other).body("return 'after the restore'").pushed();
    other.publish(Bump::Major).expect(201);
    assert_eq!(other.invoke(json!({})).output(), "after the restore");
}

#[test]
fn a_backup_of_sqlite_and_a_directory_is_restored_on_an_empty_machine() {
    is_restored(Setting { has_postgres: false, has_bucket: false });
}

#[test]
fn a_backup_of_sqlite_and_a_bucket_is_restored_on_an_empty_machine() {
    is_restored(Setting { has_postgres: false, has_bucket: true });
}

#[test]
fn a_backup_of_postgres_and_a_directory_is_restored_on_an_empty_machine() {
    is_restored(Setting { has_postgres: true, has_bucket: false });
}

#[test]
fn a_backup_of_postgres_and_a_bucket_is_restored_on_an_empty_machine() {
    is_restored(Setting { has_postgres: true, has_bucket: true });
}

/// The packs in a backup.
fn packs(backup: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(backup.join("packs")).expect("packs").flatten();
    folders
        .flat_map(|folder| std::fs::read_dir(folder.path()).expect("a folder").flatten())
        .map(|file| file.path())
        .collect()
}

/// One pack replaces all between the dump and the backup. The dump names the replaced ones.
#[test]
fn packs_that_a_collection_replaced_after_the_dump_are_in_the_backup() {
    let Some(machine) = Machine::new(Setting { has_postgres: true, has_bucket: true }) else { return };
    let server = Server::private(&machine.options());
    let team = Team::on(&server);
    for number in 0..52 {
        team.repository.write("number.txt", number.to_string().as_bytes());
        team.push();
    }
    let [backup, dump, restored] = ["backup", "database.dump", "restored"].map(|name| team.home().join(name));
    machine.dump(&dump);
    server.signal(Signal::SIGTERM);
    server.ended();
    // A server collects at its start.
    let server = server.restarted(|_| {});
    let team = team.moved_to(server.clone());
    eventually("the collection", || Some(server.log_about("are replaced by one")).filter(|log| !log.is_empty()));
    let said = machine.run(&team, &["--json", "backup", utf8(&backup), "--with-keys"], server.data()).ok();
    let counts = &said.document()["counts"];
    assert_eq!((counts["packs"].as_u64(), packs(&backup).len()), (Some(54), 54), "{counts}");
    let Some(empty) = machine.empty() else { return };
    empty.load(&dump);
    empty.run(&team, &["restore", utf8(&backup)], &restored).ok();
    let commit = team.repository.ok(&["rev-parse", "HEAD"]);
    let team = team.moved_to(Server::on_data(&restored, &empty.options()));
    let clone = Repository::clone_from(team.home(), "clone", &team.git_url(), &["--branch", &team.branch()]);
    assert_eq!(clone.ok(&["rev-parse", "HEAD"]), commit);
}

#[test]
fn a_dump_and_a_backup_that_do_not_belong_together_are_refused() {
    let Some(machine) = Machine::new(Setting { has_postgres: true, has_bucket: true }) else { return };
    let server = Server::private(&machine.options());
    let team = Team::on(&server);
    team.tool("first").pushed();
    let [backup, dump, restored] = ["backup", "database.dump", "restored"].map(|name| team.home().join(name));
    machine.run(&team, &["backup", utf8(&backup), "--with-keys"], server.data()).ok();
    team.tool("second").pushed();
    machine.dump(&dump);
    let Some(empty) = machine.empty() else { return };
    empty.load(&dump);
    let restore = ["restore", utf8(&backup)];
    let said = empty.run(&team, &restore, &restored);
    said.refused(
        1,
        &["names 1 packs of git repositories that the backup lacks", &team.organization, "--without-packs"],
    );
    assert!(!restored.exists());
    let said = empty.run(&team, &["restore", utf8(&backup), "--without-packs"], &restored).ok();
    assert!(said.stderr.contains("1 packs of git repositories are not in the backup"), "{said:?}");
    assert!(!said.stdout.contains("has everything"), "{said:?}");
    // The bucket is named at the first start; without it, a server would begin empty repositories.
    let said = empty.run(&team, &["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off"], &restored);
    said.refused(1, &["the git repositories of this database are in a bucket", "--storage"]);
    // A backup of a directory without the bucket would have no repositories.
    let said = empty.run(&team, &["backup", utf8(&team.home().join("second"))], &restored);
    said.refused(1, &["the git repositories of this database are in a bucket"]);
    // The old bucket still has the pack.
    let options = Options { database: empty.url(), ..machine.options() };
    server.signal(Signal::SIGTERM);
    server.ended();
    let commit = team.repository.ok(&["rev-parse", "HEAD"]);
    let team = team.moved_to(Server::on_data(&restored, &options));
    let clone = Repository::clone_from(team.home(), "clone", &team.git_url(), &["--branch", &team.branch()]);
    assert_eq!(clone.ok(&["rev-parse", "HEAD"]), commit);
}

#[test]
fn a_pack_that_was_changed_in_a_backup_is_refused() {
    let Some(machine) = Machine::new(Setting { has_postgres: true, has_bucket: true }) else { return };
    let server = Server::private(&machine.options());
    let team = Team::on(&server);
    team.tool("first").pushed();
    let [backup, restored] = ["backup", "restored"].map(|name| team.home().join(name));
    machine.run(&team, &["backup", utf8(&backup), "--with-keys"], server.data()).ok();
    let pack = packs(&backup).pop().expect("a pack");
    let mut bytes = std::fs::read(&pack).expect("a pack");
    bytes[20] ^= 1;
    std::fs::write(&pack, bytes).expect("written");
    let said = machine.run(&team, &["restore", utf8(&backup)], &restored);
    said.refused(1, &["the backup is damaged", "packs/"]);
    std::fs::remove_file(&pack).expect("removed");
    machine.run(&team, &["restore", utf8(&backup)], &restored).refused(1, &["packs/", "is missing"]);
}
