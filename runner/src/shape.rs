//! The result-persistence rule: what an output's length means.

use crate::Outcome;
use crate::call::{PERSISTED_CHARACTERS_MAX, ResultPersistence};

/// The outcome after the rule, and whether it belongs in the conversation's log. A longer output than
/// `output_characters_max` fails.
pub fn shape(outcome: Outcome, persistence: ResultPersistence, output_characters_max: usize) -> (Outcome, bool) {
    let Outcome::Succeeded { output } = &outcome else {
        return (outcome, persistence != ResultPersistence::Ephemeral);
    };
    let characters = output.chars().count();
    if characters > output_characters_max {
        return (too_large("output_too_large", characters, output_characters_max), false);
    }
    let fits = characters <= PERSISTED_CHARACTERS_MAX;
    match persistence {
        ResultPersistence::Ephemeral => (outcome, false),
        ResultPersistence::Persisted if !fits => {
            (too_large("output_not_persistable", characters, PERSISTED_CHARACTERS_MAX), false)
        }
        ResultPersistence::PersistedPreferred | ResultPersistence::Persisted => (outcome, fits),
    }
}

fn too_large(kind: &str, characters: usize, characters_max: usize) -> Outcome {
    Outcome::failed(kind, format!("the output has {characters} characters; {characters_max} are the limit"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use ResultPersistence::{Ephemeral, Persisted, PersistedPreferred};

    fn check(characters: usize, persistence: ResultPersistence, expected: Result<bool, &str>) {
        let output = "😀".repeat(characters);
        let (outcome, persisted) = shape(Outcome::Succeeded { output }, persistence, Limits::DEFAULT.output_characters);
        match (outcome, expected) {
            (Outcome::Succeeded { .. }, Ok(expected)) => assert_eq!(persisted, expected),
            (Outcome::Failed { exception_type, .. }, Err(kind)) => {
                assert_eq!((exception_type.as_str(), persisted), (kind, false));
            }
            (outcome, expected) => panic!("{characters} {persistence:?}: {outcome:?} {expected:?}"),
        }
    }

    #[test]
    fn the_boundaries_are_inclusive_and_count_characters() {
        check(5_000, PersistedPreferred, Ok(true));
        check(5_001, PersistedPreferred, Ok(false));
        check(5_000, Persisted, Ok(true));
        check(5_001, Persisted, Err("output_not_persistable"));
        check(5_000, Ephemeral, Ok(false));
        check(20_000, Ephemeral, Ok(false));
        check(20_000, PersistedPreferred, Ok(false));
        check(20_001, Ephemeral, Err("output_too_large"));
        check(20_001, PersistedPreferred, Err("output_too_large"));
    }
}
