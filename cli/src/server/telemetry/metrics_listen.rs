//! The listener of metrics. It is apart from the API, so that clients of the API cannot read what operators may.

use std::net::{AddrParseError, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use api::{ListenError, Server};
use serde::Deserialize;

use crate::failure::Failure;

/// The port that OpenTelemetry's Prometheus exporters use, on loopback.
const DEFAULT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 9464);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum MetricsListen {
    /// [`DEFAULT`] if it is free, else no metrics.
    #[default]
    Default,
    /// This address, or the server does not start.
    At(SocketAddr),
    Off,
}

impl FromStr for MetricsListen {
    type Err = AddrParseError;

    fn from_str(text: &str) -> Result<Self, AddrParseError> {
        match text {
            "off" => Ok(Self::Off),
            address => Ok(Self::At(address.parse()?)),
        }
    }
}

impl TryFrom<String> for MetricsListen {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map_err(|error| format!("`{text}` is neither \"off\" nor an address with a port: {error}"))
    }
}

impl MetricsListen {
    /// Binds the listener, if there is to be one. A second server on the machine has no metrics by default, and a
    /// warning in its log.
    pub async fn bind(self) -> anyhow::Result<Option<Server>> {
        let server = match self {
            Self::Off => return Ok(None),
            Self::At(address) => Server::bind(address).await.map_err(|error| explain_refusal(&error))?,
            Self::Default => match Server::bind(DEFAULT).await {
                Ok(server) => server,
                Err(error) => {
                    tracing::warn!(%error, "metrics are not served: give --metrics-listen a free address, or off");
                    return Ok(None);
                }
            },
        };
        tracing::info!(url = format!("http://{}/metrics", server.local_address()), "serving metrics");
        Ok(Some(server))
    }
}

fn explain_refusal(error: &ListenError) -> anyhow::Error {
    Failure::refused(
        format!("metrics cannot be served: {error}"),
        "give --metrics-listen another address or `off`, or stop the program that uses this one",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_an_address_or_off() {
        assert_eq!("off".parse(), Ok(MetricsListen::Off));
        assert_eq!("127.0.0.1:9464".parse(), Ok(MetricsListen::At(DEFAULT)));
        let refused = MetricsListen::try_from("9464".to_owned()).expect_err("no address");
        assert!(refused.starts_with("`9464` is neither \"off\" nor an address with a port: "), "{refused}");
    }

    #[tokio::test]
    async fn only_the_default_address_may_be_in_use() {
        let taken = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let address = taken.local_addr().expect("its address");
        assert!(MetricsListen::At(address).bind().await.is_err());
        // The address is in use from here on, by this test or by another program.
        let _held = tokio::net::TcpListener::bind(DEFAULT).await;
        assert!(MetricsListen::Default.bind().await.expect("no error").is_none());
        assert!(MetricsListen::Off.bind().await.expect("no error").is_none());
    }
}
