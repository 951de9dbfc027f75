//! Code that is there already: that of an image is the code of all its snapshots, which differ in their memory alone.

use std::os::unix::fs::FileExt;

use registry::Digest;

use super::{Compiler, Maker};
use crate::codes::Codes;
use crate::split::Split;
use crate::{packed, snapshot, split};

/// A note: whose code it is, and how much memory that one has at first.
const NOTE_BYTES: usize = DIGEST_BYTES + size_of::<u64>();
const DIGEST_BYTES: usize = 32;

/// What an image has in common with others, and what it begins with.
pub struct Kin {
    name: Digest,
    /// All that its memory has at first.
    memory: Vec<u8>,
}

impl Compiler {
    /// Looks at an image apart from the threads that answer requests: it is some megabytes.
    pub(super) async fn kin(&self, component: &[u8], maker: Maker) -> Option<Kin> {
        if maker != Maker::Platform {
            return None;
        }
        let component = component.to_vec();
        tokio::task::spawn_blocking(move || kin(&component)).await.ok()?
    }
}

fn kin(component: &[u8]) -> Option<Kin> {
    let split = split::split(component, split::PLATFORM_BYTES_MAX).ok()??;
    let name = snapshot::code_name(&split).ok()?;
    let Split { image: mut memory, minimum, .. } = split;
    memory.resize(minimum, 0);
    Some(Kin { name, memory })
}

impl Codes {
    /// The code of a relation with this one's memory, if this one has no less memory: code may count on what there is.
    pub(super) fn of_kin(&self, kin: &Kin) -> Option<Vec<u8>> {
        let note = self.note(&kin.name)?;
        let digest = Digest::from_bytes(note.get(..DIGEST_BYTES)?.try_into().ok()?);
        if noted_bytes(&note)? > kin.memory.len() as u64 {
            return None;
        }
        let relation = self.get(&digest).ok()?;
        let mut file = vec![0; usize::try_from(relation.bytes()).ok()?];
        relation.file().read_exact_at(&mut file, 0).ok()?;
        let code = packed::parts(&file).ok()?.code;
        file.truncate(code.end);
        Some(packed::pack(file, &kin.memory))
    }

    /// Remembers whose code can be taken for others. Without the note it is made again, so that failing is no matter.
    pub(super) fn keep_kin(&self, digest: &Digest, kin: &Kin) {
        let memory = kin.memory.len() as u64;
        if self.note(&kin.name).is_some_and(|note| noted_bytes(&note).is_some_and(|noted| noted <= memory)) {
            return; // its code fits as many, and more
        }
        let mut note = Vec::with_capacity(NOTE_BYTES);
        note.extend_from_slice(digest.as_bytes());
        note.extend_from_slice(&memory.to_le_bytes());
        self.keep_note(&kin.name, &note);
    }
}

fn noted_bytes(note: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(note.get(DIGEST_BYTES..)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::cache::Compiled;
    use crate::packed::PAGE_BYTES;
    use crate::snapshot::with_memory;

    #[tokio::test]
    async fn an_image_is_compiled_once_for_all_its_snapshots() {
        let directory = tempfile::tempdir().unwrap();
        let (tries, code) = (directory.path().join("tries"), directory.path().join("code"));
        fs::write(&code, packed::pack(b"native".to_vec(), &[7; PAGE_BYTES])).unwrap();
        let compile = format!("cat >/dev/null; echo >> {}; cat {}", tries.display(), code.display());
        let script = format!("[ \"$0\" = --check ] || {{ {compile}; }}");
        let command = ["/bin/sh", "-c", &script].map(str::to_owned);
        let image = wat::parse_str("(component (core module (memory 2) (data (i32.const 8) \"image\")))").unwrap();
        let snapshot = |pages: usize, byte: u8| with_memory(&image, &vec![byte; pages * PAGE_BYTES]).unwrap();
        let files = [image.clone(), snapshot(2, 1), snapshot(3, 2)];
        for expected in ["\n", "\n"] {
            // Another process finds the note of the first.
            let compiler = Compiler::new(&command, Codes::new(Compiled::open(directory.path(), [7; 32]).unwrap()));
            for component in &files {
                let ready = async { Ok::<_, crate::Error>(component.clone()) };
                let native = compiler.ready(&Digest::of(component), Maker::Platform, ready).await.unwrap();
                let mut file = vec![0; usize::try_from(native.bytes()).unwrap()];
                native.file().read_exact_at(&mut file, 0).unwrap();
                assert_eq!(&file[..6], b"native");
                if component != &image {
                    let memory = split::split(component, split::PLATFORM_BYTES_MAX).unwrap().unwrap().image;
                    assert!(file[packed::parts(&file).unwrap().image] == memory, "its own memory");
                }
            }
            assert_eq!(fs::read_to_string(&tries).unwrap(), expected, "one compiled");
        }
        let compiler = Compiler::new(&command, Codes::new(Compiled::open(directory.path(), [7; 32]).unwrap()));
        let smaller = snapshot(1, 3);
        let ready = async { Ok::<_, crate::Error>(smaller.clone()) };
        compiler.ready(&Digest::of(&smaller), Maker::Platform, ready).await.unwrap();
        assert_eq!(fs::read_to_string(&tries).unwrap(), "\n\n", "code may count on memory that this one has not");
    }
}
