//! Checks the package registries after the start, so that the operator learns early which ones do not answer.

use builder::{RegistryCheck, RegistryUrls, check_registries};

/// Logs for each registry whether it answers.
pub async fn log_checks(urls: RegistryUrls) {
    match check_registries(&urls).await {
        Ok(checks) => checks.iter().for_each(log),
        Err(error) => tracing::warn!(%error, "package registries cannot be checked"),
    }
}

fn log(RegistryCheck { setting, url, problem }: &RegistryCheck) {
    match problem {
        None => tracing::info!(setting, url, "the package registry answers"),
        Some(problem) => tracing::warn!(
            setting,
            url,
            problem,
            "the package registry does not answer; builds that need its packages fail unless the packages are cached"
        ),
    }
}
