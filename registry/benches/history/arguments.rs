//! The arguments of the program.

use std::path::PathBuf;

use registry::{DatabaseLocation, SecretValue};

const USAGE: &str = "RUNS [--data DIRECTORY] [--database URL] [--seed NUMBER] [--queries NUMBER] [--from NUMBER] [--only WORDS] [--measure]";

pub struct Arguments {
    pub runs: u64,
    pub data: PathBuf,
    pub database: DatabaseLocation,
    pub seed: u64,
    /// Queries of each row of the table.
    pub queries: usize,
    /// The number of the first run, to go on with an interrupted generation.
    pub from: u64,
    /// Words in the names of the queries that are measured.
    pub only: String,
    pub measures_only: bool,
}

impl Arguments {
    pub fn parse(mut given: impl Iterator<Item = String>) -> Self {
        let mut parsed = Self {
            runs: 0,
            data: "target/history".into(),
            database: DatabaseLocation::DataDirectory,
            seed: 1,
            queries: 200,
            from: 0,
            only: String::new(),
            measures_only: false,
        };
        while let Some(argument) = given.next() {
            let mut value = || given.next().expect(USAGE);
            match argument.as_str() {
                "--data" => parsed.data = value().into(),
                "--database" => parsed.database = DatabaseLocation::Url(SecretValue::new(value())),
                "--seed" => parsed.seed = value().parse().expect(USAGE),
                "--queries" => parsed.queries = value().parse().expect(USAGE),
                "--from" => parsed.from = value().parse().expect(USAGE),
                "--only" => parsed.only = value(),
                "--measure" => parsed.measures_only = true,
                // Cargo passes it to every benchmark.
                "--bench" => {}
                runs => parsed.runs = runs.parse().expect(USAGE),
            }
        }
        assert!(parsed.runs > 0, "{USAGE}");
        parsed
    }
}
