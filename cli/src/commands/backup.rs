//! `lathe backup`: copies a data directory, also beside a running server.
//!
//! The order makes the copy consistent. The database comes first. What its rows refer to was stored before them and is never
//! deleted before them: the artifacts of versions, the large bodies of recordings, and the pins of commits. So it is all there when
//! it is copied afterwards. Packs of shared repositories stay for a day after a garbage collection replaced them, and a backup has
//! these too.

mod directory;
mod packs;

use std::io::ErrorKind;
use std::path::Path;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use registry::{Artifacts, Clock, DataDir, KeyRing, SharedRepositories, Store};
use repository::{GitProgram, RepositoryCopier};
use serde_json::{Value, json};

use self::directory::BackupDirectory;
use crate::backup::{self, BackupPlace, DATABASE, DatabaseCopy, KEY, Manifest, MasterKey};
use crate::failure::{Failure, Outcome};
use crate::output::{Screen, Spinner};
use crate::server::{self, DataArguments, Location};

/// The files of a backup must be as new as the rows that name them.
const DUMP_NEEDED: &str = "\nthe backup lacks the database; keep with it a dump that was made before: \
    run `pg_dump --format=custom --file=FILE URL` first, then `lathe backup`";

const MEBIBYTE: u64 = 1 << 20;

#[derive(Debug, Args)]
pub struct BackupArguments {
    /// Directory to write, a new or an empty one, or URL of a bucket, such as s3://BUCKET/PREFIX
    #[arg(value_name = "DIRECTORY", value_parser = OsStringValueParser::new().try_map(BackupPlace::parse))]
    place: BackupPlace,
    /// Include the master key, which opens all secrets of the backup
    #[arg(long)]
    with_keys: bool,
    #[command(flatten)]
    data: DataArguments,
}

/// The data directory, the database, the artifacts and the repositories that a backup copies.
struct BackupSource {
    data: DataDir,
    store: Store,
    artifacts: Artifacts,
    repositories: RepositoryCopier,
    /// The repositories whose packs are in the bucket.
    shared: Option<SharedRepositories>,
}

pub async fn run(arguments: &BackupArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let location = arguments.data.find_location()?;
    let root = location.directory.clone();
    server::require_installation(&location)?;
    location.announce(screen);
    let manifest = match &arguments.place {
        // git runs in the repositories' directories.
        BackupPlace::Directory(directory) => back_up(&location, &std::path::absolute(directory)?, arguments).await?,
        BackupPlace::Bucket(url) => {
            let objects = server::connect(url)?;
            backup::require_empty(&objects).await?;
            let directory = backup::create_temporary_directory()?;
            let manifest = back_up(&location, directory.path(), arguments).await?;
            backup::upload(&objects, directory.path(), &manifest).await?;
            manifest
        }
    };
    note_lost(&manifest, screen);
    screen.answer(&build_document(&manifest, arguments), || render_text(&manifest, &root, &arguments.place))
}

/// Backs a data directory up to a directory.
async fn back_up(location: &Location, directory: &Path, arguments: &BackupArguments) -> anyhow::Result<Manifest> {
    let store = server::open_existing_store(location).await?;
    let data = DataDir::open(&location.directory)?;
    let keys = KeyRing::load(&data)?;
    let repositories = RepositoryCopier::new(find_git()?, &data.git());
    let artifacts = server::open_artifacts(&data).await?;
    let shared = server::open_shared_repositories(&store, &artifacts).await?;
    let source = BackupSource { data, store, artifacts, repositories, shared };
    let database = DatabaseCopy { is_included: !source.store.is_shared() };
    let master_key = MasterKey::of(&keys, arguments.with_keys);
    let manifest = Manifest::new(Clock::system().now().to_string(), master_key, database);
    let backup = BackupDirectory::create(directory, &location.directory, manifest)?;
    let manifest = source.back_up(backup).await?;
    source.store.close().await;
    Ok(manifest)
}

impl BackupSource {
    async fn back_up(&self, mut backup: BackupDirectory) -> anyhow::Result<Manifest> {
        let progress = Spinner::start("backing up");
        if backup.manifest.database.is_included {
            progress.show("the database");
            self.store.snapshot(&backup.path(DATABASE)).await?;
            backup.add(DATABASE)?;
        }
        backup.manifest.counts.organizations = self.store.access().list_organizations().await?.len() as u64;
        self.copy_artifacts(&mut backup, &progress).await?;
        self.copy_bodies(&mut backup, &progress).await?;
        self.copy_packs(&mut backup, &progress).await?;
        self.copy_repositories(&mut backup, &progress).await?;
        if backup.manifest.master_key.is_included {
            backup.copy(&self.data.keys().join("master.key"), KEY)?;
        }
        progress.show("flushing");
        backup.finish()
    }

