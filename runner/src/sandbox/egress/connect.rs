//! Connects to a host. Its name is resolved once, every address is checked, and the connection goes to a checked
//! address.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;
use url::Host;

use super::address::{is_own, is_public, is_within};
use super::target::Target;
use crate::sandbox::ports::{HttpError, HttpErrorCode};

/// Time for each step: resolving, connecting and the TLS handshake.
const STEP_TIME_MAX: Duration = Duration::from_secs(5);
/// Addresses of one name that are tried.
const ADDRESSES_TRIED_MAX: usize = 4;

type Resolved = Pin<Box<dyn Future<Output = std::io::Result<Vec<SocketAddr>>> + Send>>;
/// Resolves a name and a port. The permit is released when resolving ends.
pub type Resolve = Arc<dyn Fn(String, u16, OwnedSemaphorePermit) -> Resolved + Send + Sync>;

/// A stream to a checked address.
pub struct Connection {
    pub stream: Box<dyn Stream>,
    /// Whether the connection goes over the public Internet, and not to a network of the operator.
    pub is_public: bool,
}

pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Makes connections.
#[derive(Clone)]
pub struct Connector {
    /// Networks that may be reached besides the public Internet.
    pub networks: Vec<IpNet>,
    pub tls: Arc<ClientConfig>,
    pub resolve: Resolve,
}

/// The resolver of the system.
pub fn build_system_resolver() -> Resolve {
    Arc::new(|name, port, permit| {
        // The resolver blocks a thread, perhaps for longer than the request waits.
        let resolving = tokio::task::spawn_blocking(move || {
            let addresses = (name, port).to_socket_addrs().map(Iterator::collect);
            drop(permit);
            addresses
        });
        Box::pin(async move { resolving.await? })
    })
}

