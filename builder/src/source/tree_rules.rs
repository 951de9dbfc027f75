//! The rules for one entry of a git tree: its mode and its name, and the reasons for refusing it.
//!
//! Names are compared as file systems that ignore case compare them, because authors clone on such machines. Unicode
//! normal forms are not folded.

use std::collections::HashMap;
use std::fmt;

/// A name longer than this exists on no file system that authors use.
pub(super) const NAME_BYTES_MAX: usize = 255;

/// Characters of a path shown in a message; the rest tells nothing more.
const PATH_CHARACTERS_SHOWN_MAX: usize = 300;

/// A tree that breaks a rule: where, and which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeRefusal {
    /// The path from the root of what was inspected, escaped for terminals; empty for the root itself.
    pub path: String,
    pub reason: Reason,
}

/// Which rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    #[error("symbolic links are not accepted; commit the file itself")]
    Symlink,
    #[error("submodules are not accepted; commit the files themselves")]
    Submodule,
    #[error("the file mode {mode:o} is not one of a regular file or a directory")]
    Mode { mode: u32 },
    #[error("the name is not UTF-8")]
    NotUtf8,
    #[error("the name is empty, `.` or `..`, or holds `/`, `\\` or a control character")]
    Name,
    #[error("the name is longer than {NAME_BYTES_MAX} bytes")]
    NameTooLong,
    #[error("the name is read as `.git` or `.gitmodules` by some systems")]
    GitName,
    #[error("the name differs only in case from `{other}` in the same directory")]
    CaseCollision { other: String },
    #[error("a path below it is longer than {bytes_max} bytes")]
    PathTooLong { bytes_max: u64 },
    #[error("more than {depth_max} directories lie inside one another")]
    TooDeep { depth_max: u32 },
    #[error("it holds more than {entries_max} files and directories")]
    TooManyEntries { entries_max: u64 },
    #[error("the file has {bytes} bytes; at most {bytes_max} are accepted")]
    FileTooLarge { bytes: u64, bytes_max: u64 },
    #[error("the files together have more than {bytes_max} bytes")]
    ContentTooLarge { bytes_max: u64 },
    #[error("the directory's own record has {bytes} bytes; at most {bytes_max} are accepted")]
    TreeObjectTooLarge { bytes: u64, bytes_max: u64 },
    #[error("it is recorded as a {expected} and is something else")]
    WrongType { expected: &'static str },
    #[error("it cannot be read: {detail}")]
    Unreadable { detail: String },
}

/// What an accepted entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Directory,
}

/// The names of one directory seen so far, folded as systems that ignore case fold them.
#[derive(Default)]
pub(super) struct SiblingNames(HashMap<String, Vec<u8>>);

impl TreeRefusal {
    pub(super) fn here(reason: Reason) -> Self {
        Self { path: String::new(), reason }
    }

    /// The same refusal seen from the directory that holds `name`.
    pub(super) fn under(mut self, name: &[u8]) -> Self {
        let shown = display_name(name);
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

/// Says what an entry with this mode is, or why it is refused.
pub(super) fn check_mode(mode: u32) -> Result<EntryKind, Reason> {
    match mode {
        // 0100664 was written by early versions of git and is still found in old histories.
        0o100_644 | 0o100_755 | 0o100_664 => Ok(EntryKind::File),
        0o040_000 => Ok(EntryKind::Directory),
        0o120_000 => Err(Reason::Symlink),
        0o160_000 => Err(Reason::Submodule),
        mode => Err(Reason::Mode { mode }),
    }
}

impl SiblingNames {
    /// Accepts a name into the directory, or says why not.
    pub(super) fn accept<'name>(&mut self, name: &'name [u8]) -> Result<&'name str, Reason> {
        let name = check_name(name)?;
        match self.0.insert(fold(name), name.as_bytes().to_vec()) {
            None => Ok(name),
            Some(other) => Err(Reason::CaseCollision { other: display_name(&other) }),
        }
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
    if is_git_name(name) { Err(Reason::GitName) } else { Ok(name) }
}

/// Whether HFS+ or NTFS could open this name as `.git` or `.gitmodules`: they skip some characters, ignore case and
/// trailing dots and spaces, cut at a colon, and give short names with a tilde.
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

/// The name as a file system that ignores case sees it.
fn fold(name: &str) -> String {
    name.chars().filter(|character| !is_skipped_by_hfs(*character)).flat_map(char::to_lowercase).collect()
}

/// The code points that HFS+ leaves out when it compares names.
fn is_skipped_by_hfs(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

fn display_name(name: &[u8]) -> String {
    String::from_utf8_lossy(name).chars().flat_map(escape).collect()
}

/// Leaves what a terminal shows as it is; escapes what could steer the terminal or reorder the line.
fn escape(character: char) -> impl Iterator<Item = char> {
    let steers = character.is_control() || is_skipped_by_hfs(character) || matches!(character, '\u{2066}'..='\u{2069}');
    let escaped = steers.then(|| character.escape_unicode());
    let plain = (!steers).then_some(character);
    escaped.into_iter().flatten().chain(plain)
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
            ".gitmodules",
        ] {
            check(evil.as_bytes(), Err(Reason::GitName));
        }
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
    fn a_message_cannot_steer_the_terminal() {
        let refusal = TreeRefusal::here(Reason::Symlink).under(b"\x1b[2J").under("caf\u{e9}\u{202e}".as_bytes());
        assert_eq!(refusal.path, "café\\u{202e}/\\u{1b}[2J");
        let long = TreeRefusal { path: "é".repeat(5_000), reason: Reason::Symlink };
        assert!(long.to_string().len() < 1_000);
    }
}
