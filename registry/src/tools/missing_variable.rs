//! A variable that a version requires and its tool does not have, or has as the other kind.

use std::fmt;

use super::names::EnvvarName;
use super::tool::Tool;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingVariable {
    pub name: EnvvarName,
    /// Whether the version requires a secret.
    pub is_secret: bool,
    /// Whether the tool has a variable of this name that is the other kind.
    pub is_other_kind: bool,
}

impl MissingVariable {
    /// The variables that a version with these declarations would lack.
    pub fn all(tool: &Tool, envvars: &[EnvvarName], secrets: &[EnvvarName]) -> Vec<Self> {
        let lacking = |(name, is_secret): (&EnvvarName, bool)| {
            let (same, other) =
                if is_secret { (&tool.secret_envvars, &tool.envvars) } else { (&tool.envvars, &tool.secret_envvars) };
            let is_other_kind = other.contains(name);
            (!same.contains(name)).then(|| Self { name: name.clone(), is_secret, is_other_kind })
        };
        let plain = envvars.iter().map(|name| (name, false));
        plain.chain(secrets.iter().map(|name| (name, true))).filter_map(lacking).collect()
    }

    /// The reason why the variable counts as missing, with the command that sets it.
    pub(crate) fn explain<'a>(&'a self, tool: &'a str) -> impl fmt::Display + 'a {
        let Self { name, is_secret, is_other_kind } = self;
        fmt::from_fn(move |formatter| match (is_other_kind, is_secret) {
            (true, true) => write!(
                formatter,
                "{name} is set as a plain variable; this version needs a secret: `lathe envvar set {tool} {name}=- --secret`"
            ),
            (true, false) => write!(
                formatter,
                "{name} is set as a secret; this version needs a plain variable: `lathe envvar unset {tool} {name}`, then \
                 `lathe envvar set {tool} {name}=VALUE`, or declare it in required_secret_envvars"
            ),
            (false, true) => {
                write!(formatter, "the secret {name} is not set: `lathe envvar set {tool} {name}=- --secret`")
            }
            (false, false) => {
                write!(formatter, "the variable {name} is not set: `lathe envvar set {tool} {name}=VALUE`")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_the_other_kind_is_told_from_a_missing_one() {
        let said = |is_secret: bool, is_other_kind: bool| {
            let name = EnvvarName::parse("KEY").unwrap();
            MissingVariable { name, is_secret, is_other_kind }.explain("shop").to_string()
        };
        assert!(said(true, true).starts_with("KEY is set as a plain variable; this version needs a secret"));
        assert!(said(true, true).ends_with("`lathe envvar set shop KEY=- --secret`"));
        assert!(said(false, true).starts_with("KEY is set as a secret"));
        assert_eq!(said(true, false), "the secret KEY is not set: `lathe envvar set shop KEY=- --secret`");
        assert_eq!(said(false, false), "the variable KEY is not set: `lathe envvar set shop KEY=VALUE`");
    }
}
