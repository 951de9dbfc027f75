//! Settings, routes, ports and times in `deploy/` are those of the program. `tests/deploy/lint.sh` checks the formats.

use std::collections::BTreeSet;

use super::arrows::crates;
use super::{File, files, none, root};

/// The shortest time that a stopped server gets beyond its own limit, to end its connections and write its last spans.
const STOP_SECONDS_MARGIN: u64 = 10;

/// Names of the time that a stopped server gets, each with the text before the number.
const STOP_TIMES: [(&str, &str); 3] = [
    ("deploy/compose.yaml", "stop_grace_period: "),
    ("deploy/kubernetes/lathe.yaml", "terminationGracePeriodSeconds: "),
    ("deploy/systemd/lathe.service", "TimeoutStopSec="),
];

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn deployment() -> Vec<File> {
    let found: Vec<_> = files().into_iter().filter(|file| file.path.starts_with("deploy/")).collect();
    assert!(found.len() > 8, "only {} files were found in deploy/", found.len());
    found
}

/// Words of a text that begin with a prefix and go on with these characters.
fn words<'a>(text: &'a str, prefix: &'a str, goes_on: fn(char) -> bool) -> impl Iterator<Item = &'a str> {
    text.match_indices(prefix).filter_map(move |(at, _)| {
        let is_start = !text[..at].ends_with(goes_on);
        let rest = &text[at + prefix.len()..];
        let length = rest.find(|c: char| !goes_on(c)).unwrap_or(rest.len());
        (is_start && length > 0).then(|| &text[at..at + prefix.len() + length])
    })
}

fn variables(text: &str) -> impl Iterator<Item = &str> {
    words(text, "LATHE_", |c| c.is_ascii_uppercase() || c == '_')
}

/// The table of the server's settings, which is made from the code: a row has the flag, the variable, the key, the default and the meaning.
fn read_settings() -> String {
    let reference = read("docs/reference/configuration.md");
    let table = reference.split("made from the code: lathe serve -->").nth(1).expect("a table");
    table.split("<!-- end of the table -->").next().unwrap_or_default().to_owned()
}

#[test]
fn every_variable_is_one_of_the_server() {
    let known = read_settings();
    let known: BTreeSet<_> = variables(&known).collect();
    assert!(known.len() > 20, "{known:?}");
    let mut findings = BTreeSet::new();
    for file in deployment() {
        let unknown = variables(&file.text).filter(|name| !known.contains(name));
        findings.extend(unknown.map(|name| format!("{}: {name}", file.path)));
    }
    none("`lathe serve` has no such variable", &findings.into_iter().collect::<Vec<_>>());
}

#[test]
fn the_unit_starts_a_command_with_flags_that_exist() {
    let unit = read("deploy/systemd/lathe.service");
    let start = unit.lines().find(|line| line.starts_with("ExecStart=")).expect("a program");
    assert!(start.contains("/lathe serve "), "{start}");
    let known = read_settings();
    let flags: Vec<_> = words(start, "--", |c| c.is_ascii_lowercase() || c == '-').collect();
    let unknown = flags.iter().filter(|flag| !known.contains(&format!("| `{flag}` |")));
    none("`lathe serve` has no such flag", &unknown.map(ToString::to_string).collect::<Vec<_>>());
}

#[test]
fn the_settings_file_has_keys_that_exist() {
    let settings: toml::Table = read("deploy/systemd/lathe.toml").parse().expect("TOML");
    let known = read_settings();
    let unknown = settings.keys().filter(|key| !known.contains(&format!("| `{key}` |")));
    none("no such setting", &unknown.cloned().collect::<Vec<_>>());
    // systemd makes this directory below `/var/lib`.
    assert!(read("deploy/systemd/lathe.service").contains("\nStateDirectory=lathe\n"));
    assert_eq!(settings["data"].as_str(), Some("/var/lib/lathe"));
}

