//! Checks the objects of a push: their number and sizes, from their headers.

use std::path::Path;

use git2::{ObjectType, Odb, Oid};

use crate::trees::{
    CONTENT_BYTES_MAX, FILE_BYTES_MAX, POINTER_BYTES_MAX, StandIn, TREE_OBJECT_BYTES_MAX, find_stand_in,
};

/// Objects of one push. The header of each is read within the processor time of a push.
const OBJECTS_MAX: usize = 100_000;
/// Bytes of a commit or tag with a long message.
const MESSAGE_OBJECT_BYTES_MAX: u64 = 1024 * 1024;
/// Small files of a push whose contents are read for the note about pointers: those of a large repository, within a second.
const STAND_INS_LOOKED_AT_MAX: usize = 20_000;

/// The reason why pushed objects are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectRefusal {
    #[error("the push contains more than {OBJECTS_MAX} objects; push the history in parts")]
    TooMany,
    #[error("the objects of this push have more than {CONTENT_BYTES_MAX} bytes together; push the history in parts")]
    ContentTooLarge,
    #[error("the {kind} {id} has {bytes} bytes; at most {bytes_max} are accepted")]
    TooLarge { kind: ObjectType, id: Oid, bytes: u64, bytes_max: u64 },
    #[error("the pushed objects cannot be read: {detail}")]
    Unreadable { detail: String },
}

/// The objects of a push.
#[derive(Debug, Default)]
pub(super) struct Pushed {
    pub commits: Vec<Oid>,
    /// The refusal of a large file. The inspection of trees, which also reads headers, reports it with its path if a tree
    /// contains it.
    pub large_file: Option<ObjectRefusal>,
    /// The first file that only stands for its content.
    pub stand_in: Option<(Oid, StandIn)>,
}

/// Checks the headers of all objects in a quarantine directory, including unreachable ones.
pub(super) fn inspect_objects(quarantine: &Path) -> Result<Pushed, ObjectRefusal> {
    let unreadable = |error: git2::Error| ObjectRefusal::Unreadable { detail: error.message().to_owned() };
    let objects = open_objects(quarantine).map_err(unreadable)?;
    let ids = list_objects(&objects)?;
    let mut pushed = Pushed::default();
    let (mut sum_bytes, mut small_files) = (0_u64, 0);
    for id in ids {
        let (bytes, kind) = objects.read_header(id).map_err(unreadable)?;
        let bytes = bytes as u64;
        match check_object(id, kind, bytes) {
            Err(refusal) if kind == ObjectType::Blob => pushed.large_file = Some(refusal),
            checked => checked?,
        }
        if kind == ObjectType::Blob && bytes <= POINTER_BYTES_MAX as u64 && small_files < STAND_INS_LOOKED_AT_MAX {
            small_files += 1;
            if pushed.stand_in.is_none() {
                let content = objects.read(id).map_err(unreadable)?;
                pushed.stand_in = find_stand_in(content.data()).map(|found| (id, found));
            }
        }
        sum_bytes += bytes;
        if sum_bytes > CONTENT_BYTES_MAX {
            return Err(ObjectRefusal::ContentTooLarge);
        }
        if kind == ObjectType::Commit {
            pushed.commits.push(id);
        }
    }
    Ok(pushed)
}

fn open_objects(directory: &Path) -> Result<Odb<'static>, git2::Error> {
    let objects = Odb::new()?;
    objects.add_disk_alternate(require_utf8(directory)?)?;
    Ok(objects)
}

/// A path as text, which libgit2 requires for object directories.
pub(super) fn require_utf8(path: &Path) -> Result<&str, git2::Error> {
    path.to_str().ok_or_else(|| git2::Error::from_str("the path of the repository is not UTF-8"))
}

fn list_objects(objects: &Odb<'_>) -> Result<Vec<Oid>, ObjectRefusal> {
    let mut ids = Vec::new();
    let listed = objects.foreach(|id| {
        ids.push(*id);
        ids.len() <= OBJECTS_MAX
    });
    if ids.len() > OBJECTS_MAX {
        return Err(ObjectRefusal::TooMany);
    }
    listed.map_err(|error| ObjectRefusal::Unreadable { detail: error.message().to_owned() })?;
    Ok(ids)
}

fn check_object(id: Oid, kind: ObjectType, bytes: u64) -> Result<(), ObjectRefusal> {
    let bytes_max = match kind {
        ObjectType::Blob => FILE_BYTES_MAX,
        ObjectType::Tree => TREE_OBJECT_BYTES_MAX,
        _ => MESSAGE_OBJECT_BYTES_MAX,
    };
    if bytes > bytes_max {
        return Err(ObjectRefusal::TooLarge { kind, id, bytes, bytes_max });
    }
    Ok(())
}
