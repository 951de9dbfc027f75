//! The secret parts of a URL. The parser of the URL standard refuses much of what programs accept, such as a password with `/`.

/// Bytes of a segment of a path that may be a token, as in the URL of a webhook.
const SEGMENT_BYTES_MIN: usize = 16;

/// A URL in its parts.
pub(in crate::calls::redact) struct Url<'t> {
    /// The text before the host, without `@`.
    userinfo: Option<&'t str>,
    path: &'t str,
    /// The text after the first `?` or `#`.
    query: &'t str,
}

impl<'t> Url<'t> {
    pub fn parse(text: &'t str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let is_scheme = scheme.chars().all(|character| character.is_ascii_alphanumeric() || "+-.:".contains(character));
        if scheme.is_empty() || !is_scheme || rest.contains(char::is_whitespace) {
            return None;
        }
        let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, after) = rest.split_at(authority_end);
        // Drivers of databases accept passwords with the characters that end an authority.
        let (userinfo, after) = match authority.rsplit_once('@') {
            Some((userinfo, _)) => (Some(userinfo), after),
            None => match rest.rsplit_once('@').filter(|(before, _)| before.contains(':') && !before.contains("/?")) {
                Some((userinfo, host)) if !userinfo.starts_with('/') && !is_in_path(authority) => {
                    (Some(userinfo), host.find(['/', '?', '#']).map_or("", |end| &host[end..]))
                }
                _ => (None, after),
            },
        };
        let (path, query) = after.split_once(['?', '#']).unwrap_or((after, ""));
        Some(Self { userinfo, path, query })
    }

    /// The password of the URL, or its user if it has no other credential.
    pub fn find_credentials(&self) -> Vec<String> {
        let Some(userinfo) = self.userinfo else { return Vec::new() };
        match userinfo.split_once(':') {
            Some((user, "" | "x-oauth-basic" | "x-token-auth")) => vec![user.to_owned()],
            Some((user, password)) if is_token(user) => vec![password.to_owned(), user.to_owned()],
            Some((_, password)) => vec![password.to_owned()],
            None => vec![userinfo.to_owned()],
        }
    }

    /// The values of the query, the path with the query, and the segments of the path that may be tokens.
    pub fn find_tokens(&self) -> Vec<String> {
        let pairs = self.query.split(['&', ';', '#']);
        let mut tokens: Vec<String> =
            pairs.map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value).to_owned()).collect();
        tokens.extend(self.path.split('/').filter(|segment| is_token(segment)).map(str::to_owned));
        tokens
    }

    /// Whether the URL has no part that may be a secret.
    pub fn is_public(&self) -> bool {
        self.userinfo.is_none() && self.query.is_empty() && !self.path.split('/').any(is_token)
    }
}

/// Whether the text before the first `/` is a host with a port, so that an `@` after it is one of the path.
fn is_in_path(authority: &str) -> bool {
    authority
        .rsplit_once(':')
        .is_none_or(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a name is long, and has digits or letters of both cases as tokens do.
fn is_token(name: &str) -> bool {
    let has = |matches: fn(char) -> bool| name.chars().any(matches);
    let is_mixed = has(|character| character.is_ascii_digit())
        || has(|character| character.is_ascii_lowercase()) && has(|character| character.is_ascii_uppercase());
    name.len() >= SEGMENT_BYTES_MIN && is_mixed
}
