//! The operator's bounds of runs: the models that they may use, and their tokens.

use super::run_options::AgentRunOptions;
use crate::error::Error;
use crate::model::Model;

/// Checks the options of a new run.
///
/// # Errors
/// When the run wants more than the operator allows.
pub(super) fn require_within_bounds(model: &Model, options: &AgentRunOptions) -> Result<(), Error> {
    require_allowed(model, options.model.as_deref())?;
    let (tokens, tokens_max) = (options.tokens_max, model.bounds().tokens_max);
    if tokens > tokens_max {
        return Err(Error::RunTokensExceeded { tokens, tokens_max });
    }
    Ok(())
}

/// Checks that runs may use a model of the endpoint. `None` stands for that of the settings.
///
/// # Errors
/// When they may not.
pub(super) fn require_allowed(model: &Model, name: Option<&str>) -> Result<(), Error> {
    match (name, &model.bounds().models) {
        (Some(name), Some(allowed)) if !allowed.iter().any(|allowed| allowed == name) => {
            Err(Error::ModelNotAllowed { name: name.to_owned(), allowed: allowed.clone() })
        }
        _ => Ok(()),
    }
}
