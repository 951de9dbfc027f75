//! The one form of a path in a project.

use icu_normalizer::ComposingNormalizerBorrowed;

/// A path with composed characters, as the files of a project have it in all steps of a build.
pub fn compose(path: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(path).into_owned()
}
