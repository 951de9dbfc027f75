//! Runs that are stuck: the model makes the same call again and again, and the same comes of it.

use registry::Digest;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::model::ModelCall;

/// What happens to a run that is stuck.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OnStuck {
    /// Equal calls with equal observations, one after the other, after which a run is stuck.
    pub iterations: u32,
    pub action: StuckAction,
    /// What the model is told by [`StuckAction::RetryWithHint`].
    pub hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StuckAction {
    /// The run fails.
    Fail,
    /// A person is asked.
    Escalate,
    /// The model is told a hint, once. If it is stuck again, the run fails.
    RetryWithHint,
}

/// The last call, and how often it was made.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Repeated {
    digest: Option<String>,
    times: u32,
    pub was_hinted: bool,
}

impl Default for OnStuck {
    fn default() -> Self {
        Self { iterations: 3, action: StuckAction::Fail, hint: None }
    }
}

impl Repeated {
    /// Counts a call with what came of it. Returns how often in a row it was made.
    pub fn count(&mut self, call: &ModelCall, observation: &str) -> u32 {
        let text = json!([call.name, call.input.as_str(), observation]).to_string();
        let digest = Some(Digest::of(text.as_bytes()).to_hex());
        self.times = if digest == self.digest { self.times + 1 } else { 1 };
        self.digest = digest;
        self.times
    }

    /// Begins to count anew.
    pub fn reset(&mut self) {
        (self.digest, self.times) = (None, 0);
    }
}

#[cfg(test)]
mod tests {
    use registry::RawJson;

    use super::*;

    #[test]
    fn equal_calls_with_equal_observations_count() {
        let call =
            |name: &str| ModelCall { id: "c".into(), name: name.into(), input: RawJson::default(), problem: None };
        let mut repeated = Repeated::default();
        let counts = [("a", "x"), ("a", "x"), ("a", "y"), ("b", "y"), ("b", "y"), ("b", "y")];
        let counts = counts.map(|(name, observation)| repeated.count(&call(name), observation));
        assert_eq!(counts, [1, 2, 1, 1, 2, 3]);
        repeated.reset();
        assert_eq!(repeated.count(&call("b"), "y"), 1);
    }
}
