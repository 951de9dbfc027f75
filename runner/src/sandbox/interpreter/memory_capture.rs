//! Captures an image's memory after it has loaded bundles. A snapshot is made of that memory.
//!
//! Randomness and time are the same for every capture, so that the same bundles give the same bytes. A module that reads them
//! while it is loaded would have the same values in all runs of the snapshot, and a module that holds a resource of the host
//! would lack it there. So both are refused.

use wasmtime::Store;

use super::{CompileFailure, Interpreter, Project, build_failure, report_stopped, report_too_long, wire};
use crate::sandbox::bindings::image::Image;
use crate::sandbox::engine::Ticker;
use crate::sandbox::host::Host;
use crate::sandbox::tape::{Bodies, Counts, End, Readings};
use crate::{Error, Limits, Tape, TapeMode};

/// Seed of the interpreter while it loads bundles. It seeds itself again in every run.
const SEED: [u8; 32] = [0; 32];
/// Check that a failed capture is reported under.
const CHECK: &str = "snapshot";
/// The activity in the message of a failed capture.
const ACTIVITY: &str = "importing packages";

impl Interpreter {
    /// Compiles a project without checking the bundle. `Ok(Err(_))` is the author's failure.
    ///
    /// # Errors
    /// When the system has no thread for the ticker.
    pub async fn bundle(&self, project: Project, limits: Limits) -> Result<Result<Vec<u8>, CompileFailure>, Error> {
        let ticker = Ticker::start(&self.engine).map_err(|error| Error::internal(error.to_string()))?;
        let _ticking = ticker.run();
        let project = wire::Project::from(project);
        Ok(self.compile_sources(&project, limits).await)
    }

    /// Captures the memory of an instance that has loaded these bundles in order. The first bundle is the platform's own, with
    /// which the interpreter finishes its initialisation. `counts_clock_reads` tells whether a reading of the clock
    /// refuses the capture; some engines read it themselves. `Ok(Err(_))` tells why the memory cannot be captured.
    ///
    /// # Errors
    /// When the system has no thread for the ticker, or the component is not an image.
    pub async fn memory_capture(
        &self,
        bundles: &[Vec<u8>],
        counts_clock_reads: bool,
        limits: Limits,
    ) -> Result<Result<Vec<u8>, CompileFailure>, Error> {
        let memories = self.memories.as_ref().ok_or_else(|| Error::internal("the component is not an image"))?;
        let ticker = Ticker::start(&self.engine).map_err(|error| Error::internal(error.to_string()))?;
        let _ticking = ticker.run();
        let mut store = self.build_store(limits, build_fixed_tape_mode());
        let loaded =
            match tokio::time::timeout(limits.wall(), self.load_all(&mut store, bundles, counts_clock_reads)).await {
                Ok(Ok(loaded)) => loaded,
                Ok(Err(error)) => Err(report_stopped(ACTIVITY, &error)),
                Err(_) => Err(report_too_long(ACTIVITY, limits.wall())),
            };
        if let Err(failure) = loaded {
            return Ok(Err(failure));
        }
        let captured = memories.read_next(<[u8]>::to_vec);
        drop(store);
        captured.try_recv().map(Ok).map_err(|_| Error::internal("the instance did not return its memory"))
    }

    async fn load_all(
        &self,
        store: &mut Store<Host>,
        bundles: &[Vec<u8>],
        counts_clock_reads: bool,
    ) -> wasmtime::Result<Result<(), CompileFailure>> {
        let image = Image::instantiate_async(&mut *store, &self.component, &self.linker).await?;
        let mut before = None;
        for bundle in bundles {
            if let Err(error) = image.call_check(&mut *store, bundle, false).await? {
                return Ok(Err(error.into()));
            }
            before = before.or(Some(store.data().read_usage()));
        }
        let seen = store.data().read_usage();
        let problem = before.and_then(|before| {
            store.data().find_leftovers().or_else(|| seen.describe_since(before, counts_clock_reads))
        });
        Ok(problem.map_or(Ok(()), |problem| Err(build_failure(CHECK, format!("it {problem} when it is imported")))))
    }
}

/// Replays an empty tape, so that randomness and time are always the same.
fn build_fixed_tape_mode() -> TapeMode {
    let (wall, monotonic) = (Readings::default(), Readings::default());
    let (rest, bodies) = (Counts::default(), Bodies::default());
    let tape = Tape { seed: SEED, wall, monotonic, entries: Vec::new(), rest, end: End::Stopped, bodies };
    TapeMode::ReplayLenient { tape: Box::new(tape), started_at: 0 }
}