/// MCP clients may use no other host than that of this setting and loopback addresses.
#[test]
fn every_deployment_has_a_public_url() {
    for (path, setting, count) in [
        ("deploy/compose.yaml", "  LATHE_PUBLIC_URL: ", 2),
        ("deploy/kubernetes/configmap.yaml", "  LATHE_PUBLIC_URL: https://", 1),
        ("deploy/systemd/lathe.toml", "\n# public_url = \"https://", 1),
    ] {
        assert_eq!(read(path).matches(setting).count(), count, "{path}: {setting}");
    }
}

#[test]
fn every_health_check_asks_a_route() {
    let routes = read("api/src/router.rs");
    let mut findings = Vec::new();
    let mut count = 0;
    for file in deployment() {
        for path in words(&file.text, "/health/", |c| c.is_ascii_lowercase()) {
            count += 1;
            if !routes.contains(&format!("get(\"{path}\"")) {
                findings.push(format!("{}: {path}", file.path));
            }
        }
    }
    assert!(count > 3, "only {count} health checks were found");
    none("no such route", &findings);
}

#[test]
fn the_image_offers_the_ports_that_the_server_has_by_default() {
    let settings = read_settings();
    let dockerfile = read("deploy/Dockerfile");
    let port = |flag: &str| {
        let row = settings.lines().find(|line| line.starts_with(&format!("| `--{flag}` |"))).expect("a flag");
        let default = row.split('|').nth(4).expect("a default");
        default.rsplit(':').next().expect("a port").trim().to_owned()
    };
    let (api, metrics) = (port("listen"), port("metrics-listen"));
    for line in [
        format!("LATHE_LISTEN=0.0.0.0:{api} "),
        format!("LATHE_METRICS_LISTEN=0.0.0.0:{metrics} "),
        format!("EXPOSE {api} {metrics}\n"),
    ] {
        assert!(dockerfile.contains(&line), "deploy/Dockerfile has no {line}");
    }
    let statefulset = read("deploy/kubernetes/lathe.yaml");
    let ports: Vec<_> = statefulset.lines().filter_map(|line| line.trim().strip_prefix("containerPort: ")).collect();
    assert_eq!(ports, [api, metrics]);
}

/// The number behind a text.
fn number(text: &str, before: &str) -> u64 {
    let rest = text.split(before).nth(1).unwrap_or_else(|| panic!("no {before}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|error| panic!("{before}: {error}"))
}

fn drain_delay_seconds() -> u64 {
    number(&read("cli/src/server/serve_settings.rs"), "DRAIN_DELAY_BESIDE_OTHERS: Duration = Duration::from_secs(")
}

#[test]
fn the_image_is_built_from_all_crates() {
    let kept = read("deploy/Dockerfile.dockerignore");
    let top = crates().map(|directory| directory.split('/').next().unwrap_or(directory));
    let left_out = top.filter(|directory| !kept.lines().any(|line| line.strip_prefix('!') == Some(*directory)));
    none("the sources of the image lack a crate", &left_out.map(str::to_owned).collect::<Vec<_>>());
}

/// Otherwise a node could close a connection at the moment when nginx sends a request over it.
#[test]
fn the_proxy_closes_idle_connections_before_a_node_that_ends_does() {
    let proxy = read("deploy/nginx.conf");
    let upstream = proxy.split("upstream lathe {").nth(1).expect("the nodes").split('}').next().expect("an end");
    assert!(number(upstream, "keepalive_timeout ") < drain_delay_seconds());
}

#[test]
fn a_stopped_server_gets_the_time_that_it_gives_running_work() {
    let limits = read("api_kit/src/server/limits.rs");
    let drain_seconds = number(&limits, "DRAIN_TIME_MAX: Duration = Duration::from_secs(") + drain_delay_seconds();
    for (path, before) in STOP_TIMES {
        let seconds = number(&read(path), before);
        assert!(seconds >= drain_seconds + STOP_SECONDS_MARGIN, "{path}: {seconds} s, and work has {drain_seconds} s");
    }
}
