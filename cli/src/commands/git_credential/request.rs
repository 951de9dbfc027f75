//! Git's request to a credential helper: lines `key=value` up to an empty line or the end of the input.
//!
//! git-credential(1) specifies the format. A value may contain any byte but NUL and line feed; git sends a carriage
//! return only if it is configured to. A host with more than a name and a port, such as `example.com/.evil.org`, must
//! not be parsed as a URL: values are compared as they are.

use reqwest::Url;

use crate::client::Credentials;

/// Maximum size of a request. Git sends some hundred bytes; a server's `wwwauth[]` lines can add a few KiB.
pub(super) const REQUEST_BYTES_MAX: u64 = 64 * 1024;

/// The attributes that select a credential. Others are ignored.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CredentialRequest {
    protocol: Option<String>,
    /// The host, with the port if the URL has one.
    host: Option<String>,
    /// The path without slashes at both ends, present only with git's setting `credential.useHttpPath`.
    path: Option<String>,
    /// The user, present if the URL or git's configuration names one.
    username: Option<String>,
}

impl CredentialRequest {
    /// Parses a request; `None` if it is malformed.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok().filter(|_| bytes.len() as u64 <= REQUEST_BYTES_MAX)?;
        let mut request = Self::default();
        for line in text.split('\n').take_while(|line| !line.is_empty()) {
            let (key, value) = line.split_once('=').filter(|_| !line.contains(['\r', '\0']))?;
            request.set(key, value)?;
        }
        Some(request)
    }

    /// Sets one attribute; `None` if it is repeated, which would be ambiguous.
    fn set(&mut self, key: &str, value: &str) -> Option<()> {
        let attribute = match key {
            "protocol" => &mut self.protocol,
            "host" => &mut self.host,
            "path" => &mut self.path,
            "username" => &mut self.username,
            _ => return Some(()),
        };
        attribute.replace(value.to_owned()).is_none().then_some(())
    }

    /// Whether the request is for the login's server and, where it names them, for its repository and its user, if that is known.
    ///
    /// Attributes are compared byte for byte, as git's own helpers do, except that the protocol's default port may be
    /// left out.
    pub(super) fn is_for(&self, credentials: &Credentials) -> anyhow::Result<bool> {
        let (server, repository) = (credentials.parse_url()?, Url::parse(&credentials.build_git_url()?)?);
        let is_server = self.protocol.as_deref() == Some(server.scheme())
            && self.host.as_ref().is_some_and(|host| spell_hosts(&server).contains(host));
        let is_repository = self.path.as_deref().is_none_or(|path| path == repository.path().trim_matches('/'));
        let known = credentials.build_basic_user();
        let is_user = self.username.as_ref().zip(known).is_none_or(|(user, known)| *user == known);
        Ok(is_server && is_repository && is_user)
    }
}

