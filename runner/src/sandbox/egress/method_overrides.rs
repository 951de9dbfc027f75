//! Finds parts of a request that ask a server to use another method than the request has.
//!
//! Frameworks read such an override from a header (`X-HTTP-Method-Override`), from the query (`?_method=DELETE`), and
//! some from a header's name within the query. Names are compared as the most lenient frameworks do: without case and
//! punctuation, since gateways write `_` for `-`, and PHP `_` for `.`, a space and `[` in a query.

use std::borrow::Cow;

use hyper::HeaderMap;
use percent_encoding::percent_decode;

/// Parts of a header or parameter name that make it an override.
const OVERRIDES: [&str; 6] =
    ["methodoverride", "overridemethod", "httpmethod", "originalmethod", "verboverride", "httpverb"];
/// Names that are an override as a whole. As a part of a longer name they mean something else.
const WHOLE_NAMES: [&str; 5] = ["xmethod", "xverb", "xrequestmethod", "xforwardedmethod", "xrewritemethod"];
/// Names that many services use for other purposes in a query. They are an override when their value is a method that
/// changes something.
const AMBIGUOUS: [&str; 2] = ["method", "verb"];
/// Layers of percent-encoding that are decoded. A gateway may decode one, and the server behind it another.
const DECODINGS_MAX: usize = 3;

/// Returns the header or parameter that asks for another method, if any.
pub fn find(headers: &HeaderMap, path_and_query: &str) -> Option<String> {
    let header = headers.keys().find(|name| is_override_of_header(name.as_str()));
    header.map(|name| format!("the header {name}")).or_else(|| find_parameter(path_and_query))
}

fn is_override_of_header(name: &str) -> bool {
    let name = select_letters(name.as_bytes());
    is_override_by_name(&name) || AMBIGUOUS.contains(&name.as_str())
}

fn is_override_by_name(letters: &str) -> bool {
    OVERRIDES.iter().any(|name| letters.contains(name)) || WHOLE_NAMES.contains(&letters)
}

/// Searches parameters of the query, and those after a `;` in the path. Each decoding may add separators.
fn find_parameter(path_and_query: &str) -> Option<String> {
    let mut text = Cow::Borrowed(path_and_query.as_bytes());
    for _ in 0..=DECODINGS_MAX {
        if let Some(name) = find_parameter_in(&text) {
            return Some(format!("the parameter {:?}", String::from_utf8_lossy(name)));
        }
        text = Cow::Owned(percent_decode(&text).collect());
    }
    None
}

fn find_parameter_in(path_and_query: &[u8]) -> Option<&[u8]> {
    let (path, query) = split_once(path_and_query, b'?');
    let of_path = path.split(|byte| *byte == b'/').flat_map(|segment| segment.split(|byte| *byte == b';').skip(1));
    let of_query = query.split(|byte| b"&;?".contains(byte));
    let mut parameters = of_path.chain(of_query).map(|parameter| split_once(parameter, b'='));
    parameters.find(|(name, value)| is_override_of_parameter(name, value)).map(|(name, _)| name)
}

/// Returns the bytes before and after the first separator.
fn split_once(bytes: &[u8], separator: u8) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == separator) {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, &[]),
    }
}

fn is_override_of_parameter(name: &[u8], value: &[u8]) -> bool {
    let compact = select_letters(name);
    if is_override_by_name(&compact) {
        return true;
    }
    let is_decorated = name.first().is_some_and(|byte| !byte.is_ascii_alphanumeric());
    let changes = || !matches!(select_letters(value).as_str(), "get" | "head" | "options");
    let is_method = || super::request_rules::is_allowed_method(&select_letters(value).to_ascii_uppercase());
    AMBIGUOUS.contains(&compact.as_str()) && (is_decorated || (is_method() && changes()))
}

/// The letters and digits of a name, in lower case.
fn select_letters(name: &[u8]) -> String {
    let letters = name.iter().filter(|byte| byte.is_ascii_alphanumeric());
    letters.map(|byte| char::from(byte.to_ascii_lowercase())).collect()
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    fn header(name: &str) -> bool {
        let headers = HeaderMap::from_iter([(HeaderName::try_from(name).unwrap(), HeaderValue::from_static("DELETE"))]);
        find(&headers, "/").is_some()
    }

    #[test]
    fn headers_that_ask_for_another_method_are_found_however_they_are_spelt() {
        for name in [
            "X-HTTP-Method-Override",
            "X_HTTP_Method_Override",
            "x.http.method.override",
            "X-HTTP-Method",
            "X-Method-Override",
            "Method-Override",
            "method_override",
            "HTTP-Method-Override",
            "X-Original-Method",
            "X_Original-Method",
            "X-HTTP-Verb-Override",
            "_method",
        ] {
            assert!(header(name), "{name}");
        }
        for name in ["accept", "x-original-url", "access-control-request-method", "x-verbose", "x-tax-method"] {
            assert!(!header(name), "{name}");
        }
    }

    #[test]
    fn parameters_that_ask_for_another_method_are_found_however_they_are_spelt() {
        for query in [
            "?_method=DELETE",
            "?a=1%26_method=DELETE",
            "?a=1%253B_method=DELETE",
            "/x%3F_method=DELETE",
            "/x%3b_method=DELETE",
            "?a=1&_method=delete",
            "?a=1;_method=PUT",
            "?_METHOD=DELETE",
            "?_Method=DELETE",
            "?%5fmethod=DELETE",
            "?%5F%6Dethod=DELETE",
            "?%255Fmethod=DELETE",
            "?%25255Fmethod=DELETE",
            "?_meth%6fd=DELETE",
            "?_method%3DDELETE",
            "?.method=DELETE",
            "?+_method=DELETE",
            "?_method[]=DELETE",
            "?_method",
            "?__method=DELETE",
            "?X-HTTP-Method-Override=DELETE",
            "?x_http_method_override=DELETE",
            "?$httpMethod=DELETE",
            "?method=DELETE",
            "?method=%64elete",
            "?verb=put",
            "?a=?_method=DELETE",
            ";_method=DELETE",
            "/b;v=1;_method=DELETE/c",
        ] {
            assert!(find(&HeaderMap::new(), &format!("/orders/1{query}")).is_some(), "{query}");
        }
    }

    #[test]
    fn other_parameters_are_no_override() {
        for query in [
            "",
            "?",
            "?a=1&b=2",
            "?method=flickr.photos.search",
            "?method=get",
            "?methodology=DELETE",
            "?payment_method=card",
            "?q=_method",
            "?shipping_method=PUT",
            "/_method",
        ] {
            assert!(find(&HeaderMap::new(), &format!("/orders/1{query}")).is_none(), "{query}");
        }
    }
}
