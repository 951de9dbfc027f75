//! Step 10 of a call: the output matches its schema and its limits.

use super::run::Run;
use crate::outcome::Outcome;
use crate::output;

/// An outcome within its limits.
pub(super) struct Shaped {
    pub outcome: Outcome,
    /// Whether the output belongs to the log of the conversation.
    pub persisted: bool,
}

impl Run<'_> {
    /// Checks the output against the output schema, then applies its limit and the persistence of the call.
    pub async fn shape(&self, outcome: Outcome) -> Shaped {
        let check = self.target.output_check(&self.services.schemas, &self.caller.principal.organization);
        let outcome = check.apply(outcome).await;
        let (outcome, persisted) = output::apply_limits(outcome, self.persistence, self.target.output_characters());
        Shaped { outcome, persisted }
    }
}
