//! A server whose artifacts are in a bucket.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use serde_json::json;

use crate::harness::{Answer, Bucket, Bump, Lathe, Options, Said, Server, Team, Tool, input};

/// A server with its artifacts in a bucket of its own, and a cache of them that the test may delete.
struct Place {
    bucket: Bucket,
    team: Team,
}

impl Place {
    /// `None` without an S3 server.
    #[track_caller]
    fn new() -> Option<Self> {
        let bucket = Bucket::create()?;
        let arguments = vec!["--storage".to_owned(), bucket.url()];
        let server = Server::private(&Options { arguments, environment: bucket.variables(), ..Options::default() });
        Some(Self { bucket, team: Team::on(&server) })
    }

    fn server(&self) -> &Arc<Server> {
        &self.team.server
    }

    fn cache(&self) -> PathBuf {
        self.server().data().join("artifact-cache")
    }

    /// Starts the server again without a cache.
    fn restarted(self, change: impl FnOnce(&mut Options)) -> Self {
        self.server().kill();
        std::fs::remove_dir_all(self.cache()).expect("a cache");
        let Self { bucket, team } = self;
        let server = team.server.restarted(change);
        Self { bucket, team: team.moved_to(server) }
    }

    fn tool(&self, name: &str, id: &str) -> Tool<'_> {
        self.team.tool(name).with_id(id)
    }

    /// Publishes a tool. Returns its id and the key of its bundle.
    fn publish(&self, name: &str) -> (String, String) {
        let before = self.bucket.keys();
        let id = self.team.tool(name).body(&format!("return '{name}'")).published().id().to_owned();
        let mut keys = self.bucket.keys_with("artifacts/");
        keys.retain(|key| !before.contains(key));
        (id, keys.pop().expect("a bundle"))
    }

    /// The program without a login, for commands that need no server.
    fn lathe(&self) -> Lathe<'_> {
        Lathe { home: self.team.home(), directory: self.team.home() }
    }

    fn restore(&self, backup: &str, data: &Path) -> Said {
        let mut command = self.lathe().command(&["restore", backup, "--data", utf8(data)]);
        Said::from(command.envs(self.bucket.variables()).stdin(Stdio::null()).output().expect("the program ends"))
    }

    /// Runs a command on the data directory, with the access to the bucket that `variables` give.
    fn run(&self, arguments: &[&str], variables: Vec<(String, String)>) -> Said {
        let arguments = [arguments, &["--data", utf8(self.server().data())]].concat();
        let mut command = self.lathe().command(&arguments);
        Said::from(command.envs(variables).stdin(Stdio::null()).output().expect("the program ends"))
    }
}

