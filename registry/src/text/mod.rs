//! Texts: JSON, words of searches, and characters that people do not see.

pub(crate) mod near_words;
pub(crate) mod raw_json;
pub(crate) mod strict_json;
pub(crate) mod suggestion;
pub(crate) mod trust;
pub(crate) mod visible_text;
pub(crate) mod words;
