//! The journal: its events are durable, visible immediately, and in the database after any crash.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use registry::{
    Clock, Config, DataDir, ErrorKind, Finished, Invocation, InvocationFilter, InvocationId, InvocationOutcome,
    InvocationStarted, KeyRing, OrganizationId, Page, Principal, SearchQuery, SearchText, Store, StoreOptions, UserId,
};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Row, SqliteConnection};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::fixtures::{World, finished, new_tool, started, succeeded};

/// Size of an event of which some eighty fit the journal.
const LONG_TEXT: usize = 200_000;
/// Two segments, each exceeding its limit by one group.
const FILES_BYTES_MAX: u64 = 20 << 20;

/// Another process that holds the write lock of the database.
struct Rival(SqliteConnection);

impl Rival {
    async fn new(world: &World) -> Self {
        let mut connection = database(&world.data.database()).await;
        sqlx::query("BEGIN IMMEDIATE").execute(&mut connection).await.unwrap();
        Self(connection)
    }

    async fn ends(self) {
        self.0.close().await.unwrap();
    }
}

async fn database(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).connect().await.unwrap()
}

/// Counts the starts of runs in the database file.
async fn rows(folder: &Path) -> i64 {
    let mut connection = database(&folder.join("lathe.db")).await;
    let row = sqlx::query("SELECT count(*) AS rows FROM inv_started").fetch_one(&mut connection).await.unwrap();
    row.get("rows")
}

fn segments(folder: &Path) -> [PathBuf; 2] {
    ["journal-a", "journal-b"].map(|name| folder.join(name))
}

fn bytes(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

/// Copies the files as a power failure at this moment would leave them.
fn disk(world: &World) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    copied(world.data.root(), &copy.path().join("data"));
    copy
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        match path.is_dir() {
            true => copied(&path, &to.join(name)),
            // The shared-memory file is lost.
            false if name.to_string_lossy().ends_with("-shm") => {}
            false => drop(fs::copy(&path, to.join(name)).unwrap()),
        }
    }
}

async fn after_the_crash(disk: TempDir) -> World {
    World::on(disk, Config::for_tests()).await.unwrap()
}

async fn read(world: &World, principal: &Principal, run: &InvocationId) -> Option<Invocation> {
    world.store.get_invocation(&principal.organization, run).await.unwrap()
}

/// Returns the output of a run that has ended.
async fn output(world: &World, principal: &Principal, run: &InvocationId) -> Option<String> {
    match read(world, principal, run).await?.finished? {
        Finished { outcome: InvocationOutcome::Succeeded { output }, .. } => Some(output),
        other => panic!("{other:?}"),
    }
}