fn utf8(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn has_files(folder: &Path) -> bool {
    folder.exists() && std::fs::read_dir(folder).expect("a folder").next().is_some()
}

fn invoke(tool: &Tool<'_>) -> Answer {
    tool.invoke_request(&json!({"inputs": [input(&json!({}))]})).send()
}

#[test]
fn artifacts_in_a_bucket_outlive_the_cache_and_are_backed_up() {
    let Some(place) = Place::new() else { return };
    let (id, key) = place.publish("first");
    assert!(key.starts_with("some/prefix/artifacts/"), "{key}");
    assert!(!has_files(&place.server().data().join("artifacts")));
    assert_eq!(place.tool("first", &id).invoke(json!({})).output(), "first");

    // The data directory remembers the bucket.
    let place = place.restarted(|options| options.arguments.clear());
    assert_eq!(place.tool("first", &id).invoke(json!({})).output(), "first");
    assert!(has_files(&place.cache()));
    let elsewhere = ["serve", "--listen", "127.0.0.1:0", "--storage", "s3://another/prefix"];
    place.server().kill();
    let said = place.run(&elsewhere, place.bucket.variables());
    said.refused(1, &[&format!("are in {}, not in s3://another/prefix", place.bucket.url()), "or none"]);

    let said = place.run(&["doctor"], place.bucket.variables());
    assert!(said.stdout.contains(&format!("{}: objects can be written, read", place.bucket.url())), "{said:?}");
    place.run(&["gc"], place.bucket.variables()).ok();
    let backup = place.team.home().join("backup");
    let said = place.run(&["--json", "backup", utf8(&backup), "--with-keys"], place.bucket.variables()).ok();
    assert_eq!(said.document()["counts"]["artifacts_lost"], 0, "{said:?}");
    assert!(has_files(&backup.join("artifacts")));

    let in_bucket = format!("s3://{}/backups/1", place.bucket.name);
    let back_up = ["--json", "backup", &in_bucket, "--with-keys"];
    let said = place.run(&back_up, place.bucket.variables()).ok();
    assert_eq!(said.document()["directory"], in_bucket.as_str(), "{said:?}");
    place.run(&back_up, place.bucket.variables()).refused(1, &["is not empty"]);

    // A restored directory has its own artifacts until its server copies them to a bucket.
    let restored = place.team.home().join("restored/data");
    place.restore(&in_bucket, &restored).ok();
    assert!(has_files(&restored.join("artifacts")));
    place.bucket.damage(&place.bucket.keys_with("backups/1/artifacts/")[0]);
    place.restore(&in_bucket, &place.team.home().join("damaged")).refused(1, &["damaged", "artifacts/"]);
    place.restore(&format!("{in_bucket}0"), &place.team.home().join("absent")).refused(1, &["no complete backup"]);
    let Some(bucket) = Bucket::create() else { return };
    let arguments = vec!["--storage".to_owned(), bucket.url()];
    let options = Options { arguments, environment: bucket.variables(), ..Options::default() };
    let Place { team, .. } = place;
    let team = team.moved_to(Server::on_data(&restored, &options));
    team.server.kill();
    std::fs::remove_dir_all(restored.join("artifacts")).expect("artifacts");
    std::fs::remove_dir_all(restored.join("artifact-cache")).expect("a cache");
    let again = team.server.restarted(|_| {});
    let team = team.moved_to(again);
    assert_eq!(team.tool("first").with_id(&id).invoke(json!({})).output(), "first");
}

#[test]
fn a_damaged_object_is_refused_and_published_again() {
    let Some(place) = Place::new() else { return };
    let (id, key) = place.publish("damaged");
    let (other, _) = place.publish("other");
    place.bucket.damage(&key);
    let place = place.restarted(|_| {});
    assert_eq!(place.tool("other", &other).invoke(json!({})).output(), "other");
    let tool = place.tool("damaged", &id).body("return 'damaged'");
    let failure = tool.invoke(json!({})).failure();
    assert_eq!(failure.kind, "artifact_damaged", "{failure:?}");
    assert!(failure.message.contains("Publish its commit again"), "{failure:?}");
    tool.publish(Bump::Patch).expect(201);
    assert_eq!(tool.invoke(json!({})).output(), "damaged");
}

#[test]
fn a_bucket_that_is_read_only_or_gone_loses_nothing() {
    let Some(place) = Place::new() else { return };
    let (id, _) = place.publish("kept");
    let (uncached, _) = place.publish("uncached");
    place.server().kill();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off"];
    let read_only = place.run(&serve, place.bucket.read_only_variables());
    read_only.refused(1, &["cannot be the storage: no permission to write objects. Give the credentials"]);

    let place = place.restarted(|_| {});
    assert_eq!(place.tool("kept", &id).invoke(json!({})).output(), "kept");
    place.bucket.delete();
    assert_eq!(place.tool("kept", &id).invoke(json!({})).output(), "kept");
    let changed = place.tool("kept", &id).body("return 'changed'").pushed();
    let refused = changed.publish(Bump::Patch);
    assert_eq!((refused.status, refused.code().as_str()), (503, "storage_failing"), "{refused}");
    assert!(refused.detail().contains("storage of the server is full or failing"), "{refused}");
    let unread = invoke(&place.tool("uncached", &uncached));
    assert_eq!((unread.status, unread.code().as_str()), (503, "storage_failing"), "{unread}");
    let message = format!("{}: the bucket `{}` does not exist", place.bucket.url(), place.bucket.name);
    assert!(!place.server().log_about(&message).is_empty(), "the log has the reason");
    assert_eq!(place.tool("kept", &id).invoke(json!({})).output(), "kept");

    place.server().kill();
    let backup = place.team.home().join("backup");
    for command in [&serve[..], &["gc"], &["backup", utf8(&backup)], &["doctor"]] {
        let said = place.run(command, place.bucket.variables());
        let words = format!("{}{}", said.stdout, said.stderr);
        assert_eq!(said.code, Some(1), "{said:?}");
        let reason = format!("the bucket `{}` does not exist. Create it, or correct the URL", place.bucket.name);
        assert!(words.contains(&reason), "{command:?}: {said:?}");
    }
    assert!(!backup.exists(), "an incomplete backup is none");
}
