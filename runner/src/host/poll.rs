//! Waiting: what was ready when the world answered is kept, and is the answer in a replay, which waits for nothing.

use wasmtime::Result;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi_io::bindings::wasi::io::poll;

use super::source::Source;
use crate::tape::{Bodies, Effect, Stopped};

impl poll::Host for super::Called<'_> {
    async fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> Result<Vec<u32>> {
        let of = u32::try_from(pollables.len())?;
        let ready = match &mut self.source {
            Source::World(_) => poll::Host::poll(&mut self.table, pollables).await?,
            Source::Strict(strict) => match strict.next() {
                Some(Effect::Polled { ready, .. }) => ready.to_vec(),
                _ => Vec::new(), // which is not what the tape has
            },
            Source::Free(free) => free.wait(&pollables.iter().map(Resource::rep).collect::<Vec<_>>())?,
        };
        self.effect(|_| Effect::Polled { of, ready: ready.as_slice().into() })?;
        Ok(ready)
    }
}

impl poll::HostPollable for super::Called<'_> {
    async fn block(&mut self, pollable: Resource<DynPollable>) -> Result<()> {
        match &mut self.source {
            Source::World(_) => poll::HostPollable::block(&mut self.table, pollable).await?,
            Source::Strict(_) => {}
            Source::Free(free) => drop(free.wait(&[pollable.rep()])?),
        }
        self.effect(|_| Effect::Blocked)
    }

    async fn ready(&mut self, pollable: Resource<DynPollable>) -> Result<bool> {
        let is_ready = match &mut self.source {
            Source::World(_) => poll::HostPollable::ready(&mut self.table, pollable).await?,
            Source::Strict(strict) => matches!(strict.next(), Some(Effect::Asked { is_ready: true })),
            Source::Free(free) => free.is_ready(pollable.rep()),
        };
        self.effect(|_| Effect::Asked { is_ready })?;
        Ok(is_ready)
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> Result<()> {
        if let Source::Free(free) = &mut self.source {
            free.forget(pollable.rep());
        }
        poll::HostPollable::drop(&mut self.table, pollable)
    }
}

impl super::Host {
    /// Keeps an effect. In a replay of the same code it must be the next one of the tape.
    pub(super) fn effect(&mut self, effect: impl FnOnce(&mut Bodies) -> Effect) -> Result<()> {
        if let Source::Strict(strict) = &self.source
            && strict.is_over()
        {
            return Err(Stopped.into());
        }
        self.recorder.push(self.log.bytes(), effect);
        if let Source::Strict(strict) = &mut self.source {
            strict.pass(self.recorder.last())?;
        }
        Ok(())
    }
}
