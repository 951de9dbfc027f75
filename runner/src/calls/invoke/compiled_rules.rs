//! The rules of confirmation that come with calls, compiled once.

use std::sync::Arc;

use registry::{ByteCache, CacheBound, Digest, InterventionRule};

use crate::calls::intervention_rules::InterventionRules;
use crate::error::Error;

/// Lists of rules. Most have some kilobytes.
pub(crate) const COMPILED_RULES: CacheBound = CacheBound { name: "confirmation rules of calls", bytes_max: 16 << 20 };

/// The compiled rules that came with calls, by the digest of their text.
#[derive(Clone)]
pub(super) struct CompiledRules(Arc<ByteCache<Digest, Arc<InterventionRules>>>);

impl Default for CompiledRules {
    fn default() -> Self {
        Self(Arc::new(ByteCache::new(COMPILED_RULES)))
    }
}

impl CompiledRules {
    /// # Errors
    /// When the rules cannot be compiled.
    pub async fn of(&self, rules: &[InterventionRule]) -> Result<Arc<InterventionRules>, Error> {
        if rules.is_empty() {
            return Ok(Arc::default());
        }
        let text = serde_json::to_vec(rules).map_err(|error| Error::internal(error.to_string()))?;
        let key = Digest::of(&text);
        if let Some(found) = self.0.get(&key) {
            return Ok(found);
        }
        let compiled = Arc::new(InterventionRules::compile(rules.to_vec()).await?);
        self.0.insert(key, compiled.clone());
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
        let strictest = |rules: &InterventionRules| rules.find_strictest(std::iter::once(&input));
        assert_eq!(strictest(&first), Intervention::Always);
        assert_eq!(strictest(&kept.of(&[rule("count")]).await.unwrap()), Intervention::Never);
        for number in 0..=100 {
            kept.of(&[rule(&format!("{number}{}", "x".repeat(100_000)))]).await.unwrap();
            assert!(kept.0.bytes() <= COMPILED_RULES.bytes_max);
        }
    }
}
