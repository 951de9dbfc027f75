//! What an image has in its memory once it has loaded something: the making of a snapshot.
//!
//! Chance and time are the same for every picture, so that the same bundles give the same bytes. What looked at them while
//! it was loaded would look the same in all runs to come, and what asked the host for something would not have it there; so
//! neither is taken.

use wasmtime::Store;

use super::{CompileFailure, Interpreter, Project, failure, stopped, too_long, wire};
use crate::bindings::image::Image;
use crate::host::Host;
use crate::tape::{Bodies, Counts, End, Readings};
use crate::ticker::Ticker;
use crate::{Error, Limits, Tape, Taping};

/// What the interpreter seeds itself from. It does so again in a run.
const SEED: [u8; 32] = [0; 32];
/// Of what is wrong with a picture.
const CHECK: &str = "snapshot";

impl Interpreter {
    /// Makes a bundle without looking at what it does. `Ok(Err(_))` is the author's failure.
    ///
    /// # Errors
    /// When the host has no thread to give.
    pub async fn bundle(&self, project: Project, limits: Limits) -> Result<Result<Vec<u8>, CompileFailure>, Error> {
        let ticker = Ticker::start(&self.engine).map_err(|error| Error::internal(error.to_string()))?;
        let _ticking = ticker.run();
        let project = wire::Project::from(project);
        Ok(self.call(limits, async |image, store| image.call_compile(store, &project).await).await)
    }

    /// The memory of one instance that has loaded these bundles, one after the other. The first is the platform's own: with
    /// it the interpreter settles down. `counts_looks`: whether who looks at the time is the tool, and not the engine.
    /// `Ok(Err(_))` says why there is no such picture.
    ///
    /// # Errors
    /// When the host has no thread to give, or the component is no image.
    pub async fn picture(
        &self,
        bundles: &[Vec<u8>],
        counts_looks: bool,
        limits: Limits,
    ) -> Result<Result<Vec<u8>, CompileFailure>, Error> {
        let slots = self.slots.as_ref().ok_or_else(|| Error::internal("the component is no image"))?;
        let ticker = Ticker::start(&self.engine).map_err(|error| Error::internal(error.to_string()))?;
        let _ticking = ticker.run();
        let mut store = self.store(limits, same_every_time());
        let loaded = match tokio::time::timeout(limits.wall(), self.load_all(&mut store, bundles, counts_looks)).await {
            Ok(Ok(loaded)) => loaded,
            Ok(Err(error)) => Err(stopped(&error)),
            Err(_) => Err(too_long(limits.wall())),
        };
        if let Err(failure) = loaded {
            return Ok(Err(failure));
        }
        slots.picture_next();
        drop(store);
        slots.picture().map(Ok).ok_or_else(|| Error::internal("the memory was not to be had"))
    }

    async fn load_all(
        &self,
        store: &mut Store<Host>,
        bundles: &[Vec<u8>],
        counts_looks: bool,
    ) -> wasmtime::Result<Result<(), CompileFailure>> {
        let image = Image::instantiate_async(&mut *store, &self.component, &self.linker).await?;
        let mut before = None;
        for bundle in bundles {
            if let Err(error) = image.call_check(&mut *store, bundle, false).await? {
                return Ok(Err(error.into()));
            }
            before = before.or(Some(store.data().seen()));
        }
        let seen = store.data().seen();
        let problem = before.and_then(|before| store.data().keeps_hold().or_else(|| seen.since(before, counts_looks)));
        Ok(problem.map_or(Ok(()), |problem| Err(failure(CHECK, format!("it {problem} when it is imported")))))
    }
}

/// Nothing of the world: a tape that is empty.
fn same_every_time() -> Taping {
    let (wall, monotonic) = (Readings::default(), Readings::default());
    let (rest, bodies) = (Counts::default(), Bodies::default());
    let tape = Tape { seed: SEED, wall, monotonic, entries: Vec::new(), rest, end: End::Stopped, bodies };
    Taping::Otherwise { tape: Box::new(tape), started_at: 0 }
}
