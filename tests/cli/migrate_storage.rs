//! `lathe migrate --storage`: an installation moves to a bucket, with and without a database server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::harness::{Bucket, Bump, Cluster, Lathe, Options, Repository, Run, Said, Server, Site, Team, Tool};

const BEFORE: &str = "
    import hashlib
    from amigo_tool_scaffold.http import fetch
";

const BODY: &str = "
    answer = await fetch(tool_input['url'])
    return hashlib.sha256(answer.body).hexdigest()
";

/// A data directory with versions, large recordings and a branch. Its server has ended.
struct Old {
    site: Site,
    team: Team,
    tool: String,
    runs: Vec<String>,
}

impl Old {
    fn new() -> Self {
        let site = Site::serve();
        let server = Server::private(&Options::reaching_loopback());
        let team = Team::on(&server);
        let host = json!([site.address.to_string()]);
        let tool = team.tool("ask").source(BEFORE, BODY).manifest(&format!("allowed_hosts = {host}")).published();
        let url = |count: u32| json!({"url": site.url(&format!("/noise/{count}"))});
        let runs = (0..12).map(|number| tool.invoke(url(300_000 + number)).id().to_owned()).collect();
        let tool = tool.id().to_owned();
        server.signal(Signal::SIGTERM);
        assert!(server.ended().success());
        Self { site, team, tool, runs }
    }

    fn data(&self) -> &Path {
        self.team.server.data()
    }

    /// The program without a login.
    fn lathe(&self) -> Lathe<'_> {
        Lathe { home: self.team.home(), directory: self.team.home() }
    }

    fn start(&self, arguments: &[&str], variables: Vec<(String, String)>) -> Child {
        let arguments = [&["migrate", "--data", utf8(self.data())], arguments].concat();
        let mut command = self.lathe().command(&arguments);
        command.envs(variables).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    }

    fn migrate(&self, arguments: &[&str], variables: Vec<(String, String)>) -> Said {
        Said::from(self.start(arguments, variables).wait_with_output().expect("the program ends"))
    }

    /// All files that a migration must not change.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        add_files(self.data(), &mut found);
        // SQLite makes its files beside the database anew, and the lock has the id of the process.
        found.retain(|path, _| !["lathe.db-shm", "lathe.db-wal", "lathe.lock"].iter().any(|name| path.ends_with(name)));
        found
    }

    /// Asserts that a server has the old runs with their recordings, and takes new runs, versions and clones.
    fn works_at(self, server: std::sync::Arc<Server>) {
        let Self { site, team, tool, runs } = self;
        let asked = site.requests().len();
        let team = team.moved_to(server);
        assert_eq!(team.history().len(), runs.len());
        for run in &runs {
            let answer = team.post(&format!("/tool/invocation/{run}/replay"), &json!({})).expect(200);
            assert_eq!(answer["identical"], true, "{answer}");
        }
        assert_eq!(site.requests().len(), asked, "a replay sent a request");
        let tool: Tool<'_> = team.tool("ask").with_id(&tool);
        let run: Run = tool.invoke(json!({"url": site.url("/noise/300000")}));
        assert_eq!(run.output().len(), 64);
        let clone = Repository::clone_from(team.home(), "clone", &team.git_url(), &["--branch", &team.branch()]);
        assert_eq!(clone.ok(&["rev-parse", "HEAD"]), team.repository.ok(&["rev-parse", "HEAD"]));
        let tool = tool.source(BEFORE, "return 'a later version'").pushed();
        assert_eq!(tool.publish(Bump::Major).status, 201);
        assert_eq!(tool.invoke(json!({})).output(), "a later version");
    }
}

fn add_files(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            add_files(&path, found);
        } else if path.is_file() {
            let bytes = std::fs::read(&path).expect("a file");
            found.insert(path, bytes);
        }
    }
}

