//! `lathe doctor`: checks this machine for what lathe needs, and names the command that installs what is missing.

mod check;
mod checks;
mod database;
mod install;
mod repositories;

use serde_json::{Value, json};

use check::{Check, CheckState};

use crate::failure::Outcome;
use crate::home::Home;
use crate::output::{DIM, GREEN, RED, RESET, Screen};
use crate::server::{BuildSettings, DataArguments, ProxySettings, StorageSettings};

pub async fn run(arguments: DataArguments, home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    let (location, builds) = (arguments.find_location_to_read()?, arguments.read_settings::<BuildSettings>()?);
    let data = &location.directory;
    let mut checks = vec![
        checks::check_git(),
        checks::check_c_compiler(),
        checks::check_user_namespaces(),
        checks::check_esbuild(&builds),
        checks::check_data_directory(data),
    ];
    let database = database::check(&location).await;
    let is_usable = database.as_ref().is_none_or(|check| check.state == CheckState::Ok);
    checks.extend(database);
    checks.extend(checks::check_storage(data, arguments.read_settings::<StorageSettings>()?.storage).await);
    // Reading the repositories opens the database, as a server does.
    if is_usable {
        checks.extend(repositories::check(&location).await);
    }
    checks.extend(arguments.ignores_file().then(checks::check_ignored_settings));
    checks.push(checks::check_trusted_proxies(&arguments.read_settings::<ProxySettings>()?.read()?));
    checks.push(checks::build_sandbox(builds.find_bubblewrap().as_deref(), data).await);
    checks.push(checks::check_rust(builds.find_rust_toolchain().as_deref()));
    checks.extend(checks::check_package_registries(&builds.registries()).await);
    checks.extend(checks::build_workers(data).await);
    checks.push(checks::check_runners().await);
    checks.push(checks::check_server(home).await);
    let is_complete = checks.iter().all(|check| check.state != CheckState::Missing);
    if screen.is_json() {
        screen.print_document(
            &json!({"complete": is_complete, "checks": checks.iter().map(build_document).collect::<Vec<_>>()}),
        )?;
    } else {
        checks.iter().try_for_each(|check| screen.print_line(render_line(check)))?;
    }
    Ok(if is_complete { Outcome::Done } else { Outcome::Failed })
}

fn build_document(check: &Check) -> Value {
    json!({"name": check.name, "state": check.state.word(), "detail": check.detail, "remedy": check.remedy})
}

fn render_line(check: &Check) -> String {
    let colour = match check.state {
        CheckState::Ok => GREEN,
        CheckState::Missing => RED,
        CheckState::Optional => DIM,
    };
    let remedy = check.remedy.as_ref().map(|remedy| format!("\n{:>31}{remedy}", "→ "));
    let word = check.state.word();
    format!("{colour}{word:<9}{RESET} {:<18} {}{}", check.name, check.detail, remedy.unwrap_or_default())
}
