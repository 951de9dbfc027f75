//! A project's page in a package index, which lists files with their URLs and hashes.

use std::collections::BTreeMap;

use registry::Digest;
use serde::Deserialize;

#[derive(Debug, PartialEq)]
pub struct Page {
    pub files: Vec<File>,
}

#[derive(Debug, PartialEq)]
pub struct File {
    pub filename: String,
    /// The URL, absolute or relative to the page.
    pub url: String,
    pub sha256: Option<Digest>,
    /// The size in bytes, which pages in HTML do not have.
    pub size: Option<u64>,
}

#[derive(Deserialize)]
struct JsonPage {
    files: Vec<JsonFile>,
}

#[derive(Deserialize)]
struct JsonFile {
    filename: String,
    url: String,
    #[serde(default)]
    hashes: BTreeMap<String, String>,
    size: Option<u64>,
}

/// Parses a page as JSON or as HTML. `None` when it is neither.
pub fn read(page: &[u8]) -> Option<Page> {
    if let Ok(json) = serde_json::from_slice::<JsonPage>(page) {
        return Some(Page { files: json.files.into_iter().map(from_json).collect() });
    }
    let html = std::str::from_utf8(page).ok().filter(|text| text.contains("<a ") || text.contains("<html"))?;
    Some(Page { files: html.split("<a ").skip(1).filter_map(from_anchor).collect() })
}

fn from_json(file: JsonFile) -> File {
    let JsonFile { filename, url, hashes, size } = file;
    File { filename, url, sha256: hashes.get("sha256").and_then(|hex| parse_digest(hex)), size }
}

/// Parses `href="URL#sha256=HEX" …>FILENAME</a>`, as PEP 503 prescribes.
fn from_anchor(anchor: &str) -> Option<File> {
    let (attributes, rest) = anchor.split_once('>')?;
    let filename = rest.split_once("</a>")?.0.trim().to_owned();
    let (_, value) = attributes.split_once("href=\"")?;
    let href = value.split_once('"')?.0.replace("&amp;", "&");
    let (url, fragment) = href.split_once('#').unwrap_or((&href, ""));
    let sha256 = fragment.strip_prefix("sha256=").and_then(parse_digest);
    Some(File { filename, url: url.into(), sha256, size: None })
}

fn parse_digest(hex: &str) -> Option<Digest> {
    Digest::parse(&format!("sha256:{hex}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn both_forms_of_the_simple_api_say_the_same() {
        let json = format!(
            r#"{{"files": [{{"filename": "six-1.whl", "url": "../six-1.whl", "hashes": {{"sha256": "{HEX}"}}}}]}}"#
        );
        let html = format!(
            "<html><body>\n<a href=\"../six-1.whl#sha256={HEX}\" data-requires-python=\"&gt;=3\">six-1.whl</a><br/>"
        );
        let page = read(json.as_bytes()).unwrap();
        assert_eq!(page.files[0].sha256, parse_digest(HEX));
        assert_eq!(read(html.as_bytes()), Some(page));
    }

    #[test]
    fn anything_else_is_no_page() {
        assert_eq!(read(b"not found"), None);
        assert_eq!(read(&[0xff, 0xfe]), None);
        assert_eq!(read(b"<html><a href=broken>x</a>"), Some(Page { files: Vec::new() }));
    }
}
