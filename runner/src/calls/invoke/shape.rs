//! Step 10 of a call: the output matches its schema and its limits.

use super::run::Run;
use crate::calls::output::{self, OutputCheck};
use crate::calls::schema::InputSchema;
use crate::sandbox::outcome::Outcome;

/// An outcome within its limits.
pub(super) struct Shaped {
    pub outcome: Outcome,
    /// Whether the output belongs to the log of the caller.
    pub persisted: bool,
}

impl Run<'_> {
    /// Checks the output against a schema, then applies its limit and the persistence of the call.
    pub async fn shape(&self, outcome: Outcome, schema: Option<&InputSchema>) -> Shaped {
        let organization = &self.call.caller.principal.organization;
        let check = OutputCheck { schemas: &self.services.schemas, organization, schema };
        let outcome = check.apply(outcome).await;
        let (outcome, persisted) =
            output::apply_limits(outcome, self.call.result_persistence, self.target.output_characters());
        Shaped { outcome, persisted }
    }
}
