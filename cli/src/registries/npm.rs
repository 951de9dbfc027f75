//! The registry of npm.

use super::host::{Host, ini_value};
use super::registry::Registry;

pub const PUBLIC: &str = concat!("https://registry.", "npmjs.org");
const VARIABLES: [&str; 2] = ["npm_config_registry", "NPM_CONFIG_REGISTRY"];

pub fn registry(host: &Host) -> Registry {
    let files = [
        host.variable("NPM_CONFIG_USERCONFIG").map(Into::into),
        host.in_home(".npmrc"),
        host.in_system("etc/npmrc"),
        host.in_system("usr/local/etc/npmrc"),
        host.in_system("usr/etc/npmrc"),
    ];
    let found = host.named(&VARIABLES).or_else(|| host.find_configured(files, of_npmrc));
    found.unwrap_or_else(|| Registry::public(PUBLIC))
}

fn of_npmrc(text: &str) -> Option<String> {
    ini_value(text, &[""], "registry")
}