/// The spellings of a URL's host that git can send.
fn spell_hosts(url: &Url) -> Vec<String> {
    let Some(name) = url.host_str() else { return Vec::new() };
    let with_port = url.port_or_known_default().map(|port| format!("{name}:{port}"));
    let without_port = url.port().is_none().then(|| name.to_owned());
    without_port.into_iter().chain(with_port).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::wire::SecretText;

    fn is_for_login(input: &[u8], url: &str) -> bool {
        let credentials = Credentials {
            url: url.to_owned(),
            organization: "acme".to_owned(),
            user_id: Some("ada".to_owned()),
            api_key_id: "id".to_owned(),
            api_key: SecretText::new("key".to_owned()),
        };
        CredentialRequest::parse(input).is_some_and(|request| request.is_for(&credentials).expect("a login"))
    }

    #[test]
    fn the_server_of_the_login_is_recognised() {
        let check = |input: &str, url: &str| assert!(is_for_login(input.as_bytes(), url), "{input:?} {url}");
        let path = "path=v1/acme/tool/git/tools.git";
        check("protocol=http\nhost=127.0.0.1:8080\nwwwauth[]=Basic realm=\"x\"\n\n", "http://127.0.0.1:8080");
        check("capability[]=authtype\nprotocol=http\nhost=127.0.0.1:8080", "http://127.0.0.1:8080/");
        check("protocol=http\nhost=[::1]:8080\n", "http://[::1]:8080");
        check("protocol=https\nhost=tools.example.org\n", "https://tools.example.org:443");
        check("protocol=https\nhost=tools.example.org:443\n", "https://tools.example.org");
        check("protocol=https\nhost=tools.example.org\n", "https://Tools.Example.org");
        check("protocol=https\nhost=a.example\nusername=acme_ada\n", "https://a.example");
        check(&format!("protocol=https\nhost=a.example\n{path}\n"), "https://a.example");
        check("protocol=https\nhost=a.example\npath=lathe/v1/acme/tool/git/tools.git\n", "https://a.example/lathe");
    }

    #[test]
    fn other_servers_repositories_and_users_are_refused() {
        for input in [
            "protocol=http\nhost=a.example\n",
            "protocol=https\nhost=a.example:80\n",
            "protocol=https\nhost=b.example\n",
            "protocol=https\nhost=a.example\npath=v1/other/tool/git/tools.git\n",
            "protocol=https\nhost=a.example\npath=v1/acme/tool/git/tools.git/info\n",
            "protocol=https\nhost=a.example\npath=\n",
            "protocol=https\nhost=a.example\nusername=acme_eve\n",
            "protocol=https\nhost=a.example\nusername=\n",
        ] {
            assert!(!is_for_login(input.as_bytes(), "https://a.example"), "{input:?}");
        }
    }

    #[test]
    fn a_host_is_only_a_name_and_a_port() {
        for host in [
            "a.example/.evil.org",
            "a.example/",
            "a.example\\.evil.org",
            "a.example?.evil.org",
            "a.example#.evil.org",
            "a.example:443/.evil.org",
            "evil.org@a.example",
            "user:password@a.example",
            "@a.example",
            "a.example.",
            "a.example:",
            "a.example:0443",
            "a.example: 443",
            " a.example",
            "a.example ",
            "\ta.example",
            "A.EXAMPLE",
            "a%2eexample",
            "a。example",
            "a.example%00.evil.org",
            "",
        ] {
            assert!(
                !is_for_login(format!("protocol=https\nhost={host}\n").as_bytes(), "https://a.example"),
                "{host:?}"
            );
        }
        for host in ["127.1:8080", "0x7f.0.0.1:8080", "2130706433:8080", "127.0.0.1"] {
            assert!(
                !is_for_login(format!("protocol=http\nhost={host}\n").as_bytes(), "http://127.0.0.1:8080"),
                "{host:?}"
            );
        }
    }

    #[test]
    fn a_malformed_request_gets_no_answer() {
        for input in [
            &b""[..],
            b"\n",
            b"\nprotocol=https\nhost=a.example\n",
            b"host=a.example\n",
            b"protocol=https\n",
            b"protocol=\nhost=a.example\n",
            b"protocol=HTTPS\nhost=a.example\n",
            b"PROTOCOL=https\nHOST=a.example\n",
            b"protocol=https\r\nhost=a.example\r\n",
            b"protocol=https\nhost=a.example\r\n",
            b"protocol=https\nhost=a.example\nextra=\r\n",
            b"protocol=https\nhost=a.example\0\n",
            b"protocol=https\nhost=a.example\0.evil.org\n",
            b"protocol=https\nhost=a.example\nnonsense\n",
            b"protocol=https\nhost=evil.org\nhost=a.example\n",
            b"protocol=https\nhost=a.example\nhost=a.example\n",
            b"protocol=https\nhost=a.example\nx=\xff\n",
            b"url=https://a.example\n",
            b"protocol=https\n\nhost=a.example\n",
        ] {
            assert!(!is_for_login(input, "https://a.example"), "{}", input.escape_ascii());
        }
        let long = format!("protocol=https\nhost=a.example\nx={}\n", "x".repeat(64 * 1024));
        assert!(!is_for_login(long.as_bytes(), "https://a.example"));
    }
}
