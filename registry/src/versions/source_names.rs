//! The location of source code: the folder of a project in its repository, and the branch.

use crate::kit::text_type::{made_of, text_type};

text_type! {
    /// The folder of a tool project, relative to the root of the repository.
    ProjectPath = "project path", "must be 1 to 256 characters of A-Z a-z 0-9 _ - /, relative, without empty parts", parse_project_path;
}

text_type! {
    /// The name of a branch without `refs/heads/`, by the rules of `git check-ref-format --branch`.
    BranchName = "branch name", "must be a branch name that git accepts, at most 200 bytes", parse_branch_name;
}

impl ProjectPath {
    /// Length of a project path. No project needs more.
    pub const BYTES_MAX: usize = 256;
}

impl BranchName {
    /// Length of a branch name. Git stores it as a file name, which may have 255 bytes.
    pub const BYTES_MAX: usize = 200;
    /// The beginning of the branches that versions are published from.
    pub const RELEASES: &str = "releases/";

    /// Whether versions can be published from the branch.
    pub fn is_release(&self) -> bool {
        self.as_str().starts_with(Self::RELEASES)
    }
}

fn parse_project_path(text: &str) -> Option<String> {
    let trimmed = text.strip_suffix('/').unwrap_or(text);
    let parts_filled = trimmed.split('/').all(|part| !part.is_empty());
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/');
    made_of(trimmed, ProjectPath::BYTES_MAX, allowed).filter(|_| parts_filled && text.len() <= ProjectPath::BYTES_MAX)
}

fn parse_branch_name(text: &str) -> Option<String> {
    let parts_allowed = text.split('/').all(is_branch_part_allowed);
    let refused = text.contains("..") || text.contains("@{") || text.ends_with('.') || text.starts_with('-');
    let reserved = matches!(text, "@" | "HEAD");
    made_of(text, BranchName::BYTES_MAX, is_branch_character_allowed).filter(|_| parts_allowed && !refused && !reserved)
}

fn is_branch_part_allowed(part: &str) -> bool {
    !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock")
}

fn is_branch_character_allowed(c: char) -> bool {
    !c.is_control() && !matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\')
}
