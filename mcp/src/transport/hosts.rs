//! The hosts and origins that clients may use.

use api_kit::public_url::PublicUrl;
use axum::http::HeaderMap;
use axum::http::header::HOST;
use axum::http::uri::Authority;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;

use super::headers::find_sole;

/// Hosts of a server without a public URL.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Returns settings that accept requests to the public URL and to loopback addresses, from browsers only by pages of the public
/// URL. A request with nothing before its response gets one JSON object, and no stream of events.
pub fn build_settings(public: Option<&PublicUrl>) -> StreamableHttpServerConfig {
    let loopback = LOOPBACK.map(str::to_owned);
    let hosts = public.map(|url| url.authority().to_owned()).into_iter().chain(loopback);
    let local = LOOPBACK.map(|host| if host.contains(':') { format!("[{host}]") } else { host.to_owned() });
    let local = local.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
    let origins: Vec<_> = public.map(PublicUrl::origin).into_iter().chain(local).collect();
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts.collect::<Vec<_>>())
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_json_response(true)
}

/// Whether the only `Host` header is an allowed host, with its port if that has one. Other spellings of a host may be allowed, too.
pub fn is_literally_allowed(allowed: &[String], headers: &HeaderMap) -> bool {
    let host = find_sole(headers, &HOST).and_then(|host| Authority::try_from(host.as_bytes()).ok());
    host.is_some_and(|host| allowed.iter().any(|allowed| allowed == host.as_str() || allowed == host.host()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_with_their_ports() {
        let allowed = ["tools.example.com:8443".to_owned(), "localhost".to_owned()];
        for (host, expected) in [
            ("tools.example.com:8443", true),
            ("tools.example.com", false),
            ("localhost", true),
            ("localhost:9000", true),
            ("localhost.example.com", false),
            ("localhost:9000:1", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(HOST, host.parse().unwrap())]);
            assert_eq!(is_literally_allowed(&allowed, &headers), expected, "{host}");
        }
        assert!(!is_literally_allowed(&allowed, &HeaderMap::new()));
    }

    #[test]
    fn the_public_url_is_the_only_remote_host_and_origin() {
        let public: PublicUrl = "https://tools.example.com".parse().unwrap();
        let config = build_settings(Some(&public));
        assert_eq!(config.allowed_hosts, ["tools.example.com", "localhost", "127.0.0.1", "::1"]);
        assert_eq!(config.allowed_origins[0], "https://tools.example.com:443");
        assert!(build_settings(None).allowed_origins.iter().all(|origin| origin.ends_with(":*")));
    }
}
