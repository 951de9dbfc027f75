//! The error of the parsers of outside input.

/// A value that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {reason}")]
pub struct InvalidValue {
    /// The kind of value, as a noun: `tool name`.
    pub what: &'static str,
    /// The rule, as the rest of the sentence: `must be …`.
    pub reason: &'static str,
}

/// Refuses texts with NUL, which some databases refuse.
pub(crate) fn refuse_nul<'a>(what: &'static str, texts: impl IntoIterator<Item = &'a str>) -> Result<(), InvalidValue> {
    let has_nul = texts.into_iter().any(|text| text.contains('\0'));
    if has_nul { Err(InvalidValue::new(what, "must not have the character NUL")) } else { Ok(()) }
}

impl InvalidValue {
    pub const fn new(what: &'static str, reason: &'static str) -> Self {
        Self { what, reason }
    }
}
