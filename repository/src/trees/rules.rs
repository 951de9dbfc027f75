//! The rules for the mode and the name of a tree's entry, and the reasons of refusals.
//!
//! Names are compared without case and in one Unicode normal form, because authors clone on file systems that tell neither apart.

use std::collections::HashMap;
use std::fmt;

use registry::visible;
use unicode_normalization::UnicodeNormalization;

/// Bytes of a name: the limit of the file systems that authors use.
pub(super) const NAME_BYTES_MAX: usize = 255;

/// Characters of a path that a refusal shows. A longer path is cut.
const PATH_CHARACTERS_SHOWN_MAX: usize = 300;

/// The violation of a rule, with its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeRefusal {
    /// The path from the inspected root, escaped for terminals; empty for the root itself.
    pub path: String,
    pub reason: Reason,
}

/// The violated rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    #[error("symbolic links are not accepted; commit the file itself")]
    Symlink,
    #[error("submodules are not accepted; commit the files themselves")]
    Submodule,
    #[error("the file mode {mode:o} is neither that of a regular file nor of a directory")]
    Mode { mode: u32 },
    #[error("the name is not UTF-8")]
    NotUtf8,
    #[error("the name is empty, `.` or `..`, or contains `/`, `\\` or a control character")]
    Name,
    #[error("the name is longer than {NAME_BYTES_MAX} bytes")]
    NameTooLong,
    #[error("some file systems treat the name as `.git` or `.gitmodules`")]
    GitName,
    #[error(
        "`.gitmodules` declares submodules, which are not accepted; remove it with `git rm .gitmodules`, and commit the files of the \
        submodules themselves"
    )]
    GitModules,
    #[error("the name differs only in case from `{other}` in the same directory; rename one of them with `git mv`")]
    CaseCollision { other: String },
    #[error(
        "the name differs from `{other}` in the same directory only in its composed or decomposed characters, which macOS does not \
        tell apart; rename one of them with `git mv`"
    )]
    FormCollision { other: String },
    #[error("the directory has this name twice, so that nobody can tell which one is meant; commit one of them")]
    Twice,
    #[error("a path below it is longer than {bytes_max} bytes")]
    PathTooLong { bytes_max: u64 },
    #[error("directories are nested more than {depth_max} deep")]
    TooDeep { depth_max: u32 },
    #[error("it contains more than {entries_max} files and directories")]
    TooManyEntries { entries_max: u64 },
    #[error("the file has {bytes} bytes; at most {bytes_max} are accepted")]
    FileTooLarge { bytes: u64, bytes_max: u64 },
    #[error("the files together have more than {bytes_max} bytes")]
    ContentTooLarge { bytes_max: u64 },
    #[error("the directory's own record has {bytes} bytes; at most {bytes_max} are accepted")]
    TreeObjectTooLarge { bytes: u64, bytes_max: u64 },
    #[error("the tree declares a {expected}, and the object is something else")]
    WrongType { expected: &'static str },
    #[error("it cannot be read: {detail}")]
    Unreadable { detail: String },
}

/// The kind of an accepted entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Directory,
}

/// The names of one directory so far, by their folded form.
#[derive(Default)]
pub(super) struct SiblingNames(HashMap<String, Vec<u8>>);

impl TreeRefusal {
    pub(super) fn here(reason: Reason) -> Self {
        Self { path: String::new(), reason }
    }

    /// The same refusal with its path from the parent directory, which contains `name`.
    pub(crate) fn with_parent(mut self, name: &[u8]) -> Self {
        let shown = show_name(name);
        self.path = if self.path.is_empty() { shown } else { format!("{shown}/{}", self.path) };
        self
    }
}

impl std::error::Error for TreeRefusal {}

impl fmt::Display for TreeRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the top directory" } else { &self.path };
        match path.char_indices().nth(PATH_CHARACTERS_SHOWN_MAX) {
            Some((cut, _)) => write!(formatter, "{}…: {}", &path[..cut], self.reason),
            None => write!(formatter, "{path}: {}", self.reason),
        }
    }
}

/// The kind of an entry with this mode, or the reason why it is refused.
pub(super) fn check_mode(mode: u32) -> Result<EntryKind, Reason> {
    match mode {
        // Early versions of git wrote 0100664, which old histories still contain.
        0o100_644 | 0o100_755 | 0o100_664 => Ok(EntryKind::File),
        0o040_000 => Ok(EntryKind::Directory),
        0o120_000 => Err(Reason::Symlink),
        0o160_000 => Err(Reason::Submodule),
        mode => Err(Reason::Mode { mode }),
    }
}

impl SiblingNames {
    /// Adds a name to the directory, or returns the reason why it is refused.
    pub(super) fn accept<'name>(&mut self, name: &'name [u8]) -> Result<&'name str, Reason> {
        let name = check_name(name)?;
        let Some(other) = self.0.insert(fold(name), name.as_bytes().to_vec()) else { return Ok(name) };
        if other == name.as_bytes() {
            return Err(Reason::Twice);
        }
        let is_same_form = fold_case(&String::from_utf8_lossy(&other)) == fold_case(name);
        let other = show_name(&other);
        Err(if is_same_form { Reason::CaseCollision { other } } else { Reason::FormCollision { other } })
    }
}

