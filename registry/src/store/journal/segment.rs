//! The two segment files of a journal. While one grows, the events in the other are inserted into the database.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::frames::{Chain, Frames, HEADER_BYTES, Header, HeaderResult};
use crate::durable::{at, failure, sync_folder};
use crate::error::{Error, Result};

const NAMES: [&str; 2] = ["journal-a", "journal-b"];

/// The segment that frames are appended to, and the idle one.
pub struct Segments {
    current: Segment,
    other: Segment,
}

struct Segment {
    file: File,
    path: PathBuf,
    sequence: u64,
    end: u64,
    /// `None` until the header is written.
    chain: Option<Chain>,
}

impl Segments {
    /// Opens the files and returns their frames in the order in which they were written.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a file in the format of another release.
    pub fn open(folder: &Path) -> Result<(Self, Vec<Vec<u8>>)> {
        let mut found = Vec::new();
        for name in NAMES {
            found.push(Segment::open(&folder.join(name))?);
        }
        sync_folder(folder)?;
        found.sort_by_key(|(segment, _)| segment.sequence);
        let (segments, frames): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let mut segments = segments.into_iter();
        let (Some(older), Some(newer)) = (segments.next(), segments.next()) else { return Err(Error::Closed) };
        let mut segments = Self { current: newer, other: older };
        // The frames that were read stay in the older file until they are in the database.
        segments.rotate();
        Ok((segments, frames.concat()))
    }

    /// Checks that this release can read the files. Changes nothing.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for a file in the format of another release.
    pub fn check(folder: &Path) -> Result<()> {
        for path in NAMES.map(|name| folder.join(name)) {
            let mut header = Vec::new();
            let read = File::open(&path).and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut header));
            match read {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                read => drop(at(&path, read)?),
            }
            if let HeaderResult::OtherVersion(version) = HeaderResult::read(&header) {
                return Err(of_another_release(&path, version));
            }
        }
        Ok(())
    }

    /// Size of the current segment.
    pub fn bytes(&self) -> u64 {
        self.current.end
    }

    /// Changes to the other file. Its events must be in the database.
    pub fn rotate(&mut self) {
        std::mem::swap(&mut self.current, &mut self.other);
        self.current.begin(self.other.sequence + 1);
    }

    /// Appends frames. They are durable when this returns, and discarded when it fails.
    pub fn append<'f>(&mut self, frames: impl Iterator<Item = &'f [u8]>, buffer: &mut Vec<u8>) -> Result<()> {
        self.current.append(frames, buffer)
    }

    /// Empties both files. Their events must be in the database.
    pub fn clear(&mut self) -> Result<()> {
        [&mut self.current, &mut self.other].into_iter().try_for_each(Segment::clear)
    }
}

impl Segment {
    fn open(path: &Path) -> Result<(Self, Vec<Vec<u8>>)> {
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
        let file = at(path, options)?;
        let bytes = at(path, std::fs::read(path))?;
        let (sequence, frames) = match HeaderResult::read(&bytes) {
            HeaderResult::Header(header) => {
                (header.sequence, Frames::of(&bytes, &header).map(<[u8]>::to_vec).collect())
            }
            HeaderResult::Missing => (0, Vec::new()),
            HeaderResult::OtherVersion(version) => return Err(of_another_release(path, version)),
        };
        Ok((Self { file, path: path.to_owned(), sequence, end: 0, chain: None }, frames))
    }

    /// Starts the segment again. The next frames overwrite the file from its beginning.
    const fn begin(&mut self, sequence: u64) {
        (self.sequence, self.end, self.chain) = (sequence, 0, None);
    }

    fn append<'f>(&mut self, frames: impl Iterator<Item = &'f [u8]>, buffer: &mut Vec<u8>) -> Result<()> {
        buffer.clear();
        let mut chain = self.chain.unwrap_or_else(|| {
            let header = Header::new(self.sequence);
            buffer.extend_from_slice(&header.bytes());
            header.chain()
        });
        frames.for_each(|frame| chain.add(frame, buffer));
        let written = self.file.write_all_at(buffer, self.end).and_then(|()| self.file.sync_data());
        if let Err(source) = written {
            // Discards the frames that failed. If this fails as well, the next frames overwrite them.
            let _ = self.file.set_len(self.end).and_then(|()| self.file.sync_data());
            return Err(failure(&self.path, source));
        }
        self.end += buffer.len() as u64;
        self.chain = Some(chain);
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        at(&self.path, self.file.set_len(0).and_then(|()| self.file.sync_data()))?;
        self.begin(self.sequence);
        Ok(())
    }
}

fn of_another_release(path: &Path, version: u32) -> Error {
    let detail = format!(
        "{} holds records of runs in format {version}, which this release cannot read. Start and stop the release that wrote \
         it, then start this one",
        path.display()
    );
    Error::Corrupt { what: "journal", detail }
}