async fn found(world: &World, principal: &Principal, word: &str) -> usize {
    let query =
        SearchQuery { text: SearchText::parse(word).unwrap(), fields: Vec::new(), filter: InvocationFilter::default() };
    let page = Page::first(100);
    world.store.search_invocations(&principal.organization, &query, page).await.unwrap().items.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_durable_before_they_are_in_the_database() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let rival = Rival::new(&world).await;
    let run = world.answered(&acme, "kept").await;
    let disk = disk(&world);
    assert_eq!(rows(&disk.path().join("data")).await, 0);
    let busy = world.store.get_invocation(&acme.organization, &run).await.unwrap_err();
    assert_eq!(busy.code(), "database_busy", "it is there, and cannot be read yet");
    let again = after_the_crash(disk).await;
    assert_eq!(rows(again.data.root()).await, 1, "entered before anything else");
    assert_eq!(output(&again, &acme, &run).await.as_deref(), Some("kept"));
    assert_eq!(found(&again, &acme, "kept").await, 1);
    assert_eq!(again.store.close_orphans().await.unwrap(), 0);
    rival.ends().await;
    assert_eq!(output(&world, &acme, &run).await.as_deref(), Some("kept"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_without_an_end_is_closed_after_a_crash() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (rival, record) = (Rival::new(&world).await, started(&world.clock, &acme));
    world.store.start_invocations(None, vec![record.clone()]).await.unwrap();
    let again = after_the_crash(disk(&world)).await;
    assert_eq!(again.store.close_orphans().await.unwrap(), 1);
    let Finished { outcome, .. } = read(&again, &acme, &record.id).await.unwrap().finished.unwrap();
    assert!(matches!(outcome, InvocationOutcome::Failed { exception_type, .. } if exception_type == "orphaned"));
    rival.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_run_finds_its_start_in_the_database() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let record = world.started(&acme).await;
    assert!(read(&world, &acme, &record.id).await.is_some(), "in the database");
    let rival = Rival::new(&world).await;
    world.store.finish_invocations(vec![finished(&record, succeeded("late"))]).await.unwrap();
    let again = after_the_crash(disk(&world)).await;
    assert_eq!(output(&again, &acme, &record.id).await.as_deref(), Some("late"));
    assert_eq!(again.store.close_orphans().await.unwrap(), 0);
    rival.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn inserting_events_again_changes_nothing() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let rival = Rival::new(&world).await;
    let run = world.answered(&acme, "once").await;
    let (first, second) = (disk(&world), disk(&world));
    rival.ends().await;
    let once = after_the_crash(first).await;
    once.store.close().await;
    let folder = once.data.root().to_owned();
    for (from, to) in segments(&second.path().join("data")).iter().zip(segments(&folder)) {
        fs::copy(from, to).unwrap();
    }
    let twice = tempfile::tempdir().unwrap();
    copied(&folder, &twice.path().join("data"));
    let again = after_the_crash(twice).await;
    assert_eq!(again.store.close_orphans().await.unwrap(), 0);
    assert_eq!(output(&again, &acme, &run).await.as_deref(), Some("once"));
    assert_eq!((rows(again.data.root()).await, found(&again, &acme, "once").await), (1, 1));
}

/// The first end counts, and an organisation cannot end the runs of another.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_end_changes_nothing() {
    let world = World::new().await;
    let (acme, stranger) = (world.organization("acme").await, world.organization("stranger").await);
    let record = world.started(&acme).await;
    let mut forged = finished(&record, succeeded("forged"));
    forged.organization = stranger.organization.clone();
    for end in [forged, finished(&record, succeeded("first")), finished(&record, succeeded("second"))] {
        world.store.finish_invocations(vec![end]).await.unwrap();
    }
    let never = started(&world.clock, &acme);
    world.store.finish_invocations(vec![finished(&never, succeeded("of no run"))]).await.unwrap();
    assert_eq!(output(&world, &acme, &record.id).await.as_deref(), Some("first"));
    assert_eq!((read(&world, &acme, &never.id).await, rows(world.data.root()).await), (None, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncated_write_loses_no_earlier_events() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let rival = Rival::new(&world).await;
    let (first, second) = (world.answered(&acme, "first").await, world.answered(&acme, "second").await);
    let disk = disk(&world);
    let longer = segments(&disk.path().join("data")).into_iter().max_by_key(|path| bytes(path)).unwrap();
    File::options().write(true).open(&longer).unwrap().set_len(bytes(&longer) - 1).unwrap();
    let again = after_the_crash(disk).await;
    assert_eq!(output(&again, &acme, &first).await.as_deref(), Some("first"));
    assert_eq!(read(&again, &acme, &second).await.unwrap().finished, None);
    rival.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_files_stay_small_and_are_empty_at_the_end() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    const RUNS: u32 = 200;
    let text = |number: u32| format!("{number}-{}", "x".repeat(LONG_TEXT));
    let mut runs = Vec::new();
    for number in 0..RUNS {
        runs.push(world.answered(&acme, &text(number)).await);
    }
    let used = segments(world.data.root()).map(|path| bytes(&path));
    assert!(used.iter().all(|bytes| *bytes > 0) && used.iter().sum::<u64>() < FILES_BYTES_MAX, "{used:?}");
    let again = after_the_crash(disk(&world)).await;
    for (run, number) in runs.iter().zip(0..) {
        assert_eq!(output(&again, &acme, run).await, Some(text(number)));
    }
    again.store.close().await;
    assert_eq!(segments(again.data.root()).map(|path| bytes(&path)), [0, 0]);
    assert_eq!(rows(again.data.root()).await, i64::from(RUNS));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_journal_refuses_events_and_keeps_earlier_ones() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let rival = Rival::new(&world).await;
    let text = "x".repeat(LONG_TEXT);
    let mut kept: Vec<InvocationStarted> = Vec::new();
    let refused = loop {
        assert!(kept.len() < 200, "it is never full");
        let record = started(&world.clock, &acme);
        if let Err(refused) = world.store.start_invocations(None, vec![record.clone()]).await {
            break refused;
        }
        match world.store.finish_invocations(vec![finished(&record, succeeded(&text))]).await {
            Ok(()) => kept.push(record),
            Err(refused) => break refused,
        }
    };
    assert_eq!((refused.kind(), refused.code()), (ErrorKind::Unavailable, "database_busy"));
    assert!((60..120).contains(&kept.len()), "{}", kept.len());
    rival.ends().await;
    for record in kept {
        assert_eq!(output(&world, &acme, &record.id).await.as_deref(), Some(text.as_str()));
    }
    world.answered(&acme, "there is room again").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_events_go_to_the_database_directly() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let record = world.started(&acme).await;
    let journal = || segments(world.data.root()).map(|path| bytes(&path));
    let before = journal();
    let long = finished(&record, succeeded(&"x".repeat(2 << 20)));
    world.store.finish_invocations(vec![long]).await.unwrap();
    assert_eq!(journal(), before);
    assert_eq!(output(&world, &acme, &record.id).await.map(|output| output.len()), Some(2 << 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_can_never_be_inserted_does_not_block_others() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let nobody = Principal {
        organization: OrganizationId::parse("nobody").unwrap(),
        user: UserId::parse("ann").unwrap(),
        ..acme.clone()
    };
    let rival = Rival::new(&world).await;
    let lost = world.answered(&nobody, "of no organisation").await;
    let run = world.answered(&acme, "of one").await;
    rival.ends().await;
    assert_eq!(output(&world, &acme, &run).await.as_deref(), Some("of one"));
    assert_eq!(read(&world, &nobody, &lost).await, None);
    world.store.create_tool(&acme, new_tool("other_writes_go_on")).await.unwrap();
}

/// The journal accepts no more than the database has space for, so that all durable events can be read.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_fills_up_has_all_durable_events() {
    let world = World::with(Config { database_bytes_max: Some(72 << 20), ..Config::for_tests() }).await;
    let acme = world.organization("acme").await;
    let (text, mut kept) = ("x".repeat(LONG_TEXT), Vec::new());
    let refused = loop {
        assert!(kept.len() < 1_000, "it is never full");
        let record = started(&world.clock, &acme);
        let start = world.store.start_invocations(None, vec![record.clone()]).await;
        let end = world.store.finish_invocations(vec![finished(&record, succeeded(&text))]).await;
        match start.and(end) {
            Ok(()) => kept.push(record.id),
            Err(refused) => break refused,
        }
    };
    assert_eq!(refused.code(), "storage_failing");
    assert!(kept.len() > 100, "{}", kept.len());
    for run in kept.iter().rev() {
        assert!(output(&world, &acme, run).await.is_some());
    }
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
    let server = Store::open_locked(
        &lock,
        StoreOptions { data: &data, keys: &keys, clock: clock.clone(), config: Config::for_tests() },
    )
    .await;
    let command = Store::open(StoreOptions { data: &data, keys: &keys, clock, config: Config::for_tests() }).await;
    for refused in [server, command].map(Result::unwrap_err) {
        assert_eq!(refused.kind(), ErrorKind::Corrupt);
        assert!(refused.to_string().contains("Start and stop the release that wrote it"), "{refused}");
    }
    assert!(!data.database().exists());
    assert_eq!(fs::read(data.root().join("journal-b")).unwrap(), head);
}

/// More events than fit one commit.
#[tokio::test(flavor = "multi_thread")]
async fn many_pending_events_are_inserted_in_several_commits() {
    const RUNS: usize = 1_300;
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let rival = Rival::new(&world).await;
    let mut runs = JoinSet::new();
    for number in 0..RUNS {
        let (store, record) = (world.store.clone(), started(&world.clock, &acme));
        runs.spawn(async move {
            store.start_invocations(None, vec![record.clone()]).await.unwrap();
            store.finish_invocations(vec![finished(&record, succeeded(&number.to_string()))]).await.unwrap();
        });
    }
    assert_eq!(runs.join_all().await.len(), RUNS);
    rival.ends().await;
    world.store.create_tool(&acme, new_tool("after_all_of_them")).await.unwrap();
    assert_eq!(rows(world.data.root()).await, 1_300);
    assert_eq!(world.store.close_orphans().await.unwrap(), 0);
}
