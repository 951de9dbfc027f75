//! Large bodies of recordings: in the storage of the artifacts, and deleted after the tapes that use them.

use std::time::Duration;

use registry::{
    Artifacts, Clock, Config, Digest, ErrorKind, OrganizationId, Principal, RecordEvent, Recordings, RunId, StoredBody,
    TapeBody, Timestamp, UnsealedTape,
};

use crate::artifacts::in_bucket;
use crate::bucket::Bucket;
use crate::database;
use crate::fixtures::{World, ends, finished, holds, started, starts, succeeded};

const HOUR: Duration = Duration::from_hours(1);

/// More than the time for which a body lasts that a new tape relies on.
const RETENTION: Duration = Duration::from_hours(48);

/// A directory or a bucket in which large bodies are stored.
struct Place {
    world: World,
    artifacts: Artifacts,
    recordings: Recordings,
    bucket: Option<Bucket>,
    acme: Principal,
}

impl Place {
    async fn of(bucket: Option<Bucket>) -> Self {
        let world = World::with(Config { tape_retention: RETENTION, ..Config::for_tests() }).await;
        // Retention is compared by the clock of the database, and the S3 server shows the time of today.
        let passed = Clock::system().now().as_milliseconds() - world.clock.now().as_milliseconds();
        world.clock.advance(Duration::from_millis(passed.try_into().unwrap()));
        let artifacts = match &bucket {
            None => Artifacts::open(&world.data).unwrap(),
            Some(bucket) => in_bucket(&world, bucket, world.clock.clone()),
        };
        let recordings = Recordings::of(&world.store, &artifacts);
        let acme = world.organization("acme").await;
        Self { world, artifacts, recordings, bucket, acme }
    }

    /// A data directory, and, with an S3 server, a bucket.
    async fn all() -> Vec<Self> {
        let mut places = vec![Self::of(None).await];
        if let Some(bucket) = Bucket::create() {
            places.push(Self::of(Some(bucket)).await);
        }
        places
    }

    fn organization(&self) -> &OrganizationId {
        &self.acme.organization
    }

    /// Records a run whose tape has some bodies.
    async fn record(&self, bodies: &[&TapeBody]) -> RunId {
        self.record_at(bodies, self.world.clock.now()).await
    }

    async fn record_at(&self, bodies: &[&TapeBody], at: Timestamp) -> RunId {
        let run = started(&Clock::fixed(at), &self.acme);
        self.world.store.history().record(&starts(vec![run.clone()])).await.unwrap();
        let tape = UnsealedTape::new(b"a tape".to_vec(), bodies.iter().map(|body| (*body).clone()).collect());
        let tape = self.recordings.seal(self.organization(), &run.id, tape).await.unwrap();
        let mut end = finished(&run, succeeded("done"));
        end.tape = Some(tape);
        self.world.store.history().record(&ends(vec![end])).await.unwrap();
        run.id
    }

    async fn stored(&self) -> Vec<StoredBody> {
        self.artifacts.bodies().list(Timestamp::from_milliseconds(i64::MAX)).await.unwrap()
    }

    async fn rows(&self, condition: &str) -> i64 {
        database::number(&self.world, &format!("SELECT count(*) FROM tape_bodies WHERE {condition}")).await
    }

    /// Reads a body, and returns its error.
    async fn error_of(&self, body: &TapeBody) -> ErrorKind {
        self.recordings.body(self.organization(), &body.digest).await.unwrap_err().kind()
    }

    /// Forgets what a server has in its cache.
    fn without_cache(&mut self) {
        if let Some(bucket) = &self.bucket {
            std::fs::remove_dir_all(self.world.data.artifact_cache()).unwrap();
            self.artifacts = in_bucket(&self.world, bucket, self.world.clock.clone());
            self.recordings = Recordings::of(&self.world.store, &self.artifacts);
        }
    }
}

/// A body that cannot be compressed.
fn noise(seed: u64, size: usize) -> TapeBody {
    let mut state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let byte = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[0]
    };
    let bytes: Vec<u8> = (0..size).map(byte).collect();
    TapeBody { digest: *Digest::of(&bytes).as_bytes(), bytes }
}

#[tokio::test]
async fn large_bodies_are_sealed_objects_and_others_are_rows() {
    for mut place in Place::all().await {
        let (large, small, empty_when_compressed) = (noise(1, 300_000), noise(2, 100_000), vec![7; 2_000_000]);
        let compressed =
            TapeBody { digest: *Digest::of(&empty_when_compressed).as_bytes(), bytes: empty_when_compressed };
        place.record(&[&small, &large, &compressed]).await;
        let stored = place.stored().await;
        assert_eq!(
            (stored.len(), place.rows("object_digest IS NOT NULL").await, place.rows("octet_length(sealed) > 0").await),
            (1, 1, 2)
        );
        assert!(stored[0].bytes > 300_000 && stored[0].bytes < 300_100, "{stored:?}");
        place.without_cache();
        for body in [&large, &small, &compressed] {
            assert_eq!(&place.recordings.body(place.organization(), &body.digest).await.unwrap(), body);
        }
        let sealed = place.artifacts.bodies().get(&stored[0].digest).await.unwrap().unwrap();
        assert!(!holds(&sealed, &large.bytes[..100]), "it is not encrypted");
        // Other runs share the object, in one call and later.
        place.record(&[&large]).await;
        place.record(&[&large, &small]).await;
        assert_eq!(place.stored().await, stored);
    }
}

