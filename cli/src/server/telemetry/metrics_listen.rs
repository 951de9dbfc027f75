//! Where metrics are served. They have a listener of their own, so that what operators may see is nothing for clients.

use std::net::{AddrParseError, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use api::Server;
use serde::Deserialize;

use crate::server::url_of;

/// The port that exporters for Prometheus have in OpenTelemetry; only this machine reaches it.
const DEFAULT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 9464);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum MetricsListen {
    /// At [`DEFAULT`], if it is free.
    #[default]
    Default,
    /// There, or the server does not start.
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
    /// The listener, if there is to be one. A second server on the machine goes without, and says so.
    pub async fn bind(self) -> anyhow::Result<Option<Server>> {
        let server = match self {
            Self::Off => return Ok(None),
            Self::At(address) => Server::bind(address).await?,
            Self::Default => match Server::bind(DEFAULT).await {
                Ok(server) => server,
                Err(error) => {
                    tracing::warn!(%error, "no metrics: give --metrics-listen a free address, or off");
                    return Ok(None);
                }
            },
        };
        tracing::info!(url = format!("{}/metrics", url_of(server.local_address())), "serving metrics");
        Ok(Some(server))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_an_address_or_off() {
        assert_eq!("off".parse(), Ok(MetricsListen::Off));
        assert_eq!("127.0.0.1:9464".parse(), Ok(MetricsListen::At(DEFAULT)));
        let refused = MetricsListen::try_from("9464".to_owned()).expect_err("no address");
        assert!(refused.starts_with("`9464` is neither \"off\" nor an address with a port: "), "{refused}");
    }

    #[tokio::test]
    async fn only_the_default_may_be_taken() {
        let taken = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let address = taken.local_addr().expect("its address");
        assert!(MetricsListen::At(address).bind().await.is_err());
        // Whether it is free here or not.
        let _held = tokio::net::TcpListener::bind(DEFAULT).await;
        assert!(MetricsListen::Default.bind().await.expect("no refusal").is_none());
        assert!(MetricsListen::Off.bind().await.expect("no refusal").is_none());
    }
}