/// Whether a name stands for this machine on every machine.
fn is_loopback_name(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

/// A resolver that refuses every name.
pub fn build_refusing_resolver() -> Resolve {
    Arc::new(|_, _, _| Box::pin(std::future::ready(Err(std::io::ErrorKind::Unsupported.into()))))
}

impl Connector {
    pub async fn connect(&self, target: &Target, resolving: Arc<Semaphore>) -> Result<Connection, HttpError> {
        let addresses = self.resolve_addresses(target, resolving).await?;
        let is_public = !addresses.iter().all(|address| is_within(&self.networks, address.ip()));
        let stream = self.reach(target, &addresses).await?;
        let stream: Box<dyn Stream> =
            if target.is_secure { self.secure(target, stream).await? } else { Box::new(stream) };
        Ok(Connection { stream, is_public })
    }

    /// Returns all addresses of the host. One forbidden address refuses the host.
    async fn resolve_addresses(
        &self,
        target: &Target,
        resolving: Arc<Semaphore>,
    ) -> Result<Vec<SocketAddr>, HttpError> {
        let addresses = match &target.host {
            Host::Ipv4(address) => vec![SocketAddr::new(IpAddr::V4(*address), target.port)],
            Host::Ipv6(address) => vec![SocketAddr::new(IpAddr::V6(*address), target.port)],
            Host::Domain(name) => self.resolve(name, target.port, resolving).await?,
        };
        match addresses.iter().all(|address| self.may_reach(address.ip())) {
            true if addresses.is_empty() => Err(report_unreachable(format!("{} has no address", target.host))),
            true => Ok(addresses),
            false => {
                let message = format!(
                    "{} is not on the public Internet. A server sends requests to a host in a private network only if its \
                     operator lists the network in `--egress-networks`, such as 10.1.0.0/16 or 127.0.0.0/8; `lathe tool test \
                     --allow-network` reaches it from the author's machine",
                    target.host
                );
                Err(HttpError::new(HttpErrorCode::Denied, message))
            }
        }
    }

    /// Whether requests may go to the addresses of a host, as far as its name tells. Other names are resolved for each request.
    pub fn may_reach_host(&self, host: &Host<String>) -> bool {
        match host {
            Host::Ipv4(address) => self.may_reach((*address).into()),
            Host::Ipv6(address) => self.may_reach((*address).into()),
            Host::Domain(name) => !is_loopback_name(name) || self.may_reach(Ipv4Addr::LOCALHOST.into()),
        }
    }

    fn may_reach(&self, address: IpAddr) -> bool {
        is_within(&self.networks, address) || (is_public(address) && !is_own(address))
    }

    async fn resolve(&self, name: &str, port: u16, resolving: Arc<Semaphore>) -> Result<Vec<SocketAddr>, HttpError> {
        let resolved = async {
            let permit = resolving.acquire_owned().await.map_err(std::io::Error::other)?;
            (self.resolve)(name.to_owned(), port, permit).await
        };
        let resolved = timeout(STEP_TIME_MAX, resolved).await;
        let resolved = resolved.map_err(|_| report_late(format!("resolving {name}")))?;
        resolved.map_err(|_| report_unreachable(format!("{name} does not resolve")))
    }

    async fn reach(&self, target: &Target, addresses: &[SocketAddr]) -> Result<TcpStream, HttpError> {
        for address in addresses.iter().take(ADDRESSES_TRIED_MAX) {
            let connected = timeout(STEP_TIME_MAX / 2, TcpStream::connect(address)).await;
            let Ok(Ok(stream)) = connected else { continue };
            // Verifies that the kernel connected to the checked address.
            if stream.peer_addr().is_ok_and(|peer| peer == *address) {
                drop(stream.set_nodelay(true)); // only affects speed
                return Ok(stream);
            }
        }
        Err(report_unreachable(format!("{} does not accept the connection", target.authority())))
    }

    async fn secure(&self, target: &Target, stream: TcpStream) -> Result<Box<dyn Stream>, HttpError> {
        let name = match &target.host {
            Host::Ipv4(address) => Ok(ServerName::from(IpAddr::V4(*address))),
            Host::Ipv6(address) => Ok(ServerName::from(IpAddr::V6(*address))),
            Host::Domain(name) => ServerName::try_from(name.clone()),
        };
        let name = name.map_err(|_| report_tls_failure(target, "a certificate cannot contain this host name"))?;
        let handshake = TlsConnector::from(self.tls.clone()).connect(name, stream);
        let done = timeout(STEP_TIME_MAX, handshake)
            .await
            .map_err(|_| report_late(format!("the TLS handshake with {}", target.host)))?;
        Ok(Box::new(done.map_err(|error| report_tls_failure(target, &error.to_string()))?))
    }
}

fn report_unreachable(message: String) -> HttpError {
    HttpError::new(HttpErrorCode::Unreachable, message)
}

fn report_late(what: String) -> HttpError {
    HttpError::new(HttpErrorCode::Timeout, format!("{what} took longer than {} s", STEP_TIME_MAX.as_secs()))
}

fn report_tls_failure(target: &Target, cause: &str) -> HttpError {
    HttpError::new(HttpErrorCode::Tls, format!("no TLS connection to {}: {cause}", target.host))
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::sandbox::egress::tls::build_client;

    fn connector(networks: &[&str], resolve: Resolve) -> Connector {
        let networks = networks.iter().map(|network| network.parse().unwrap()).collect();
        Connector { networks, tls: build_client(Vec::new()).unwrap(), resolve }
    }

    fn answers(addresses: &'static [&'static str]) -> Resolve {
        Arc::new(move |_, port, _| {
            let found = addresses.iter().map(|address| SocketAddr::new(address.parse().unwrap(), port)).collect();
            Box::pin(std::future::ready(Ok(found)))
        })
    }

    async fn code(connector: &Connector, url: &str) -> Option<HttpErrorCode> {
        connector.connect(&Target::parse(url).unwrap(), Arc::new(Semaphore::new(1))).await.err().map(|error| error.code)
    }

    /// No connection may be tried to a refused address.
    #[tokio::test]
    async fn a_special_address_gets_no_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connector = connector(&[], build_system_resolver());
        for host in [
            "127.0.0.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "127.1",
            "localhost",
            "[::ffff:127.0.0.1]",
            "[::1]",
            "0",
            "[::]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
        ] {
            let found = code(&connector, &format!("http://{host}:{port}/")).await;
            assert_eq!(found, Some(HttpErrorCode::Denied), "{host}");
        }
        let accepted = timeout(Duration::from_millis(50), listener.accept()).await;
        assert!(accepted.is_err(), "a connection was made");
    }

    #[tokio::test]
    async fn one_special_address_among_public_ones_refuses_them_all() {
        let connector = connector(&[], answers(&["1.1.1.1", "10.0.0.1"]));
        assert_eq!(code(&connector, "http://example.com/").await, Some(HttpErrorCode::Denied));
    }

    #[tokio::test]
    async fn the_address_that_was_checked_is_connected_to() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let resolve: Resolve = {
            // A second lookup would return another address.
            let turn = std::sync::atomic::AtomicUsize::new(0);
            Arc::new(move |_, port, _| {
                let first = turn.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
                let address = if first { "127.0.0.1" } else { "10.0.0.1" };
                Box::pin(std::future::ready(Ok(vec![SocketAddr::new(address.parse().unwrap(), port)])))
            })
        };
        let connector = connector(&["127.0.0.0/8"], resolve);
        assert_eq!(code(&connector, &format!("http://example.com:{port}/")).await, None);
        assert_eq!(code(&connector, &format!("http://example.com:{port}/")).await, Some(HttpErrorCode::Denied));
    }

    #[tokio::test]
    async fn a_handshake_that_never_ends_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connector = connector(&["127.0.0.0/8"], build_system_resolver());
        let found = code(&connector, &format!("https://127.0.0.1:{port}/")).await;
        assert_eq!(found, Some(HttpErrorCode::Timeout));
    }
}
