//! The variables of a text: the names between two pairs of braces, such as `{{customer}}`.

use std::collections::BTreeSet;

/// Variables of one text. Further ones stay text.
const VARIABLES_MAX: usize = 64;
const NAME_BYTES_MAX: usize = 64;

/// Returns the names of the variables, in alphabetical order.
pub(super) fn variables(text: &str) -> Vec<String> {
    let ends = text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}"));
    let names: BTreeSet<_> = ends.map(|(name, _)| name.trim()).filter(|name| is_name(name)).collect();
    names.into_iter().take(VARIABLES_MAX).map(ToOwned::to_owned).collect()
}

/// Replaces the variables of a text that have values.
#[must_use]
pub fn fill_variables<'v>(text: &str, value_of: impl Fn(&str) -> Option<&'v str>) -> String {
    let mut pieces = text.split("{{");
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once("}}").and_then(|(name, rest)| Some((value_of(name.trim())?, rest))) {
            Some((value, rest)) => filled.extend([value, rest]),
            None => filled.extend(["{{", piece]),
        }
    }
    filled
}

fn is_name(name: &str) -> bool {
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_between_braces_are_variables() {
        assert_eq!(
            variables("Dear {{ name }}, {{order}} and {{name}}: {{}} {{a b}} {single} {{open"),
            ["name", "order"]
        );
        assert_eq!(variables(""), Vec::<String>::new());
    }

    #[test]
    fn variables_are_replaced_once() {
        let value_of = |name: &str| match name {
            "name" => Some("{{order}}"),
            "order" => Some("7"),
            _ => None,
        };
        let text = "{{ name }}, {{order}} {{other}} {{a {{order}} {{open";
        assert_eq!(fill_variables(text, value_of), "{{order}}, 7 {{other}} {{a 7 {{open");
        assert_eq!(fill_variables("", value_of), "");
    }
}
