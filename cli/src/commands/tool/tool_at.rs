//! `TOOL@VERSION` on the command line.

use std::str::FromStr;

use crate::commands::constraint::Constraint;
use crate::failure::Failure;

/// A tool's name or id, and the versions after `@`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolAt {
    pub tool: String,
    at: Option<Constraint>,
}

impl ToolAt {
    /// The versions after `@`, or those of an argument.
    pub fn combine(&self, argument: Option<&Constraint>) -> anyhow::Result<Option<Constraint>> {
        match (&self.at, argument) {
            (Some(at), Some(argument)) => Err(Failure::usage(
                format!("two versions of {} are given: {at} and {argument}", self.tool),
                "give the version once",
            )),
            (at, argument) => Ok(at.as_ref().or(argument).cloned()),
        }
    }
}

impl FromStr for ToolAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (tool, at) = text.split_once('@').unwrap_or((text, ""));
        let at = if at.trim().is_empty() { None } else { Some(at.parse()?) };
        Ok(Self { tool: tool.to_owned(), at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_with_and_without_a_version() {
        let read = |text: &str| {
            let tool: ToolAt = text.parse().expect("a tool");
            assert_eq!(tool.tool, "weather");
            tool.combine(None).expect("one version").map(|at| at.to_string())
        };
        assert_eq!((read("weather"), read("weather@")), (None, None));
        assert_eq!(read("weather@>=1.2,<2").as_deref(), Some(">=1.2,<2"));
        assert_eq!(read("weather@1").as_deref(), Some("==1.*"));
        assert!("weather@^".parse::<ToolAt>().is_err());
    }

    #[test]
    fn a_version_is_given_once() {
        let (tool, one): (ToolAt, Constraint) = ("weather@1".parse().expect("a tool"), Constraint::any());
        assert!(tool.combine(Some(&one)).is_err());
        let tool: ToolAt = "weather".parse().expect("a tool");
        assert_eq!(tool.combine(Some(&one)).expect("one version"), Some(one));
    }
}
