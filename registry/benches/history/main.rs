//! Fills a database with runs, and measures lists and searches of the history.
//!
//! `cargo bench -p registry --bench history -- RUNS [--data DIRECTORY] [--database URL] [--seed NUMBER] [--queries NUMBER]
//! [--from NUMBER] [--only WORDS]
//! [--measure]`. The rows are written by the store, as a server writes them. With `--measure` the database has them already.

mod arguments;
mod cases;
mod corpus;
mod generate;
mod measure;
mod run;
mod world;

use std::sync::Arc;

use arguments::Arguments;
use world::World;

#[tokio::main]
async fn main() {
    let arguments = Arguments::parse(std::env::args().skip(1));
    let world = Arc::new(World::open(&arguments).await);
    if !arguments.measures_only {
        generate::fill(&world, &arguments).await;
    }
    measure::measure(&world, &arguments).await;
    world.close().await;
}
