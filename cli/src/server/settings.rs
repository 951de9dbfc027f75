//! The settings of a server: flags, environment variables, settings file and defaults, merged and checked.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use api::{RateLimits, TrustedProxies};
use runner::EgressConfig;

use super::data::{DataArguments, Location};
use super::file::SettingsFile;
use super::given::Given;
use super::rate_limits::RateLimitSettings;
use super::serve_settings::ServeSettings;
use super::telemetry::MetricsListen;

/// The arguments of `lathe serve`.
pub type ServeArguments = Given<ServeSettings>;

/// The settings of a server. Those that take a check are also in the form that the server uses.
#[derive(Clone, Debug)]
pub struct Settings {
    pub values: ServeSettings,
    pub location: Location,
    pub trusted_proxies: TrustedProxies,
    pub egress: EgressConfig,
    /// Upper bounds of the limits that versions choose.
    pub run_limits: runner::Limits,
    pub rate_limits: RateLimits,
}

impl Settings {
    pub fn read(arguments: &ServeArguments) -> anyhow::Result<Self> {
        let named = arguments.apply_to(ServeSettings::default())?.data.config;
        Self::check(arguments.apply_to(SettingsFile::load_or_refuse(named.as_deref())?.read_all()?)?)
    }

    fn check(values: ServeSettings) -> anyhow::Result<Self> {
        Ok(Self {
            trusted_proxies: values.proxies.read()?.into(),
            location: values.data.locate()?,
            egress: values.egress.read()?,
            run_limits: values.run_limits.lower_caps()?,
            rate_limits: values.rate_limits.as_ref().map_or_else(|| Ok(RateLimits::off()), RateLimitSettings::read)?,
            values,
        })
    }

    /// Settings of the demo's server: a free loopback port, a data directory of its own, and from the user's environment
    /// only the settings of builds.
    pub fn for_demo(data: PathBuf) -> anyhow::Result<Self> {
        Self::check(ServeSettings {
            data: DataArguments { data: Some(data), ..DataArguments::default() },
            listen: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            builds: Given::of_environment()?.apply_to(Default::default())?,
            metrics_listen: Some(MetricsListen::Off),
            ..ServeSettings::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "listen = \"127.0.0.1:2\"\ndata = \"from-file\"\n").expect("written");
        let config = file.path().to_str().expect("UTF-8");
        let arguments = ServeArguments::of_line(&["--listen=127.0.0.1:1", "--config", config]);
        let settings = Settings::read(&arguments.expect("a command line")).expect("merged");
        assert_eq!(settings.values.listen().port(), 1);
        assert!(settings.location.directory.is_absolute() && settings.location.directory.ends_with("from-file"));
        assert_eq!(settings.values.tape_hours, None);
    }
}
