//! The package index of pip and uv.

use serde::Deserialize;

use super::host::{Host, find_ini_value};
use super::registry::Registry;

pub const PUBLIC: &str = concat!("https://", "pypi.", "org/simple");
/// Variables, in the order of precedence.
const VARIABLES: [&str; 3] = ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"];
/// The sections of `pip.conf` that apply to downloads, in the order of precedence.
const SECTIONS: [&str; 3] = ["install", "download", "global"];

/// The used part of `uv.toml`.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Uv {
    index_url: Option<String>,
    #[serde(default)]
    index: Vec<UvIndex>,
}

#[derive(Deserialize)]
struct UvIndex {
    url: String,
    #[serde(default)]
    default: bool,
}

pub fn find_index(host: &Host) -> Registry {
    let pip = [
        host.read_variable("PIP_CONFIG_FILE").map(Into::into),
        host.find_in_config("pip/pip.conf"),
        host.find_in_home(".pip/pip.conf"),
        host.find_in_system("etc/xdg/pip/pip.conf"),
        host.find_in_system("etc/pip.conf"),
    ];
    let uv = [
        host.read_variable("UV_CONFIG_FILE").map(Into::into),
        host.find_in_config("uv/uv.toml"),
        host.find_in_system("etc/uv/uv.toml"),
    ];
    let found = host
        .find_named(&VARIABLES)
        .or_else(|| host.find_configured(pip, find_in_pip))
        .or_else(|| host.find_configured(uv, find_in_uv));
    found.unwrap_or_else(|| Registry::public(PUBLIC))
}

fn find_in_pip(text: &str) -> Option<String> {
    find_ini_value(text, &SECTIONS, "index-url")
}

fn find_in_uv(text: &str) -> Option<String> {
    let uv: Uv = toml::from_str(text).ok()?;
    uv.index.into_iter().find(|index| index.default).map(|index| index.url).or(uv.index_url)
}
