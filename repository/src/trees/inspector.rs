//! Checks trees against the rules for names and modes, and against bounds of sizes and counts.
//!
//! A tree object of a few bytes can expand to billions of files. An [`Inspector`] therefore measures each distinct tree
//! once and adds up the results, without expanding trees; the work is linear in the number of objects. Sizes come from
//! object headers, before any content is loaded.

use std::collections::HashMap;

use git2::{ObjectType, Odb, Oid};

use super::rules::{EntryKind, Reason, SiblingNames, TreeRefusal, check_mode};

/// Bytes of one file. Larger files are data sets or binaries, which do not belong in a source repository.
pub const FILE_BYTES_MAX: u64 = 20 * MEBIBYTE;
/// Inflated bytes of all objects of a push, and of all files of a commit. A pack of 100 MiB, the bound of a transfer,
/// inflates to about this size if it contains source code.
pub const CONTENT_BYTES_MAX: u64 = 200 * MEBIBYTE;
/// Files and directories of one commit: ten times the largest expected repository.
pub const ENTRIES_MAX: u64 = 20_000;
/// Nested directories; also bounds the recursion of the inspection.
pub const DEPTH_MAX: u32 = 32;
/// Bytes of a path: the limit of the operating systems that check it out.
pub const PATH_BYTES_MAX: u64 = 4_096;
/// Bytes of one tree object: [`ENTRIES_MAX`] names of the greatest length, and their ids.
pub(crate) const TREE_OBJECT_BYTES_MAX: u64 = 6 * MEBIBYTE;
const MEBIBYTE: u64 = 1024 * 1024;

/// The bounds of a tree.
#[derive(Debug, Clone, Copy)]
pub struct TreeLimits {
    pub file_bytes_max: u64,
    pub content_bytes_max: u64,
    pub entries_max: u64,
    pub depth_max: u32,
    pub path_bytes_max: u64,
}

/// The size of an expanded tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Files and directories below the tree.
    pub entries: u64,
    /// Nested directories, including the tree itself.
    pub depth: u32,
    /// Bytes of the longest path below the tree.
    pub path_bytes: u64,
    /// Bytes of all files.
    pub content_bytes: u64,
}

/// Measures trees of one repository, and refuses those that violate a rule.
pub struct Inspector<'repository> {
    repository: &'repository git2::Repository,
    objects: Odb<'repository>,
    limits: TreeLimits,
    trees: HashMap<Oid, Extent>,
    file_bytes: HashMap<Oid, u64>,
}

impl TreeLimits {
    /// The bounds of pushed commits.
    pub const PUSHED: Self = Self {
        file_bytes_max: FILE_BYTES_MAX,
        content_bytes_max: CONTENT_BYTES_MAX,
        entries_max: ENTRIES_MAX,
        depth_max: DEPTH_MAX,
        path_bytes_max: PATH_BYTES_MAX,
    };
}

impl<'repository> Inspector<'repository> {
    /// An inspector without measured trees.
    pub fn new(repository: &'repository git2::Repository, limits: TreeLimits) -> Result<Self, git2::Error> {
        let objects = repository.odb()?;
        Ok(Self { repository, objects, limits, trees: HashMap::new(), file_bytes: HashMap::new() })
    }

    /// Measures a tree with everything below it.
    ///
    /// # Errors
    /// The first violated rule, with its path.
    pub fn inspect(&mut self, tree: Oid) -> Result<Extent, TreeRefusal> {
        self.measure_directory(tree, 1)
    }

    fn measure_directory(&mut self, id: Oid, level: u32) -> Result<Extent, TreeRefusal> {
        if let Some(known) = self.trees.get(&id) {
            return Ok(*known);
        }
        if level > self.limits.depth_max {
            return Err(TreeRefusal::here(Reason::TooDeep { depth_max: self.limits.depth_max }));
        }
        let tree = self.load(id).map_err(TreeRefusal::here)?;
        let mut names = SiblingNames::default();
        let mut sum = Extent { depth: 1, ..Extent::default() };
        for entry in &tree {
            let name = entry.name_bytes();
            let below = self.measure_entry(&entry, &mut names, level).map_err(|refusal| refusal.with_parent(name))?;
            sum.add(name.len(), below);
            self.check(sum).map_err(TreeRefusal::here)?;
        }
        self.trees.insert(id, sum);
        Ok(sum)
    }

    fn measure_entry(
        &mut self,
        entry: &git2::TreeEntry<'_>,
        names: &mut SiblingNames,
        level: u32,
    ) -> Result<Extent, TreeRefusal> {
        // The mode is checked first: for a link with an invalid name, the link is the more useful reason.
        let mode = u32::try_from(entry.filemode_raw()).unwrap_or_default();
        let kind = check_mode(mode).map_err(TreeRefusal::here)?;
        names.accept(entry.name_bytes()).map_err(TreeRefusal::here)?;
        match kind {
            EntryKind::Directory => self.measure_directory(entry.id(), level + 1),
            EntryKind::File => self.measure_file(entry.id()).map_err(TreeRefusal::here),
        }
    }

    fn measure_file(&mut self, id: Oid) -> Result<Extent, Reason> {
        let bytes = match self.file_bytes.get(&id) {
            Some(known) => *known,
            None => self.read_size(id, ObjectType::Blob, "file")?,
        };
        let bytes_max = self.limits.file_bytes_max;
        if bytes > bytes_max {
            return Err(Reason::FileTooLarge { bytes, bytes_max });
        }
        self.file_bytes.insert(id, bytes);
        Ok(Extent { content_bytes: bytes, ..Extent::default() })
    }

    fn load(&self, id: Oid) -> Result<git2::Tree<'repository>, Reason> {
        let bytes = self.read_size(id, ObjectType::Tree, "directory")?;
        if bytes > TREE_OBJECT_BYTES_MAX {
            return Err(Reason::TreeObjectTooLarge { bytes, bytes_max: TREE_OBJECT_BYTES_MAX });
        }
        self.repository.find_tree(id).map_err(unreadable)
    }

    fn read_size(&self, id: Oid, wanted: ObjectType, expected: &'static str) -> Result<u64, Reason> {
        let (bytes, kind) = self.objects.read_header(id).map_err(unreadable)?;
        if kind == wanted { Ok(bytes as u64) } else { Err(Reason::WrongType { expected }) }
    }

    fn check(&self, sum: Extent) -> Result<(), Reason> {
        let TreeLimits { content_bytes_max, entries_max, depth_max, path_bytes_max, .. } = self.limits;
        match sum {
            sum if sum.entries > entries_max => Err(Reason::TooManyEntries { entries_max }),
            sum if sum.depth > depth_max => Err(Reason::TooDeep { depth_max }),
            sum if sum.path_bytes > path_bytes_max => Err(Reason::PathTooLong { bytes_max: path_bytes_max }),
            sum if sum.content_bytes > content_bytes_max => {
                Err(Reason::ContentTooLarge { bytes_max: content_bytes_max })
            }
            _ => Ok(()),
        }
    }
}

impl Extent {
    /// Adds one entry; `below` is its own extent. Sums stay far below `u64::MAX`, since each addend is bounded.
    fn add(&mut self, name_bytes: usize, below: Self) {
        let separator_bytes = u64::from(below.path_bytes > 0);
        self.entries += 1 + below.entries;
        self.depth = self.depth.max(1 + below.depth);
        self.path_bytes = self.path_bytes.max(name_bytes as u64 + separator_bytes + below.path_bytes);
        self.content_bytes += below.content_bytes;
    }
}

fn unreadable(error: git2::Error) -> Reason {
    Reason::Unreadable { detail: error.message().to_owned() }
}
