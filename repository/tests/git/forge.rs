//! Objects written byte by byte, without the checks of git and libgit2.

use git2::{ObjectType, Oid, Repository};
use tempfile::TempDir;

pub const FILE: &str = "100644";
pub const DIRECTORY: &str = "40000";

pub struct Forge {
    pub repository: Repository,
    _directory: Option<TempDir>,
}

impl Forge {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let repository = Repository::init_bare(directory.path()).expect("a repository");
        Self { _directory: Some(directory), ..Self::within(repository) }
    }

    /// Writes into an existing repository.
    pub fn within(repository: Repository) -> Self {
        git2::opts::strict_object_creation(false);
        Self { repository, _directory: None }
    }

    pub fn blob(&self, content: &[u8]) -> Oid {
        self.repository.blob(content).expect("a blob")
    }

    pub fn tree(&self, entries: &[(&str, &[u8], Oid)]) -> Oid {
        let mut bytes = Vec::new();
        for (mode, name, id) in entries {
            bytes.extend_from_slice(mode.as_bytes());
            bytes.push(b' ');
            bytes.extend_from_slice(name);
            bytes.push(0);
            bytes.extend_from_slice(id.as_bytes());
        }
        self.object(ObjectType::Tree, &bytes)
    }

    pub fn object(&self, kind: ObjectType, bytes: &[u8]) -> Oid {
        self.repository.odb().expect("objects").write(kind, bytes).expect("an object")
    }

    /// `tree` inside `depth` directories named `d`.
    pub fn nested(&self, tree: Oid, depth: u32) -> Oid {
        (0..depth).fold(tree, |inner, _| self.tree(&[(DIRECTORY, b"d", inner)]))
    }

    /// A commit without parents.
    pub fn commit(&self, tree: Oid, message: &str) -> Oid {
        let who = "Eve <eve@example.org> 1700000000 +0000";
        self.object(ObjectType::Commit, format!("tree {tree}\nauthor {who}\ncommitter {who}\n\n{message}\n").as_bytes())
    }
}
