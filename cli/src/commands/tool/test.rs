//! `lathe tool test`: tests a local project, or a pushed branch on a server.

mod arguments;
mod local;
mod pushed;
mod report;
mod round;
mod watch;

use builder::directory;

pub use arguments::TestArguments;
use local::LocalTester;

use crate::failure::Outcome;
use crate::home::Home;
use crate::output::Screen;

pub async fn run(arguments: &TestArguments, home: &Home, screen: Screen) -> anyhow::Result<Outcome> {
    if arguments.pushed || arguments.branch.is_some() {
        return pushed::run(&home.build_client()?, arguments, screen).await;
    }
    let tester = LocalTester::open(arguments, screen)?;
    if arguments.watch {
        return watch::run(&tester, screen).await;
    }
    let round = tester.test(directory::read(&tester.root)).await;
    report::show(screen, &round)?;
    Ok(if round.succeeded { Outcome::Done } else { Outcome::Failed })
}
