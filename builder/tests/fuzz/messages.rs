//! The fuzz targets of messages from build workers and child processes.

use std::collections::BTreeMap;

use super::Target;
use crate::attestation::Package;
use crate::error::{Error, Location};
use crate::progress::BuildReport;
use crate::steps::{bundle, documents, esbuild};
use crate::workers::protocol::{FromWorker, Kind, OutputMessage, PackageMessage, ReportMessage};

fn seeds<T: serde::Serialize>(messages: &[T]) -> Vec<Vec<u8>> {
    messages.iter().map(|message| postcard::to_allocvec(message).expect("a message")).collect()
}

#[test]
fn worker_messages() {
    let package = PackageMessage {
        kind: "pypi".into(),
        name: "six".into(),
        version: "1.0".into(),
        hash: Some(("sha256".into(), "00".into())),
    };
    let refused = Error::failed("compile", "syntax", "no").at(Location::line("tool.py", 3));
    let kind = Kind::Bundle { image: [7; 32], has_snapshot: true };
    let seeds = seeds(&[
        FromWorker::Report(ReportMessage::Ended { step: "compile".into(), duration_ms: 1, failure: Some("no".into()) }),
        FromWorker::Report(ReportMessage::Line { line: "a line".into() }),
        FromWorker::Output(OutputMessage { kind, packages: vec![package; 3], input_schema: Some("{}".into()) }),
        FromWorker::Failed(refused.into()),
    ]);
    let target = Target::new("message of a worker", &[], |bytes| match FromWorker::read(bytes) {
        Ok(FromWorker::Report(report)) => drop(BuildReport::try_from(report)),
        Ok(FromWorker::Failed(failure)) => drop(Error::try_from(failure)),
        Ok(FromWorker::Output(made)) => made.packages.into_iter().for_each(|package| drop(Package::try_from(package))),
        Ok(FromWorker::Leaves) | Err(_) => {}
    });
    Target { seeds, ..target }.run();
}

#[test]
fn answers_of_children() {
    let documents = crate::steps::manifest::from_toml("a = [1, 'x', 1.5, {b = true}]\n");
    let seeds = vec![
        documents::child::sample_answer(BTreeMap::from([("Cargo.toml".to_owned(), documents)])),
        bundle::sample_answer("def run_tool(): pass"),
    ];
    let target = Target::new("answer of a child", &[], |bytes| {
        documents::child::read_answer(bytes);
        bundle::read_answers(bytes);
    });
    Target { seeds, ..target }.run();
}

#[test]
fn metafiles_of_esbuild() {
    let meta = r#"{"inputs": {"index.ts": {"bytes": 1, "imports": [{"path": "a", "kind": "import-statement", "external": true}]},
                   "b.ts": {"imports": []}}, "outputs": {}}"#;
    Target::new("metafile", &[meta], |bytes| drop(esbuild::packages::read_imports(bytes))).run();
}
