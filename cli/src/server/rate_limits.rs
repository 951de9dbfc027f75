//! `rate_limits` of the settings file: a profile, or a table of requests per minute by operation, which can extend a
//! profile.

use std::collections::BTreeMap;

use api::RateLimits;
use clap::ValueEnum;
use serde::Deserialize;

use crate::failure::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// No rate limits
    Off,
    /// The rate limits of the API contract
    Contract,
}

/// The value of `rate_limits` in the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "it should be \"off\", \"contract\", or a table with whole numbers of requests a minute")]
pub enum RateLimitSettings {
    Profile(Profile),
    Numbers {
        profile: Option<Profile>,
        #[serde(flatten)]
        numbers: BTreeMap<String, u32>,
    },
}

impl From<Profile> for RateLimitSettings {
    fn from(profile: Profile) -> Self {
        Self::Profile(profile)
    }
}

impl RateLimitSettings {
    pub fn read(&self) -> anyhow::Result<RateLimits> {
        let none = BTreeMap::new();
        let (profile, numbers) = match self {
            Self::Profile(profile) => (*profile, &none),
            Self::Numbers { profile, numbers } => (profile.unwrap_or(Profile::Off), numbers),
        };
        let start = match profile {
            Profile::Off => RateLimits::off(),
            Profile::Contract => RateLimits::contract(),
        };
        numbers.iter().try_fold(start, |limits, (operation, per_minute)| {
            let refused = |error: api::UnknownOperation| {
                Failure::usage(format!("rate_limits: {error}"), "docs/reference/limits.md lists the operations")
            };
            if *per_minute > RateLimits::PER_MINUTE_MAX {
                let most = RateLimits::PER_MINUTE_MAX;
                return Err(Failure::usage(
                    format!("rate_limits.{operation}: {per_minute} is more than {most} requests per minute, the most that a limit can be"),
                    "0 removes the limit",
                ));
            }
            let operation = api::find_operation(operation).map_err(refused)?;
            Ok(limits.with(operation, *per_minute))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct File {
        rate_limits: RateLimitSettings,
    }

    fn read(text: &str) -> Result<RateLimits, String> {
        let file: File = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        file.rate_limits.read().map_err(|error| error.to_string())
    }

    #[test]
    fn profiles_and_numbers_are_read() {
        let own = |limits: RateLimits| limits.with("invoke-tool-version", 600);
        assert_eq!(read("rate_limits = \"off\""), Ok(RateLimits::off()));
        assert_eq!(read("rate_limits = \"contract\""), Ok(RateLimits::contract()));
        assert_eq!(read("[rate_limits]\ninvoke-tool-version = 600"), Ok(own(RateLimits::off())));
        let both = read("[rate_limits]\nprofile = \"contract\"\ninvoke-tool-version = 600");
        assert_eq!(both, Ok(own(RateLimits::contract())));
    }

    #[test]
    fn a_malformed_value_is_explained() {
        let check = |text: &str, expect: &str| {
            let error = read(text).expect_err("refused");
            assert!(error.contains(expect), "{error}");
        };
        check("rate_limits = \"strict\"", "it should be \"off\", \"contract\", or a table");
        check("[rate_limits]\ninvoke-tool-version = -1", "whole numbers");
        check(
            "[rate_limits]\ninvoke-tool-version = 1000001",
            "rate_limits.invoke-tool-version: 1000001 is more than 1000000",
        );
        check("[rate_limits]\ninvoke = 1", "there is no operation `invoke`; limits can be set for ");
    }
}