#[tokio::test]
async fn a_damaged_and_a_missing_object_are_refused() {
    for mut place in Place::all().await {
        let body = noise(3, 300_000);
        place.record(&[&body]).await;
        let digest = place.stored().await[0].digest;
        let whole = place.artifacts.bodies().get(&digest).await.unwrap().unwrap();
        place.without_cache();
        for spoilt in [[&[whole[0] ^ 1], &whole[1..]].concat(), whole[1..].to_vec(), Vec::new()] {
            match &place.bucket {
                None => {
                    let name = digest.to_hex();
                    let path = place.world.data.recorded_bodies().join(&name[..2]).join(&name);
                    std::fs::write(path, spoilt).unwrap();
                }
                Some(_) => place.artifacts.bodies().replace(&digest, spoilt.into()).await.unwrap(),
            }
            assert_eq!(place.error_of(&body).await, ErrorKind::Corrupt);
        }
        place.artifacts.bodies().replace(&digest, whole.into()).await.unwrap();
        assert_eq!(place.recordings.body(place.organization(), &body.digest).await.unwrap(), body);
        place.artifacts.bodies().delete(&digest).await.unwrap();
        place.without_cache();
        assert_eq!(place.error_of(&body).await, ErrorKind::Corrupt);
    }
}

#[tokio::test]
async fn objects_are_deleted_after_the_tapes_that_use_them() {
    for place in Place::all().await {
        let (shared, old) = (noise(4, 300_000), noise(5, 300_000));
        let now = place.world.clock.now();
        let long_ago = Timestamp::from_milliseconds(now.as_milliseconds() - 1_000 * 3_600_000);
        place.record_at(&[&shared, &old], long_ago).await;
        let young = place.record_at(&[&shared], now).await;
        assert_eq!((place.recordings.delete_expired().await.unwrap(), place.stored().await.len()), (1, 2));
        assert_eq!(place.error_of(&old).await, ErrorKind::Corrupt);
        assert_eq!(place.recordings.body(place.organization(), &shared.digest).await.unwrap(), shared);
        assert!(place.recordings.tape(place.organization(), &young).await.unwrap().is_some());
        // The second object of the shared body is not in use, and is deleted when it is old.
        assert_eq!(place.recordings.delete_unused_bodies().await.unwrap(), 0);
        place.world.clock.advance(25 * HOUR);
        assert_eq!((place.recordings.delete_unused_bodies().await.unwrap(), place.stored().await.len()), (1, 1));
        assert_eq!(place.recordings.body(place.organization(), &shared.digest).await.unwrap(), shared);
    }
}

#[tokio::test]
async fn an_object_whose_row_was_never_written_is_deleted_a_day_later() {
    for place in Place::all().await {
        let used = noise(6, 300_000);
        place.record(&[&used]).await;
        // A server stores a body, and ends before the run has a row.
        let run = started(&place.world.clock, &place.acme);
        let tape = UnsealedTape::new(b"a tape".to_vec(), vec![noise(7, 300_000)]);
        place.recordings.seal(place.organization(), &run.id, tape).await.unwrap();
        assert_eq!(place.stored().await.len(), 2);
        assert_eq!(place.recordings.delete_unused_bodies().await.unwrap(), 0, "its run may be about to be recorded");
        place.world.clock.advance(25 * HOUR);
        assert_eq!(place.recordings.delete_unused_bodies().await.unwrap(), 1);
        assert_eq!(place.recordings.body(place.organization(), &used.digest).await.unwrap(), used);
    }
}

#[tokio::test]
async fn bodies_become_rows_while_the_storage_fails() {
    for place in Place::all().await {
        let (before, meanwhile) = (noise(8, 300_000), noise(9, 300_000));
        place.record(&[&before]).await;
        match &place.bucket {
            None => {
                std::fs::remove_dir_all(place.world.data.recorded_bodies()).unwrap();
                std::fs::write(place.world.data.recorded_bodies(), "no directory").unwrap();
            }
            Some(bucket) => bucket.delete(),
        }
        place.record(&[&meanwhile]).await;
        assert_eq!(place.recordings.body(place.organization(), &meanwhile.digest).await.unwrap(), meanwhile);
        assert_eq!(place.rows("object_digest IS NULL").await, 1);
        // A body that has a row stays there.
        place.record(&[&meanwhile]).await;
        assert_eq!(place.rows("object_digest IS NULL").await, 1);
    }
}

#[tokio::test]
async fn a_body_that_is_about_to_expire_is_stored_again() {
    for place in Place::all().await {
        let body = noise(10, 300_000);
        let now = place.world.clock.now();
        let almost = now.as_milliseconds() - i64::try_from(RETENTION.as_millis()).unwrap() + 1_800_000;
        place.record_at(&[&body], Timestamp::from_milliseconds(almost)).await;
        // This run could be recorded after the row of the first one was deleted.
        let run = started(&Clock::fixed(now), &place.acme);
        place.world.store.history().record(&starts(vec![run.clone()])).await.unwrap();
        let tape = UnsealedTape::new(b"a tape".to_vec(), vec![body.clone()]);
        let tape = place.recordings.seal(place.organization(), &run.id, tape).await.unwrap();
        assert_eq!(place.stored().await.len(), 2);
        for statement in disable_triggers() {
            database::execute(&place.world, statement).await.unwrap();
        }
        database::execute(&place.world, "UPDATE tapes SET expires_at = 1").await.unwrap();
        assert_eq!(place.recordings.delete_expired().await.unwrap(), 1);
        let mut end = finished(&run, succeeded("done"));
        end.tape = Some(tape);
        place.world.store.history().record(&RecordEvent::Finished(vec![end])).await.unwrap();
        assert_eq!(place.recordings.body(place.organization(), &body.digest).await.unwrap(), body);
    }
}

/// Lets a test change the expiry of tapes.
fn disable_triggers() -> [&'static str; 1] {
    if database::is_server() {
        ["DROP TRIGGER tapes_never_updated ON tapes"]
    } else {
        ["DROP TRIGGER tapes_never_updated"]
    }
}
