//! A data directory of release 0.1.0 that was killed: records in its journal are in the database after the next start.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use registry::{
    Clock, Config, DataDir, DatabaseLocation, Digest, ErrorKind, InvocationFilter, InvocationId, KeptTape, KeyRing,
    OperationId, OrganizationId, Outcome, Page, Record, RunEnd, SearchQuery, SearchText, Store, StoreOptions, ToolId,
};
use tempfile::TempDir;

use crate::fixtures::{World, succeeded};

/// The database has the runs `in_database`, and the start of `half`. The journal has these again, the end of `half`, and
/// the runs `whole`, `failed` and, without an end, `open`.
const RELEASE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/release_0_1_0");

fn journal() -> PathBuf {
    Path::new(RELEASE).join("journal-a")
}

/// Returns a folder with a copy of the data directory.
fn unpacked() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir_all(data.join("keys")).unwrap();
    let database = zstd::decode_all(File::open(Path::new(RELEASE).join("lathe.db.zst")).unwrap()).unwrap();
    fs::write(data.join("lathe.db"), database).unwrap();
    fs::copy(journal(), data.join("journal-a")).unwrap();
    let key = data.join("keys/master.key");
    fs::copy(Path::new(RELEASE).join("keys/master.key"), &key).unwrap();
    // A checkout lets others read it.
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    folder
}

/// The names of the rows in the data directory.
struct Names(BTreeMap<String, String>);

impl Names {
    fn read() -> Self {
        Self(serde_json::from_slice(&fs::read(Path::new(RELEASE).join("expected.json")).unwrap()).unwrap())
    }

    fn run(&self, name: &str) -> InvocationId {
        InvocationId::parse(&self.0[name]).unwrap()
    }
}

fn acme() -> OrganizationId {
    OrganizationId::parse("acme").unwrap()
}

async fn started(folder: TempDir) -> World {
    World::on(folder, Config::for_tests()).await.unwrap()
}

async fn read(world: &World, run: &InvocationId) -> Record {
    world.store.get_invocation(&acme(), run).await.unwrap().unwrap()
}

async fn outcome(world: &World, name: &str) -> Option<Outcome> {
    read(world, &Names::read().run(name)).await.end.map(|finished| finished.outcome)
}

async fn found(world: &World, word: &str) -> usize {
    let text = SearchText::parse(word).unwrap();
    let query = SearchQuery { text, fields: Vec::new(), filter: InvocationFilter::default() };
    world.store.search_invocations(&acme(), &query, Page::first(100)).await.unwrap().items.len()
}

fn has_journal(world: &World) -> bool {
    ["journal-a", "journal-b"].iter().any(|name| world.data.root().join(name).exists())
}

#[tokio::test]
async fn records_in_the_journal_are_in_the_database_after_a_start() {
    let world = started(unpacked()).await;
    for (name, output) in [("in_database", "in the database"), ("half", "half"), ("whole", "whole \0 東京")] {
        assert_eq!(outcome(&world, name).await, Some(succeeded(output)), "{name}");
    }
    let Some(Outcome::Failed { exception_type, exception_stack_trace, .. }) = outcome(&world, "failed").await else {
        panic!("it failed")
    };
    assert_eq!((exception_type.as_str(), &exception_stack_trace[..]), ("ValueError", &["main.py".to_owned()][..]));
    assert_eq!((found(&world, "東京").await, found(&world, "half").await, found(&world, "no").await), (1, 1, 1));
    assert!(!has_journal(&world));
    assert_eq!(world.store.close_orphans().await.unwrap(), 1);
    let Some(Outcome::Failed { exception_type, .. }) = outcome(&world, "open").await else { panic!("it was closed") };
    assert_eq!(exception_type, "orphaned");
}

#[tokio::test]
async fn what_stands_beside_a_record_comes_with_it() {
    let world = started(unpacked()).await;
    let (names, store, recordings) = (Names::read(), &world.store, world.recordings());
    let whole = names.run("whole");
    let RunEnd { status_events, logs, ledger, .. } = read(&world, &whole).await.end.unwrap();
    assert_eq!((status_events[0].as_str(), logs.as_str(), ledger.is_some()), (r#"{"step":1}"#, "printed\n", true));
    let KeptTape::Whole(tape) = recordings.tape(&acme(), &whole).await.unwrap().unwrap() else { panic!("it is whole") };
    assert_eq!(*tape, b"what a run saw");
    let body = vec![7; 2_000];
    assert_eq!(recordings.body(&acme(), Digest::of(&body).as_bytes()).await.unwrap().bytes, body);
    let tool = ToolId::parse(&names.0["tool"]).unwrap();
    let answer = store.recorded_answer(&acme(), &tool, &[9; 32]).await.unwrap().unwrap();
    assert_eq!(*answer, b"said");
    let operation = OperationId::parse(&names.0["operation"]).unwrap();
    let runs = store.operation_runs(&acme(), &operation).await.unwrap();
    assert_eq!(runs.iter().map(|run| &run.start.id).collect::<Vec<_>>(), [&whole]);
}

#[tokio::test]
async fn taking_the_same_journal_over_again_changes_nothing() {
    let mut world = started(unpacked()).await;
    assert_eq!(world.store.close_orphans().await.unwrap(), 1);
    let page = async |world: &World| {
        let filter = InvocationFilter::default();
        world.store.list_invocations(&acme(), &filter, Page::first(100)).await.unwrap().items
    };
    let before = page(&world).await;
    fs::copy(journal(), world.data.root().join("journal-b")).unwrap();
    world.restart().await;
    assert_eq!((page(&world).await, before.len()), (before.clone(), 5));
    assert_eq!((world.store.close_orphans().await.unwrap(), found(&world, "half").await), (0, 1));
    assert!(!has_journal(&world));
}

#[tokio::test]
async fn a_truncated_write_loses_no_earlier_records() {
    let folder = unpacked();
    let journal = File::options().write(true).open(folder.path().join("data/journal-a")).unwrap();
    journal.set_len(journal.metadata().unwrap().len() - 1).unwrap();
    let world = started(folder).await;
    assert!(outcome(&world, "failed").await.is_some());
    assert_eq!(world.store.get_invocation(&acme(), &Names::read().run("open")).await.unwrap(), None);
}

/// No migration runs, so that the release that wrote the journal can still start.
#[tokio::test]
async fn a_journal_of_another_release_is_refused_first() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataDir::open(folder.path().join("data")).unwrap();
    let (keys, lock, clock) = (KeyRing::load(&data).unwrap(), data.lock().unwrap(), Clock::system());
    let mut head = [b"lathejnl".as_slice(), &99_u32.to_le_bytes(), &[7; 16]].concat();
    head.extend_from_slice(&crc32fast::hash(&head).to_le_bytes());
    fs::write(data.root().join("journal-b"), &head).unwrap();
    let database = || DatabaseLocation::DataDirectory;
    let options = || StoreOptions {
        data: &data,
        database: database(),
        keys: &keys,
        clock: clock.clone(),
        config: Config::for_tests(),
    };
    for refused in [Store::open_locked(&lock, options()).await, Store::open(options()).await].map(Result::unwrap_err) {
        assert_eq!(refused.kind(), ErrorKind::Corrupt);
        assert!(refused.to_string().contains("Start and stop the release that wrote it"), "{refused}");
    }
    assert!(!data.database().exists());
    assert_eq!(fs::read(data.root().join("journal-b")).unwrap(), head);
}
