//! Files of any size in a bucket, sent and received in parts.

use std::path::Path;

use bytes::Bytes;
use object_store::{ObjectStoreExt, WriteMultipart};
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::Objects;
use super::problem::{Action, is_absent};
use crate::error::Result;
use crate::files::durable::add_path;

/// Size of a part that is sent. S3 accepts 10,000 parts, so files up to 160 GB.
const PART_BYTES: u64 = 16 << 20;
/// Parts in memory.
const PARTS_MAX: usize = 4;
/// Size of a part that is received, each with the timeout of a request.
const RANGE_BYTES: u64 = 32 << 20;

impl Objects {
    /// Stores the contents of a file, durably. An object of the key is replaced.
    pub async fn upload(&self, from: &Path, key: &str) -> Result<()> {
        let mut file = add_path(from, File::open(from).await)?;
        let bytes = add_path(from, file.metadata().await)?.len();
        if bytes <= PART_BYTES {
            return self.replace(key, read_part(&mut file, from).await?).await;
        }
        let begun = self.store.put_multipart(&self.build_path(key)).await;
        let begun = begun.map_err(|error| self.translate_failure(Action::Write, &error))?;
        let mut parts = WriteMultipart::new_with_chunk_size(begun, usize::try_from(PART_BYTES).unwrap_or(usize::MAX));
        if let Err(error) = self.send(&mut file, from, &mut parts).await {
            // The error of the upload is reported. The service deletes unfinished uploads by its own rules.
            let _ = parts.abort().await;
            return Err(error);
        }
        parts.finish().await.map(|_| ()).map_err(|error| self.translate_failure(Action::Write, &error))
    }

    async fn send(&self, file: &mut File, from: &Path, parts: &mut WriteMultipart) -> Result<()> {
        loop {
            let ready = parts.wait_for_capacity(PARTS_MAX).await;
            ready.map_err(|error| self.translate_failure(Action::Write, &error))?;
            let part = read_part(file, from).await?;
            if part.is_empty() {
                return Ok(());
            }
            parts.put(part);
        }
    }

    /// Returns the size of an object, if the key has one.
    pub async fn size(&self, key: &str) -> Result<Option<u64>> {
        match self.store.head(&self.build_path(key)).await {
            Ok(found) => Ok(Some(found.size)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.translate_failure(Action::Read, &error)),
        }
    }

    /// Writes an object to a new file that only its owner can read, and flushes it. Returns whether the key has an object.
    pub async fn download(&self, key: &str, to: &Path) -> Result<bool> {
        let path = self.build_path(key);
        let Some(size) = self.size(key).await? else { return Ok(false) };
        let mut file = add_path(to, OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).await)?;
        let mut start = 0;
        while start < size {
            let end = size.min(start + RANGE_BYTES);
            let bytes = self.store.get_range(&path, start..end).await;
            let bytes = bytes.map_err(|error| self.translate_failure(Action::Read, &error))?;
            add_path(to, file.write_all(&bytes).await)?;
            start = end;
        }
        add_path(to, file.flush().await)?;
        add_path(to, file.sync_all().await).map(|()| true)
    }
}

/// Reads the next part of a file.
async fn read_part(file: &mut File, path: &Path) -> Result<Bytes> {
    let mut bytes = Vec::new();
    add_path(path, file.take(PART_BYTES).read_to_end(&mut bytes).await)?;
    Ok(bytes.into())
}
