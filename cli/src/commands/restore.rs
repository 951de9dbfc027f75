//! `lathe restore`: makes a data directory from a backup.

mod losses;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use registry::{DataDir, DatabaseLocation, KeyRing};
use repository::complete_repository;
use serde_json::json;
use tempfile::TempDir;

use self::losses::Losses;
use crate::backup::{
    self, BackupPlace, FileEntry, KEY, Manifest, copy, explain_damage, require_plain_file, sync_folders,
};
use crate::failure::{Failure, Outcome};
use crate::output::{Screen, Spinner};
use crate::server::{self, DataArguments, Location};

#[derive(Debug, Args)]
pub struct RestoreArguments {
    /// Directory of the backup, or its URL, such as s3://BUCKET/PREFIX
    #[arg(value_name = "DIRECTORY", value_parser = OsStringValueParser::new().try_map(BackupPlace::parse))]
    place: BackupPlace,
    /// File with the master key, for a backup that was made without it
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Restore although the database names packs of git repositories that the backup lacks, because the bucket still has them
    #[arg(long)]
    without_packs: bool,
    #[command(flatten)]
    data: DataArguments,
}

/// A data directory under a temporary name, which is deleted unless it is complete.
struct Restore {
    backup: PathBuf,
    manifest: Manifest,
    made: TempDir,
}

pub async fn run(arguments: &RestoreArguments, screen: Screen) -> anyhow::Result<Outcome> {
    let location = arguments.data.find_location()?;
    match &arguments.place {
        BackupPlace::Directory(directory) => restore(directory, &location, arguments, screen).await,
        BackupPlace::Bucket(url) => {
            refuse_used(&location.directory)?;
            let directory = backup::download(&server::connect(url)?).await?;
            restore(directory.path(), &location, arguments, screen).await
        }
    }
}

/// Restores the backup in a directory.
async fn restore(
    directory: &Path,
    Location { directory: target, database }: &Location,
    arguments: &RestoreArguments,
    screen: Screen,
) -> anyhow::Result<Outcome> {
    let manifest = Manifest::read(directory)?;
    require_database(&manifest, database)?;
    refuse_used(target)?;
    let restore = Restore::begin(directory, manifest, target)?;
    restore.copy_key(arguments.key.as_deref())?;
    restore.copy_files()?;
    restore.complete_repositories()?;
    let losses = restore.check_database(database.clone(), arguments).await?;
    losses.warn(screen);
    let manifest = restore.put_in_place(target)?;
    let Manifest { created_at, counts, .. } = &manifest;
    let path = target.display();
    let document =
        json!({"data": path.to_string(), "created_at": created_at, "counts": counts, "lost": losses.build_document()});
    screen.answer(&document, || {
        let what =
            if losses.is_empty() { "has everything" } else { "has, except for what the warnings name, everything" };
        let database = if *database == DatabaseLocation::DataDirectory { "" } else { " --database URL" };
        let bucket = if counts.packs > 0 { " --storage URL" } else { "" };
        format!(
            "{path} {what} that was answered before {created_at}\n\
            start the server: lathe serve --data {path}{database}{bucket}"
        )
    })
}

impl Restore {
    fn begin(backup: &Path, manifest: Manifest, target: &Path) -> anyhow::Result<Self> {
        let folder = target.parent().unwrap_or(target);
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        let made = tempfile::Builder::new().prefix(".lathe-restore-").tempdir_in(folder);
        let made = made.with_context(|| format!("creating a directory beside {}", target.display()))?;
        // While it is empty, so that git ignores it.
        DataDir::open(made.path())?;
        Ok(Self { backup: backup.to_owned(), manifest, made })
    }

    /// Comes first: without the key, nothing else is worth copying.
    fn copy_key(&self, named: Option<&Path>) -> anyhow::Result<()> {
        if named.is_none() && self.manifest.master_key.is_included {
            require_plain_file(&self.backup, KEY)?;
        }
        let included = self.manifest.master_key.is_included.then(|| self.backup.join(KEY));
        let Some(key) = named.map(Path::to_owned).or(included) else { return Err(refuse_without_key()) };
        copy(&key, &self.made.path().join(KEY)).with_context(|| format!("copying the key {}", key.display()))?;
        if self.manifest.master_key.is(&KeyRing::load(&DataDir::open(self.made.path())?)?) {
            return Ok(());
        }
        let message = format!("{} is not the master key of this backup", key.display());
        Err(Failure::coded(
            "master_key_wrong",
            message,
            "name the key of the server that the backup is from with --key",
        ))
    }

