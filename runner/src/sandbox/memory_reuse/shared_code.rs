//! Compiled code shared between an image and its snapshots, which differ only in their initial memory.

use std::os::unix::fs::FileExt;

use registry::Digest;
use wasm_encoder::{Module, RawSection};
use wasmparser::{BinaryReaderError, Parser, Payload};

use super::code_file;
use super::split::{SplitComponent, split};
use crate::sandbox::code::CodeStore;
use crate::sandbox::code::component_memory::{
    PLATFORM_MEMORY_BYTES_MAX, build_memory_section, find_memory_owner, with_module,
};

const DIGEST_BYTES: usize = 32;
/// A note holds the digest of the component that was compiled, and the size of its initial memory.
const NOTE_BYTES: usize = DIGEST_BYTES + size_of::<u64>();

/// Key of the code that an image shares, and the image's own initial memory.
pub struct SharedCode {
    key: Digest,
    memory: Vec<u8>,
}

impl SharedCode {
    /// Describes an image; `None` when its initial memory is not known. Reads some megabytes.
    pub fn of(component: &[u8]) -> Option<Self> {
        let split = split(component, PLATFORM_MEMORY_BYTES_MAX).ok()??;
        let key = compute_key(&split).ok()?;
        let SplitComponent { image: mut memory, minimum, .. } = split;
        memory.resize(minimum, 0);
        Some(Self { key, memory })
    }

    /// Makes this image's code file from the compiled code of a related image. The related image must not have more memory,
    /// since code may rely on the initial size.
    pub fn find(&self, codes: &CodeStore) -> Option<Vec<u8>> {
        let note = codes.read_note(&self.key)?;
        let digest = Digest::from_bytes(note.get(..DIGEST_BYTES)?.try_into().ok()?);
        if read_noted_bytes(&note)? > self.memory.len() as u64 {
            return None;
        }
        let related = codes.get(&digest).ok()?;
        let mut file = vec![0; usize::try_from(related.bytes()).ok()?];
        related.file().read_exact_at(&mut file, 0).ok()?;
        let code = code_file::split_parts(&file).ok()?.code;
        file.truncate(code.end);
        Some(code_file::pack(file, &self.memory))
    }

    /// Notes that the component's code can be shared. A failure only costs another compilation later.
    pub fn remember(&self, codes: &CodeStore, digest: &Digest) {
        let memory = self.memory.len() as u64;
        if codes.read_note(&self.key).is_some_and(|note| read_noted_bytes(&note).is_some_and(|noted| noted <= memory)) {
            return; // the noted code fits every image that this code fits
        }
        let mut note = Vec::with_capacity(NOTE_BYTES);
        note.extend_from_slice(digest.as_bytes());
        note.extend_from_slice(&memory.to_le_bytes());
        codes.keep_note(&self.key, &note);
    }
}

fn read_noted_bytes(note: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(note.get(DIGEST_BYTES..)?.try_into().ok()?))
}

/// Digest of a component without its memory: neither contents nor size.
fn compute_key(split: &SplitComponent) -> Result<Digest, BinaryReaderError> {
    let Some(owner) = find_memory_owner(&split.component)? else { return Ok(Digest::of(&split.component)) };
    let module = &split.component[owner.clone()];
    let mut changed = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        match (&payload, payload.as_section()) {
            (Payload::MemorySection(_), _) => {
                changed.section(&build_memory_section(module, 0)?);
            }
            (_, Some((id, range))) => {
                changed.section(&RawSection { id, data: &module[range] });
            }
            _ => {}
        }
    }
    Ok(Digest::of(&with_module(&split.component, &owner, &changed.finish())?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sandbox::code::CodeCache;
    use crate::sandbox::code::component_memory::WASM_PAGE_BYTES;
    use crate::sandbox::compile::{Compiler, Maker};
    use crate::sandbox::interpreter::with_memory;

    #[tokio::test]
    async fn an_image_is_compiled_once_for_all_its_snapshots() {
        let directory = tempfile::tempdir().unwrap();
        let (tries, code) = (directory.path().join("tries"), directory.path().join("code"));
        fs::write(&code, code_file::pack(b"native".to_vec(), &[7; WASM_PAGE_BYTES])).unwrap();
        let compile = format!("cat >/dev/null; echo >> {}; cat {}; printf c", tries.display(), code.display());
        let script = format!("[ \"$0\" = --check ] || {{ {compile}; }}");
        let command = ["/bin/sh", "-c", &script].map(str::to_owned);
        let image = wat::parse_str("(component (core module (memory 2) (data (i32.const 8) \"image\")))").unwrap();
        let snapshot = |pages: usize, byte: u8| with_memory(&image, &vec![byte; pages * WASM_PAGE_BYTES]).unwrap();
        let files = [image.clone(), snapshot(2, 1), snapshot(3, 2)];
        for expected in ["\n", "\n"] {
            // Another process finds the note of the first one.
            let compiler = Compiler::new(&command, CodeStore::new(CodeCache::open(directory.path(), [7; 32]).unwrap()));
            for component in &files {
                let ready = async { Ok::<_, crate::Error>(component.clone()) };
                let native = compiler.ready(&Digest::of(component), Maker::Platform, ready).await.unwrap();
                let mut file = vec![0; usize::try_from(native.bytes()).unwrap()];
                native.file().read_exact_at(&mut file, 0).unwrap();
                assert_eq!(&file[..6], b"native");
                if component != &image {
                    let memory = split(component, PLATFORM_MEMORY_BYTES_MAX).unwrap().unwrap().image;
                    assert!(file[code_file::split_parts(&file).unwrap().image] == memory, "the image's own memory");
                }
            }
            assert_eq!(fs::read_to_string(&tries).unwrap(), expected, "one compilation");
        }
        let compiler = Compiler::new(&command, CodeStore::new(CodeCache::open(directory.path(), [7; 32]).unwrap()));
        let smaller = snapshot(1, 3);
        let ready = async { Ok::<_, crate::Error>(smaller.clone()) };
        compiler.ready(&Digest::of(&smaller), Maker::Platform, ready).await.unwrap();
        assert_eq!(fs::read_to_string(&tries).unwrap(), "\n\n", "code may rely on memory that the smaller image lacks");
    }

    #[test]
    fn snapshots_have_the_key_of_their_image() {
        let image = |module: &str| {
            let globals = "(func) (global (mut i32) (i32.const 9)) (memory 1 8) (data (i32.const 8) \"image\")";
            wat::parse_str(format!("(component (core module {globals} {module}))")).unwrap()
        };
        let key = |component: &[u8]| SharedCode::of(component).unwrap().key;
        let snapshot = with_memory(&image(""), &vec![1; 3 * WASM_PAGE_BYTES]).unwrap();
        assert_eq!(key(&image("")), key(&snapshot));
        assert_ne!(key(&image("")), key(&image("(func)")));
    }
}
