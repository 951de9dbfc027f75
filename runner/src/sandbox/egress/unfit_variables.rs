//! Variables whose values make a header or a URL invalid, so that an error names the variable. It never shows the value.

use registry::{SecretValue, Variables};

use crate::text::{is_blank, trim};

/// Variables that an error names.
const NAMED_MAX: usize = 3;

/// The variables of a tool with line ends, other control characters, or blanks around the value. Most tools have none.
#[derive(Debug, Clone, Default)]
pub struct UnfitVariables(Vec<(String, SecretValue)>);

impl UnfitVariables {
    pub fn of(variables: &Variables) -> Self {
        let plain = variables.envvars.iter().map(|(name, value)| (name.to_string(), value.as_str()));
        let secrets = variables.secrets.iter().map(|(name, value)| (name.to_string(), value.expose()));
        let unfit = plain.chain(secrets).filter_map(|(name, value)| {
            find_defect(value)?;
            Some((name, SecretValue::new(value.to_owned())))
        });
        Self(unfit.collect())
    }

    /// Says which variables with a defect a text contains, and what to do; empty when it contains none.
    pub fn explain(&self, text: &str) -> String {
        let in_text = self.0.iter().filter(|(_, value)| text.contains(value.expose()));
        let named = in_text.filter_map(|(name, value)| Some(format!("{name}, which {}", find_defect(value.expose())?)));
        let named: Vec<_> = named.take(NAMED_MAX).collect();
        if named.is_empty() {
            return String::new();
        }
        format!("; it contains the variable {}. Set the variable again without it", named.join(", and the variable "))
    }
}

/// The property of a value that a header or a URL may not have.
fn find_defect(value: &str) -> Option<&'static str> {
    let is_line_end = |character| matches!(character, '\n' | '\r');
    let outer = |text: &str| text.chars().any(is_line_end);
    let trimmed = trim(value);
    if trimmed.is_empty() {
        return None;
    }
    let (before, after) = value.split_once(trimmed)?;
    match () {
        () if outer(after) => Some("ends with a line end"),
        () if outer(before) => Some("begins with a line end"),
        () if !after.is_empty() => Some("ends with a blank"),
        () if before.contains('\u{feff}') => Some("begins with a byte order mark"),
        () if !before.is_empty() => Some("begins with a blank"),
        () if trimmed.contains(is_line_end) => Some("has several lines"),
        () if trimmed.contains(|character: char| character.is_control() && is_blank(character)) => {
            Some("has a control character")
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use registry::EnvvarName;

    use super::*;

    #[test]
    fn an_error_names_the_variable_and_its_find_defect() {
        let name = |text: &str| EnvvarName::parse(text).unwrap();
        let secrets = [("KEY", "sk-1234\n"), ("BOM", "\u{feff}sk-5678"), ("FINE", "sk-9012"), ("PEM", "a\nb")];
        let secrets = secrets.map(|(text, value)| (name(text), SecretValue::new(value.into())));
        let variables = Variables { envvars: [(name("REGION"), " eu".to_owned())].into(), secrets: secrets.into() };
        let unfit = UnfitVariables::of(&variables);
        for (text, expected) in [
            ("Bearer sk-1234\n", "; it contains the variable KEY, which ends with a line end"),
            ("x\u{feff}sk-5678", "; it contains the variable BOM, which begins with a byte order mark"),
            ("region eu", "; it contains the variable REGION, which begins with a blank"),
            ("a\nb", "; it contains the variable PEM, which has several lines"),
            ("Bearer sk-1234", ""),
            ("sk-9012\n", ""),
        ] {
            let explained = unfit.explain(text);
            assert!(explained.starts_with(expected) && explained.is_empty() == expected.is_empty(), "{explained}");
            assert!(!explained.contains("sk-"), "{explained}");
        }
    }
}