fn check_name(name: &[u8]) -> Result<&str, Reason> {
    if name.len() > NAME_BYTES_MAX {
        return Err(Reason::NameTooLong);
    }
    let name = std::str::from_utf8(name).map_err(|_| Reason::NotUtf8)?;
    let forbidden = |character: char| matches!(character, '/' | '\\') || character.is_control();
    if matches!(name, "" | "." | "..") || name.contains(forbidden) {
        return Err(Reason::Name);
    }
    match name {
        ".gitmodules" => Err(Reason::GitModules),
        name if is_git_name(name) => Err(Reason::GitName),
        name => Ok(name),
    }
}

/// Whether HFS+ or NTFS could open this name as `.git` or `.gitmodules`: they skip some characters, ignore case, trailing
/// dots and spaces, cut at a colon, and make short names with a tilde.
fn is_git_name(name: &str) -> bool {
    let folded = fold(name);
    let before_stream = folded.split(':').next().unwrap_or_default();
    let trimmed = before_stream.trim_end_matches(['.', ' ']);
    let is_short_name = |prefix: &str| {
        let digits = trimmed.strip_prefix(prefix);
        digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    matches!(trimmed, ".git" | ".gitmodules") || is_short_name("git~") || is_short_name("gitmod~")
}

/// The name as file systems that ignore case and normal forms compare it.
pub(crate) fn fold(name: &str) -> String {
    fold_case(name).nfd().flat_map(char::to_lowercase).nfc().collect()
}

/// The name in lower case, without the characters that HFS+ skips.
fn fold_case(name: &str) -> String {
    name.chars().filter(|character| !is_skipped_by_hfs(*character)).flat_map(char::to_lowercase).collect()
}

/// The code points that HFS+ skips when it compares names.
fn is_skipped_by_hfs(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// A name in messages, which people read in a terminal.
fn show_name(name: &[u8]) -> String {
    visible(&String::from_utf8_lossy(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_accepted_or_refused_with_a_reason() {
        let check = |name: &[u8], expect: Result<(), Reason>| {
            assert_eq!(SiblingNames::default().accept(name).map(|_| ()), expect, "{}", String::from_utf8_lossy(name));
        };
        for honest in ["tool.py", ".gitignore", ".gitattributes", ".github", "git", "git~", "ünïcode ☃", "a:b", "..."]
        {
            check(honest.as_bytes(), Ok(()));
        }
        for evil in [
            ".git",
            ".GIT",
            ".Git ",
            ".git.",
            "git~1",
            "GIT~12",
            ".g\u{200c}it",
            ".git::$INDEX_ALLOCATION",
            ".GITMODULES",
        ] {
            check(evil.as_bytes(), Err(Reason::GitName));
        }
        check(b".gitmodules", Err(Reason::GitModules));
        for evil in ["", ".", "..", "a/b", "a\\b", "a\nb", "a\u{1b}[31m"] {
            check(evil.as_bytes(), Err(Reason::Name));
        }
        check(b"\xff\xfe", Err(Reason::NotUtf8));
        check(&[b'a'; NAME_BYTES_MAX], Ok(()));
        check(&[b'a'; NAME_BYTES_MAX + 1], Err(Reason::NameTooLong));
    }

    #[test]
    fn names_that_differ_only_in_case_collide() {
        let mut names = SiblingNames::default();
        assert_eq!(names.accept("Straße.py".as_bytes()), Ok("Straße.py"));
        let collision = names.accept("STRAße.PY".as_bytes());
        assert_eq!(collision, Err(Reason::CaseCollision { other: "Straße.py".to_owned() }));
        assert_eq!(names.accept("Straße.py".as_bytes()), Err(Reason::CaseCollision { other: "STRAße.PY".to_owned() }));
        assert_eq!(names.accept("Straße.py".as_bytes()), Err(Reason::Twice));
    }

    #[test]
    fn names_that_differ_only_in_their_normal_form_collide() {
        for (first, second) in
            [("caf\u{e9}", "cafe\u{301}"), ("CAFE\u{301}", "caf\u{e9}"), ("\u{ac00}", "\u{1100}\u{1161}")]
        {
            let mut names = SiblingNames::default();
            assert_eq!(names.accept(first.as_bytes()), Ok(first));
            let collision = names.accept(second.as_bytes());
            assert_eq!(collision, Err(Reason::FormCollision { other: first.to_owned() }), "{second}");
        }
        for other in ["cafe", "caf\u{e8}", "ca\u{fb01}e", "ca\u{66}ie"] {
            let mut names = SiblingNames::default();
            names.accept("caf\u{e9}".as_bytes()).expect("a name");
            assert_eq!(names.accept(other.as_bytes()), Ok(other), "compatible characters are different ones");
        }
    }

    #[test]
    fn modes_other_than_files_and_directories_are_refused() {
        assert_eq!(check_mode(0o100_755), Ok(EntryKind::File));
        assert_eq!(check_mode(0o040_000), Ok(EntryKind::Directory));
        assert_eq!(check_mode(0o120_000), Err(Reason::Symlink));
        assert_eq!(check_mode(0o160_000), Err(Reason::Submodule));
        assert_eq!(check_mode(0o104_755), Err(Reason::Mode { mode: 0o104_755 }));
    }

    #[test]
    fn a_message_cannot_control_the_terminal() {
        let refusal =
            TreeRefusal::here(Reason::Symlink).with_parent(b"\x1b[2J").with_parent("caf\u{e9}\u{202e}".as_bytes());
        assert_eq!(refusal.path, "café\\u{202e}/\\u{1b}[2J");
        let long = TreeRefusal { path: "é".repeat(5_000), reason: Reason::Symlink };
        assert!(long.to_string().len() < 1_000);
    }
}
