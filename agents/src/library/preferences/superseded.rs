//! Values of a preference that others have replaced.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::source::PreferenceSource;
use crate::domain::library::LibraryItem;

/// Earlier values that a preference keeps.
const VALUES_MAX: usize = 20;

/// Bytes of the earlier values of a preference, as JSON. A preference is read whole.
const BYTES_MAX: usize = 65_536;

/// A value that another one has replaced.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct Superseded {
    pub value: Value,
    pub source: PreferenceSource,
    /// The last revision of the preference that had the value.
    pub revision: u64,
    /// The time of that revision.
    pub updated_at: String,
}

impl Superseded {
    /// The value and the source of an item that is about to change.
    pub fn new(value: Value, source: PreferenceSource, item: &LibraryItem) -> Self {
        Self { value, source, revision: item.revision, updated_at: item.updated_at.to_string() }
    }
}

/// Keeps the latest values within the bounds.
pub(super) fn bound(values: &mut Vec<Superseded>) {
    let mut bytes = 0;
    let latest = values.iter().rev().take(VALUES_MAX).take_while(|earlier| {
        bytes += earlier.value.to_string().len();
        bytes <= BYTES_MAX
    });
    let kept = latest.count();
    values.drain(..values.len() - kept);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kept(values: impl IntoIterator<Item = Value>) -> Vec<Value> {
        let of =
            |value| Superseded { value, source: PreferenceSource::Explicit, revision: 1, updated_at: String::new() };
        let mut values: Vec<_> = values.into_iter().map(of).collect();
        bound(&mut values);
        values.into_iter().map(|earlier| earlier.value).collect()
    }

    #[test]
    fn the_latest_values_are_kept() {
        assert_eq!(kept((0..22).map(|number| json!(number))), (2..22).map(|number| json!(number)).collect::<Vec<_>>());
        let large = json!("x".repeat(BYTES_MAX - 2));
        assert_eq!(kept([json!(1), large.clone()]), std::slice::from_ref(&large));
        assert_eq!(kept([large, json!(1)]), [json!(1)]);
        assert!(kept([json!("x".repeat(BYTES_MAX))]).is_empty());
    }
}
