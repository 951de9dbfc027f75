//! The journal of release 0.1.0, in which records of runs became durable before they were in the database.
//!
//! After a crash of that release, its two files have records that the database lacks. The first start of this release inserts
//! them and deletes the files. Records that are in the database already do not change.

mod events;
mod frames;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::handle::Store;
use super::sql::record_rows::{EndRow, RecordRows};
use super::sql::run_start::StartRow;
use crate::durable::{at, sync_folder};
use crate::error::{Error, Result};
use events::JournalEvent;
use frames::Segment;

const NAMES: [&str; 2] = ["journal-a", "journal-b"];

/// Checks that this release can read the journal in a folder, if there is one.
///
/// # Errors
/// [`Error::Corrupt`] for a file in the format of another release.
pub(super) fn check(folder: &Path) -> Result<()> {
    segments(folder).map(drop)
}

/// Refuses a journal with records that the database may lack.
pub(super) fn require_empty(folder: &Path) -> Result<()> {
    match segments(folder)?.iter().any(|segment| !segment.frames.is_empty()) {
        true => Err(Error::JournalNotEmpty),
        false => Ok(()),
    }
}

impl Store {
    /// Inserts the records in the journal of a folder into the database, and deletes the journal.
    pub(super) async fn take_over_journal(&self, folder: &Path) -> Result<()> {
        let mut segments = segments(folder)?;
        segments.sort_by_key(|segment| segment.sequence);
        let frames: Vec<_> = segments.into_iter().flat_map(|segment| segment.frames).collect();
        if !frames.is_empty() {
            tracing::info!(records = frames.len(), "inserting records of runs from the journal of release 0.1.0");
        }
        for frame in frames {
            self.insert_event(JournalEvent::read(&frame)?).await?;
        }
        delete(folder)
    }

    async fn insert_event(&self, event: JournalEvent) -> Result<()> {
        let rows = match event {
            JournalEvent::Started(starts) => {
                let rows = starts.into_iter().map(|start| {
                    let (record, boot, operation) = start.into_record()?;
                    StartRow::of(&record, &boot, &operation)
                });
                RecordRows::Started(rows.collect::<Result<_>>()?)
            }
            JournalEvent::Finished(ends) => {
                let rows = ends.into_iter().map(|end| EndRow::of(&end.into_record()?, self.0.retention));
                RecordRows::Finished(rows.collect::<Result<_>>()?)
            }
        };
        // An end that is refused is in the database already.
        match self.write_rows(rows).await {
            Err(error @ Error::Database { .. }) => {
                tracing::error!(%error, "the database permanently refuses records of runs in the journal; they are lost");
                Ok(())
            }
            inserted => inserted.map(drop),
        }
    }
}

fn paths(folder: &Path) -> [PathBuf; 2] {
    NAMES.map(|name| folder.join(name))
}

fn segments(folder: &Path) -> Result<Vec<Segment>> {
    let mut found = Vec::new();
    for path in paths(folder) {
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            read => found.extend(Segment::read(&path, &at(&path, read)?)?),
        }
    }
    Ok(found)
}

fn delete(folder: &Path) -> Result<()> {
    for path in paths(folder) {
        match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => at(&path, removed)?,
        }
    }
    sync_folder(folder)
}
