//! The application and the workflow in whose names calls are made.

use serde::{Deserialize, Serialize};

use crate::kit::text_type::{made_of, text_type};

text_type! {
    /// An application or a workflow in whose name calls are made. It is a name that the caller chooses.
    CallerName = "name of an application or a workflow", "must be 1 to 128 characters of A-Z a-z 0-9 . _ : -", |text| {
        made_of(text, 128, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-'))
    };
}

/// The application and the workflow in whose names a call is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallerNames {
    pub app: Option<CallerName>,
    pub workflow: Option<CallerName>,
}