    /// Copies the artifacts of all versions. Others are of builds that go on, or `lathe gc` deletes them. One that the server
    /// itself has lost is no reason to back up nothing.
    async fn copy_artifacts(&self, backup: &mut BackupDirectory, progress: &Spinner) -> anyhow::Result<()> {
        let used = self.store.versions().artifacts_in_use().await?;
        for (number, digest) in (1..).zip(&used) {
            progress.show(format!("artifact {number} of {}", used.len()));
            let bytes = match self.artifacts.get(digest).await {
                Ok(bytes) => bytes,
                Err(registry::Error::Corrupt { .. }) => None,
                Err(registry::Error::Io { source, .. }) if source.kind() == ErrorKind::IsADirectory => None,
                Err(error) => return Err(error.into()),
            };
            let counts = &mut backup.manifest.counts;
            counts.artifacts += u64::from(bytes.is_some());
            counts.artifacts_lost += u64::from(bytes.is_none());
            if let Some(bytes) = bytes {
                backup.write_artifact(digest, &bytes)?;
            }
        }
        Ok(())
    }

    /// Copies the large bodies of recordings. Those of tapes that expire meanwhile are deleted.
    async fn copy_bodies(&self, backup: &mut BackupDirectory, progress: &Spinner) -> anyhow::Result<()> {
        let used = self.store.history().bodies_in_use().await?;
        let mut absent = Vec::new();
        for (number, digest) in (1..).zip(&used) {
            progress.show(format!("recorded body {number} of {}", used.len()));
            match self.artifacts.bodies().get(digest).await {
                Ok(Some(bytes)) => backup.write_body(digest, &bytes)?,
                Ok(None) | Err(registry::Error::Corrupt { .. }) => absent.push(digest),
                Err(error) => return Err(error.into()),
            }
        }
        backup.manifest.counts.bodies = (used.len() - absent.len()) as u64;
        if !absent.is_empty() {
            let used = self.store.history().bodies_in_use().await?;
            backup.manifest.counts.bodies_lost =
                absent.into_iter().filter(|digest| used.contains(digest)).count() as u64;
        }
        Ok(())
    }

    /// Copies the repositories of the data directory. Those that servers share now are not copied from there.
    async fn copy_repositories(&self, backup: &mut BackupDirectory, progress: &Spinner) -> anyhow::Result<()> {
        let shared = self.list_shared_directories().await?;
        let mut names = self.repositories.names()?;
        names.retain(|name| !shared.contains(name));
        for (count, name) in (1..).zip(&names) {
            progress.show(format!("repository {count} of {}: {name}", names.len()));
            let path = format!("git/{name}");
            self.repositories.copy(name, &backup.path(&path)).await?;
            backup.add_all(&path)?;
            backup.manifest.counts.repositories += 1;
        }
        Ok(())
    }
}

fn find_git() -> anyhow::Result<GitProgram> {
    let hint = "`lathe doctor` shows the command that installs git";
    GitProgram::find().map_err(|error| Failure::refused(error.to_string(), hint))
}

fn note_lost(manifest: &Manifest, screen: Screen) {
    let lost = manifest.counts.artifacts_lost;
    if lost > 0 {
        screen.note(format!(
            "warning: {lost} artifacts of versions are missing or damaged and are not in the backup; \
            publish the commits of these versions again, or restore the files from an earlier backup"
        ));
    }
    let lost = manifest.counts.bodies_lost;
    if lost > 0 {
        screen.note(format!(
            "warning: {lost} large bodies of recordings are missing or damaged and are not in the backup; \
            their runs cannot be replayed"
        ));
    }
    let lost = manifest.counts.packs_lost;
    if lost > 0 {
        screen.note(format!(
            "warning: {lost} packs of git repositories are missing or damaged in the bucket and are not in the backup; \
            a server that has a copy stores them again, so start the servers and make another backup"
        ));
    }
}

fn build_document(manifest: &Manifest, arguments: &BackupArguments) -> Value {
    json!({
        "directory": arguments.place.to_string(), "release": manifest.release, "created_at": manifest.created_at,
        "master_key_included": manifest.master_key.is_included, "database_included": manifest.database.is_included,
        "files": manifest.files.len(), "counts": manifest.counts,
    })
}

fn render_text(manifest: &Manifest, data: &Path, place: &BackupPlace) -> String {
    let counts = &manifest.counts;
    let key = data.join("keys/master.key");
    let key = if manifest.master_key.is_included {
        "the backup contains the master key: whoever has it can read all secrets".to_owned()
    } else {
        format!("the backup lacks the master key; keep a copy of {} elsewhere: a restore needs it", key.display())
    };
    format!(
        "{place}\norganisations: {}, repositories: {}, artifacts: {}, {} MiB\n{key}{}",
        counts.organizations,
        counts.repositories,
        counts.artifacts,
        counts.bytes.div_ceil(MEBIBYTE),
        if manifest.database.is_included { "" } else { DUMP_NEEDED }
    )
}
