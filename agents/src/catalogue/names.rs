//! The names of tools for models.

use std::collections::HashSet;

use registry::Digest;

/// Characters of a name for models.
const NAME_CHARACTERS_MAX: usize = 64;
/// Characters that stay of a longer name, before `_` and the beginning of its digest.
const NAME_CHARACTERS_KEPT: usize = 55;

/// Returns the first of a tool's names that is not taken: its own, that with its family, and those with a number. Some model APIs refuse a name
/// that begins with a digit, together with all other tools of a request.
pub(super) fn choose_name(taken: &HashSet<String>, family: &str, name: &str) -> String {
    let with_family = format!("{family}_{name}");
    let numbered = (2_usize..).map(|number| format!("{with_family}_{number}"));
    let own = (!name.starts_with(|first: char| first.is_ascii_digit())).then(|| name.to_owned());
    let mut names = own.into_iter().chain([with_family.clone()]).chain(numbered).map(shorten_name);
    names.find(|name| !taken.contains(name)).unwrap_or_default()
}

/// Replaces the end of a name that is too long by the beginning of its digest.
fn shorten_name(name: String) -> String {
    if name.len() <= NAME_CHARACTERS_MAX {
        return name;
    }
    let digest = Digest::of(name.as_bytes()).to_hex();
    format!("{}_{}", &name[..NAME_CHARACTERS_KEPT], &digest[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_gets_its_family_and_then_a_number() {
        let mut taken = HashSet::new();
        for expected in ["a_b_c", "tools_a_b_c", "tools_a_b_c_2", "tools_a_b_c_3"] {
            assert_eq!(choose_name(&taken, "tools", "a_b_c"), expected);
            taken.insert(expected.to_owned());
        }
        assert_eq!(choose_name(&taken, "tools", "3d_render"), "tools_3d_render");
    }

    #[test]
    fn a_long_name_ends_with_its_digest() {
        let name = "a".repeat(65);
        let short = shorten_name(name.clone());
        assert_eq!((short.len(), &short[..56]), (64, format!("{}_", "a".repeat(55)).as_str()));
        assert_ne!(short, shorten_name("a".repeat(66)));
        assert_eq!(shorten_name("a".repeat(64)), "a".repeat(64));
    }
}
