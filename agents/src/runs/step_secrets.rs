//! Secrets that the steps of a run do not show.

use registry::SecretValue;

use super::service::AgentRunService;
use super::tool_step::RunContext;
use crate::catalogue::ListedSource;
use crate::error::Error;
use crate::model::ModelCall;

impl AgentRunService {
    /// Returns the sensitive variables of the user of a run, and the secrets of the tool that the model calls.
    pub(super) async fn collect_step_secrets(
        &self,
        RunContext { principal, catalogue, .. }: &RunContext,
        call: Option<&ModelCall>,
    ) -> Result<Vec<SecretValue>, Error> {
        let store = &self.store;
        let stored = store.registry().access().user_variables(&principal.organization, &principal.account).await?;
        let mut secrets: Vec<_> = stored.sensitive.into_values().collect();
        let called = call.and_then(|call| catalogue.find(&call.name));
        if let Some(ListedSource::Published { callable, .. }) = called.map(|listed| &listed.source) {
            secrets.extend(store.registry().tools().variables_of(callable).await?.secrets.into_values());
        }
        Ok(secrets)
    }
}
