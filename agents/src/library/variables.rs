//! The variables of a text: the names between two pairs of braces, such as `{{customer}}`.

use std::collections::BTreeSet;

/// Variables of one text. Further ones stay text.
const VARIABLES_MAX: usize = 64;
const NAME_BYTES_MAX: usize = 64;
/// Bytes of a filled text: as many as a request or an output of a tool has. A text of 128 KiB has room for 26,000 variables, each of which
/// may stand for a value of a megabyte.
const FILLED_BYTES_MAX: usize = 1 << 20;

/// The refusal of a text that its values would make too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the filled text would have {bytes} bytes, and at most {FILLED_BYTES_MAX} are allowed: send shorter values")]
pub struct FilledTooLarge {
    bytes: usize,
}

impl FilledTooLarge {
    /// The stable code for programs.
    pub const CODE: &'static str = "prompt_too_large";
}

/// Returns the names of the variables, in alphabetical order.
pub(super) fn find_variables(text: &str) -> Vec<String> {
    let ends = text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}"));
    let names: BTreeSet<_> = ends.map(|(name, _)| name.trim()).filter(|name| is_name(name)).collect();
    names.into_iter().take(VARIABLES_MAX).map(ToOwned::to_owned).collect()
}

/// Replaces the variables of a text that have values.
///
/// # Errors
/// When the filled text would have more than [`FILLED_BYTES_MAX`]. Its size is known before it is made.
pub fn fill_variables<'v>(text: &'v str, value_of: impl Fn(&str) -> Option<&'v str>) -> Result<String, FilledTooLarge> {
    let bytes = split_pieces(text, &value_of).map(str::len).fold(0, usize::saturating_add);
    if bytes > FILLED_BYTES_MAX {
        return Err(FilledTooLarge { bytes });
    }
    let mut filled = String::with_capacity(bytes);
    filled.extend(split_pieces(text, &value_of));
    Ok(filled)
}

/// The texts between variables and the values of variables, in their order.
fn split_pieces<'v>(text: &'v str, value_of: &impl Fn(&str) -> Option<&'v str>) -> impl Iterator<Item = &'v str> {
    let mut split = text.split("{{");
    let first = split.next().unwrap_or_default();
    let rest = split.flat_map(move |piece| {
        let filled = piece.split_once("}}").and_then(|(name, rest)| Some([value_of(name.trim())?, rest]));
        filled.unwrap_or(["{{", piece])
    });
    std::iter::once(first).chain(rest)
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
            find_variables("Dear {{ name }}, {{order}} and {{name}}: {{}} {{a b}} {single} {{open"),
            ["name", "order"]
        );
        assert_eq!(find_variables(""), Vec::<String>::new());
    }

    #[test]
    fn variables_are_replaced_once() {
        let value_of = |name: &str| match name {
            "name" => Some("{{order}}"),
            "order" => Some("7"),
            _ => None,
        };
        let text = "{{ name }}, {{order}} {{other}} {{a {{order}} {{open";
        assert_eq!(fill_variables(text, value_of).unwrap(), "{{order}}, 7 {{other}} {{a 7 {{open");
        assert_eq!(fill_variables("", value_of).unwrap(), "");
    }

    #[test]
    fn a_filled_text_has_a_bound_that_is_known_before_it_is_made() {
        let value = "v".repeat(1 << 20);
        let filled = |variables: usize, value: &str| {
            let filled = fill_variables(&"{{x}}".repeat(variables), |_| Some(value)).map(|text| text.len());
            filled.map_err(|refused| refused.bytes)
        };
        assert_eq!(filled(1, &value), Ok(FILLED_BYTES_MAX));
        assert_eq!(filled(2, &value), Err(2 << 20));
        // Making this text would take 26 GB.
        assert_eq!(filled(26_000, &value), Err(26_000 << 20));
        assert_eq!(filled(26_000, &value[..40]), Ok(26_000 * 40));
        assert_eq!(filled(26_000, &value[..41]), Err(26_000 * 41));
    }
}