    /// Copies all files but the key, and compares their digests.
    fn copy_files(&self) -> anyhow::Result<()> {
        let progress = Spinner::start("restoring");
        let files = &self.manifest.files;
        for (number, entry) in (1..).zip(files) {
            progress.show(format!("file {number} of {}: {}", files.len(), entry.path));
            if entry.path != KEY {
                self.copy_file(entry)?;
            }
        }
        Ok(())
    }

    fn copy_file(&self, FileEntry { path, bytes, digest }: &FileEntry) -> anyhow::Result<()> {
        require_plain_file(&self.backup, path)?;
        let from = self.backup.join(path);
        let copied = copy(&from, &self.made.path().join(path)).with_context(|| format!("copying {path}"))?;
        match copied == (*bytes, *digest) {
            true => Ok(()),
            false => Err(explain_damage(&format!("{path} does not have the digest that the manifest has"))),
        }
    }

    fn complete_repositories(&self) -> anyhow::Result<()> {
        let git = DataDir::open(self.made.path())?.git();
        for entry in fs::read_dir(git).into_iter().flatten() {
            complete_repository(&entry?.path())?;
        }
        Ok(())
    }

    /// Opens the database with the key, applies the migrations of later releases, and compares what the database names with the files.
    async fn check_database(&self, database: DatabaseLocation, arguments: &RestoreArguments) -> anyhow::Result<Losses> {
        let store = server::open_existing_store(&Location { directory: self.made.path().to_owned(), database }).await?;
        if self.manifest.counts.organizations > 0 && store.access().list_organizations().await?.is_empty() {
            let hint = "restore the dump that belongs to the backup first: pg_restore --dbname=URL FILE";
            return Err(Failure::coded("database_needed", "the database has no organisations", hint));
        }
        let losses = Losses::find(&store, &DataDir::open(self.made.path())?, &self.manifest).await;
        store.close().await;
        let losses = losses?;
        if !arguments.without_packs {
            losses.refuse_unknown_packs(&self.manifest)?;
        }
        Ok(losses)
    }

    /// Gives the directory its name. An empty directory of that name is replaced.
    fn put_in_place(self, target: &Path) -> anyhow::Result<Manifest> {
        let Self { manifest, made, .. } = self;
        sync_folders(made.path())?;
        let made = made.keep();
        if let Err(error) = fs::rename(&made, target) {
            // The error of the renaming is reported, not that of the removal.
            let _ = fs::remove_dir_all(&made);
            let hint = "name a directory that is no mount point, for instance one inside of it";
            return Err(Failure::refused(
                format!("renaming {} to {}: {error}", made.display(), target.display()),
                hint,
            ));
        }
        let folder = target.parent().unwrap_or(target);
        let flushed = File::open(folder).and_then(|folder| folder.sync_all());
        flushed.with_context(|| format!("flushing {}", folder.display()))?;
        Ok(manifest)
    }
}

/// Requires the database of a server for a backup without a database, and only for such a backup.
fn require_database(manifest: &Manifest, database: &DatabaseLocation) -> anyhow::Result<()> {
    let is_server = *database != DatabaseLocation::DataDirectory;
    match (manifest.database.is_included, is_server) {
        (true, false) | (false, true) => Ok(()),
        (false, false) => {
            let hint = "restore its dump with `pg_restore --dbname=URL FILE`, then name that database with --database";
            Err(Failure::coded("database_needed", "the backup was made without the database", hint))
        }
        (true, true) => {
            let hint = "restore without --database and LATHE_DATABASE, then copy the database with `lathe migrate`";
            Err(Failure::refused("the backup has its database, which is restored to the data directory", hint))
        }
    }
}

/// Refuses the directory of a running server, and every other one that is not empty.
fn refuse_used(target: &Path) -> anyhow::Result<()> {
    let Ok(mut entries) = fs::read_dir(target) else { return Ok(()) };
    if entries.next().is_none() {
        return Ok(());
    }
    if DataDir::is_at(target) {
        DataDir::open(target)?.lock()?;
    }
    let message = format!("{} is not empty", target.display());
    Err(Failure::coded("not_empty", message, "name a new directory with --data; a restore replaces nothing"))
}

fn refuse_without_key() -> anyhow::Error {
    let message = "the backup was made without the master key, and nothing in it can be decrypted without";
    let hint = "name the file with --key: keys/master.key of the server's data directory, or your copy of it";
    Failure::coded("master_key_needed", message, hint)
}
