//! The name of a new project: a tool's name that is also the name of a Python project.

use std::fmt;

use crate::Error;

/// Length limit, which is that of a tool's name.
const LENGTH_MAX: usize = 64;

/// `a-z`, `0-9` and `_` inside; a letter or digit at both ends, as Python projects are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectName(String);

impl ProjectName {
    pub fn parse(name: &str) -> Result<Self, Error> {
        match problem(name) {
            Some(reason) => Err(Error::BadProjectName { name: name.to_owned(), reason }),
            None => Ok(Self(name.to_owned())),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of the project in a repository: `tools/<name>`.
    pub fn project_path(&self) -> String {
        format!("tools/{}", self.0)
    }
}

impl fmt::Display for ProjectName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.len() > LENGTH_MAX {
        return Some("it is longer than 64 characters");
    }
    if !name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')) {
        return Some("only a-z, 0-9 and _ are allowed");
    }
    if name.starts_with('_') || name.ends_with('_') {
        return Some("it must begin and end with a letter or digit");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_tool_names() {
        for name in ["a", "7", "look_up_order", "v2_search", &"a".repeat(64)] {
            assert_eq!(ProjectName::parse(name).expect(name).as_str(), name);
        }
    }

    #[test]
    fn refuses_the_rest_with_the_reason() {
        for (name, reason) in [
            ("", "empty"),
            ("_a", "begin and end"),
            ("a_", "begin and end"),
            ("Look", "only a-z"),
            ("look-up", "only a-z"),
            ("../up", "only a-z"),
            ("größe", "only a-z"),
            ("a\n", "only a-z"),
            (&"a".repeat(65), "64 characters"),
        ] {
            let error = ProjectName::parse(name).expect_err(name);
            assert!(error.to_string().contains(reason), "{error}");
            assert_eq!((error.kind(), error.code()), (crate::Kind::Invalid, "bad_project_name"));
        }
    }
}