fn utf8(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn numbers(document: &Value, part: &str) -> (u64, u64) {
    let number = |name: &str| document[part][name].as_u64().unwrap_or_else(|| panic!("{part} {name}: {document}"));
    (number("count"), number("copied"))
}

#[test]
fn an_installation_moves_to_a_database_and_a_bucket_although_the_copy_is_killed() {
    let (Some(bucket), Some(cluster)) = (Bucket::create(), Cluster::start()) else { return };
    let (database, storage) = (cluster.url("postgres"), bucket.url());
    let old = Old::new();
    let target = ["--to", database.as_str(), "--storage", storage.as_str()];
    let before = old.files();

    let plan = old.migrate(&[&target[..], &["--dry-run", "--json"]].concat(), bucket.variables()).ok().document();
    assert_eq!((&plan["large_bodies"]["count"], &plan["large_bodies"]["missing"]), (&json!(12), &json!(12)), "{plan}");
    assert_eq!((plan["repositories"]["count"].as_u64(), bucket.keys()), (Some(1), Vec::new()), "{plan}");

    // The copy is killed later and later, until it ends by itself.
    let mut killed = 0;
    for attempt in 1.. {
        let mut running = old.start(&target, bucket.variables());
        std::thread::sleep(Duration::from_millis(attempt * 120));
        if running.try_wait().expect("a process").is_some() {
            break;
        }
        running.kill().expect("a process");
        running.wait().expect("a process");
        killed += 1;
    }
    assert!(killed > 2, "the copy was killed {killed} times");
    println!("the copy was killed {killed} times");

    let said = old.migrate(&[&target[..], &["--json"]].concat(), bucket.variables()).ok().document();
    let (artifacts, copied) = numbers(&said, "artifacts");
    assert!(artifacts >= 2 && copied == 0, "{said}");
    assert_eq!((numbers(&said, "large_bodies"), numbers(&said, "repositories")), ((12, 0), (1, 0)), "{said}");
    assert_eq!(
        said["tables"].as_array().map(|tables| tables.iter().any(|table| table["rows"] == 12)),
        Some(true),
        "{said}"
    );
    assert_eq!(bucket.keys_with("/bodies/").len(), 12);
    assert_eq!(old.files(), before, "the data directory was changed");

    // A damaged object is copied again.
    bucket.damage(&bucket.keys_with("/bodies/")[3]);
    bucket.damage(&bucket.keys_with("/artifacts/")[0]);
    let text = old.migrate(&target, bucket.variables()).ok().stdout;
    for words in ["large bodies", "all rows were copied", "still has the keys;", &format!("--storage {storage}")] {
        assert!(text.contains(words), "{words}: {text}");
    }

    // A server with nothing but the master key.
    let options = Options {
        database: Some(database),
        arguments: [Options::reaching_loopback().arguments, vec!["--storage".to_owned(), storage]].concat(),
        environment: bucket.variables(),
        ..Options::default()
    };
    old.works_at(Server::private(&options));
}

#[test]
fn contents_move_to_a_bucket_while_the_database_stays() {
    let Some(bucket) = Bucket::create() else { return };
    let old = Old::new();
    let storage = bucket.url();
    let before = old.files();
    let said = old.migrate(&["--storage", &storage, "--json"], bucket.variables()).ok().document();
    let (artifacts, copied) = numbers(&said, "artifacts");
    assert_eq!((artifacts, numbers(&said, "large_bodies")), (copied, (12, 12)), "{said}");
    assert!(said.get("tables").is_none() && said.get("repositories").is_none(), "{said}");
    assert_eq!(old.files(), before, "the data directory was changed");
    for folder in ["artifacts", "bodies"] {
        std::fs::remove_dir_all(old.data().join(folder)).expect("a folder");
    }
    let server = old.team.server.restarted(|options| {
        options.arguments.extend(["--storage".to_owned(), storage.clone()]);
        options.environment = bucket.variables();
    });
    server.signal(Signal::SIGTERM);
    assert!(server.ended().success());
    // The installation has a bucket now, and the copy reads it back.
    let again = old.migrate(&["--storage", &storage, "--json"], bucket.variables()).ok().document();
    assert_eq!((numbers(&again, "artifacts"), numbers(&again, "large_bodies")), ((artifacts, 0), (12, 0)), "{again}");
    let elsewhere = old.migrate(&["--storage", &format!("{storage}/other")], bucket.variables());
    elsewhere.refused(1, &[&format!("are in {storage}, not in {storage}/other")]);
    old.works_at(server.restarted(|_| {}));
}

#[test]
fn a_bucket_that_cannot_be_used_is_refused_and_nothing_is_changed() {
    let Some(bucket) = Bucket::create() else { return };
    let old = Old::new();
    let storage = bucket.url();
    let before = old.files();
    let to_storage = ["--storage", storage.as_str()];
    old.migrate(&[], bucket.variables()).refused(2, &["--to", "--storage"]);
    let read_only = old.migrate(&to_storage, bucket.read_only_variables());
    read_only.refused(1, &["no permission to write objects. Give the credentials"]);
    let absent = old.migrate(&["--storage", "s3://lathe-absent/prefix"], bucket.variables());
    absent.refused(1, &["the bucket `lathe-absent` does not exist. Create it, or correct the URL"]);

    // The prefix of an installation with another master key.
    let other = old.team.home().join("other");
    old.lathe().ok(&["org", "create", "acme", "--user", "ada", "--data", utf8(&other)]);
    let mut claim = old.lathe().command(&["migrate", "--data", utf8(&other), "--storage", &storage]);
    Said::from(claim.envs(bucket.variables()).output().expect("the program ends")).ok();
    let keys = bucket.keys();
    for more in [&["--dry-run"][..], &[]] {
        let refused = old.migrate(&[&to_storage[..], more].concat(), bucket.variables());
        refused.refused(1, &["the prefix belongs to an installation with another master key"]);
    }
    assert_eq!((bucket.keys(), old.files()), (keys, before));
}
