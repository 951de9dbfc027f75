//! Suggestions for misspelt names.

use strsim::osa_distance;

/// Bytes of a name that is compared with others. The comparison takes a step for each pair of characters.
const NAME_BYTES_MAX: usize = 100;
/// Names that a misspelt one is compared with: less than a millisecond of work.
const CANDIDATES_MAX: usize = 1_000;
/// Characters for each of which one may be wrong: a name of six letters may have two wrong ones.
const CHARACTERS_PER_MISTAKE: usize = 3;

/// Finds the name that a misspelt one most likely stands for: the one with the fewest differing letters, or the only one that
/// begins with it. Case, hyphens and underscores do not count.
pub fn closest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return None;
    }
    let folded = fold(name);
    let mistakes_max = folded.chars().count() / CHARACTERS_PER_MISTAKE;
    let candidates = candidates.into_iter().filter(|candidate| candidate.len() <= NAME_BYTES_MAX);
    let candidates: Vec<_> = candidates.take(CANDIDATES_MAX).map(|candidate| (candidate, fold(candidate))).collect();
    let distances = candidates.iter().map(|(candidate, text)| (osa_distance(&folded, text), *candidate));
    let nearest = distances.filter(|(distance, _)| *distance <= mistakes_max).min_by_key(|(distance, _)| *distance);
    if let Some((_, found)) = nearest {
        return Some(found);
    }
    let mut longer = candidates.iter().filter(|(_, text)| mistakes_max > 0 && text.starts_with(&folded));
    match (longer.next(), longer.next()) {
        (Some((only, _)), None) => Some(only),
        _ => None,
    }
}

/// Returns `; did you mean …?` for the end of a message, or an empty text.
pub fn did_you_mean<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    closest(name, candidates).map(|found| format!("; did you mean `{found}`?")).unwrap_or_default()
}

/// Adds a suggestion to a message of serde about a field or a variant that does not exist, which lists the names that do.
pub fn suggest_in(mut message: String) -> String {
    let suggestion = ["unknown field `", "unknown variant `"].iter().find_map(|start| {
        let (_, rest) = message.split_once(start)?;
        let (name, rest) = rest.split_once("`, expected ")?;
        let expected = rest.lines().next()?.split('`').skip(1).step_by(2);
        let found = closest(name, expected)?;
        Some(format!("; did you mean `{found}`?"))
    });
    if let Some(suggestion) = suggestion {
        message.truncate(message.trim_end().len());
        message.push_str(&suggestion);
    }
    message
}

fn fold(name: &str) -> String {
    name.chars().map(|character| if character == '-' { '_' } else { character }).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let names = ["greet", "greeting", "weather", "convert_currency", "a"];
        for (misspelt, expected) in [
            ("greeet", Some("greet")),
            ("gerat", None),
            ("gret", Some("greet")),
            ("wehater", Some("weather")),
            ("Weather", Some("weather")),
            ("convert-currency", Some("convert_currency")),
            ("convert", Some("convert_currency")),
            ("con", Some("convert_currency")),
            ("b", None),
            ("", None),
            ("nothing_like_it", None),
        ] {
            assert_eq!(closest(misspelt, names), expected, "{misspelt}");
        }
        assert_eq!(closest("gre", names), None, "two names begin with it");
        assert_eq!(closest(&"g".repeat(101), ["g".repeat(101).as_str()]), None);
    }

    #[test]
    fn a_message_of_serde_gets_the_field_that_was_meant() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[expect(dead_code, reason = "only parsed")]
        struct Check {
            expected_output: Option<String>,
            name: Option<String>,
        }
        let read = |text: &str| suggest_in(serde_json::from_str::<Check>(text).unwrap_err().to_string());
        let told = read(r#"{"expected_ouput": "x"}"#);
        assert!(told.ends_with("; did you mean `expected_output`?"), "{told}");
        assert!(!read(r#"{"zzz": "x"}"#).contains("did you mean"));
        assert!(!read(r#"{"name": 5}"#).contains("did you mean"));
    }
}
