//! The rules of agents, compiled once.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use registry::{Digest, InterventionRule};

use crate::error::Error;
use crate::intervention_rules::InterventionRules;

/// Lists of rules that are kept. A full cache drops all.
const KEPT_MAX: usize = 256;

/// The compiled rules of assignments, by the digest of their text.
#[derive(Clone, Default)]
pub(super) struct CompiledRules(Arc<Mutex<HashMap<Digest, Arc<InterventionRules>>>>);

impl CompiledRules {
    /// # Errors
    /// When the rules cannot be compiled.
    pub async fn of(&self, rules: &[InterventionRule]) -> Result<Arc<InterventionRules>, Error> {
        if rules.is_empty() {
            return Ok(Arc::default());
        }
        let text = serde_json::to_vec(rules).map_err(|error| Error::internal(error.to_string()))?;
        let key = Digest::of(&text);
        if let Some(found) = self.0.lock().get(&key) {
            return Ok(found.clone());
        }
        let compiled = Arc::new(InterventionRules::compile(rules.to_vec()).await?);
        let mut kept = self.0.lock();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(key, compiled.clone());
        Ok(compiled)
    }
}

#[cfg(test)]
mod tests {
    use registry::Intervention;
    use serde_json::json;

    use super::*;

    fn rule(argument: &str) -> InterventionRule {
        let when = json!({argument: {"const": 1}}).as_object().cloned().unwrap();
        InterventionRule { when, intervention: Intervention::Always }
    }

    #[tokio::test]
    async fn rules_are_compiled_once_and_never_mixed_up() {
        let kept = CompiledRules::default();
        let first = kept.of(&[rule("amount")]).await.unwrap();
        assert!(Arc::ptr_eq(&first, &kept.of(&[rule("amount")]).await.unwrap()));
        let input = json!({"amount": 1}).as_object().cloned().unwrap();
        let strictest = |rules: &InterventionRules| rules.strictest(std::iter::once(&input));
        assert_eq!(strictest(&first), Intervention::Always);
        assert_eq!(strictest(&kept.of(&[rule("count")]).await.unwrap()), Intervention::Never);
        for number in 0..=KEPT_MAX {
            kept.of(&[rule(&number.to_string())]).await.unwrap();
        }
        assert!(kept.0.lock().len() <= KEPT_MAX);
    }
}
