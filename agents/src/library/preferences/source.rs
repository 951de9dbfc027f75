//! How a preference is known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum PreferenceSource {
    #[default]
    Explicit,
    Learned,
    Inferred,
    Imported,
    Manual,
}
