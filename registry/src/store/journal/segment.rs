//! The two files of a journal, written in turn: while one grows, what is in the other reaches the database.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::frames::{Beginning, Chain, Frames, HEAD_BYTES, Head};
use crate::durable::{at, failure, sync_folder};
use crate::error::{Error, Result};

const NAMES: [&str; 2] = ["journal-a", "journal-b"];

/// Where frames are added.
pub struct Segments {
    current: Segment,
    other: Segment,
}

struct Segment {
    file: File,
    path: PathBuf,
    lap: u64,
    end: u64,
    /// Nothing as long as nothing is written.
    chain: Option<Chain>,
}

impl Segments {
    /// Opens the files, and answers what is in them, in its order.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for files of another release.
    pub fn open(folder: &Path) -> Result<(Self, Vec<Vec<u8>>)> {
        let mut found = Vec::new();
        for name in NAMES {
            found.push(Segment::open(&folder.join(name))?);
        }
        sync_folder(folder)?;
        found.sort_by_key(|(segment, _)| segment.lap);
        let (segments, frames): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let mut segments = segments.into_iter();
        let (Some(older), Some(newer)) = (segments.next(), segments.next()) else { return Err(Error::Closed) };
        let mut segments = Self { current: newer, other: older };
        // What is there stays until it is in the database, and is not written to.
        segments.turn();
        Ok((segments, frames.concat()))
    }

    /// Looks whether this release can read the files, and changes nothing.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for files of another release.
    pub fn check(folder: &Path) -> Result<()> {
        for path in NAMES.map(|name| folder.join(name)) {
            let mut head = Vec::new();
            let read = File::open(&path).and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head));
            match read {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                read => drop(at(&path, read)?),
            }
            if let Beginning::OtherForm(form) = Beginning::of(&head) {
                return Err(of_another_release(&path, form));
            }
        }
        Ok(())
    }

    /// How much the segment has that is written to.
    pub fn bytes(&self) -> u64 {
        self.current.end
    }

    /// Goes on in the other file. What is in it must be in the database.
    pub fn turn(&mut self) {
        std::mem::swap(&mut self.current, &mut self.other);
        self.current.begin(self.other.lap + 1);
    }

    /// Adds frames; they are durable when this returns, and none of them counts when it fails.
    pub fn append<'f>(&mut self, frames: impl Iterator<Item = &'f [u8]>, buffer: &mut Vec<u8>) -> Result<()> {
        self.current.append(frames, buffer)
    }

    /// Forgets everything. What is in the files must be in the database.
    pub fn clear(&mut self) -> Result<()> {
        [&mut self.current, &mut self.other].into_iter().try_for_each(Segment::clear)
    }
}

impl Segment {
    fn open(path: &Path) -> Result<(Self, Vec<Vec<u8>>)> {
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
        let file = at(path, options)?;
        let bytes = at(path, std::fs::read(path))?;
        let (lap, frames) = match Beginning::of(&bytes) {
            Beginning::Head(head) => (head.lap, Frames::of(&bytes, &head).map(<[u8]>::to_vec).collect()),
            Beginning::Nothing => (0, Vec::new()),
            Beginning::OtherForm(form) => return Err(of_another_release(path, form)),
        };
        Ok((Self { file, path: path.to_owned(), lap, end: 0, chain: None }, frames))
    }

    /// From here on what is in the file is overwritten, with the first frames.
    const fn begin(&mut self, lap: u64) {
        (self.lap, self.end, self.chain) = (lap, 0, None);
    }

    fn append<'f>(&mut self, frames: impl Iterator<Item = &'f [u8]>, buffer: &mut Vec<u8>) -> Result<()> {
        buffer.clear();
        let mut chain = self.chain.unwrap_or_else(|| {
            let head = Head::new(self.lap);
            buffer.extend_from_slice(&head.bytes());
            head.chain()
        });
        frames.for_each(|frame| chain.add(frame, buffer));
        let written = self.file.write_all_at(buffer, self.end).and_then(|()| self.file.sync_data());
        if let Err(source) = written {
            // What was refused is not to come back. If this fails as well, the next frames overwrite it.
            let _ = self.file.set_len(self.end).and_then(|()| self.file.sync_data());
            return Err(failure(&self.path, source));
        }
        self.end += buffer.len() as u64;
        self.chain = Some(chain);
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        at(&self.path, self.file.set_len(0).and_then(|()| self.file.sync_data()))?;
        self.begin(self.lap);
        Ok(())
    }
}

fn of_another_release(path: &Path, form: u32) -> Error {
    let detail = format!(
        "{} has records of runs in form {form}, which this release does not know: start and stop the release that wrote it",
        path.display()
    );
    Error::Corrupt { what: "journal", detail }
}
