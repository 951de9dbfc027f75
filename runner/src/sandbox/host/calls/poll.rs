//! Waiting for pollables. A tape keeps which pollables became ready, and a replay answers with them without waiting.

use wasmtime::Result;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi_io::bindings::wasi::io::poll;

use crate::sandbox::host::environment::Environment;
use crate::sandbox::host::host_call::HostCall;
use crate::sandbox::tape::Effect;

impl poll::Host for HostCall<'_> {
    async fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> Result<Vec<u32>> {
        let of = u32::try_from(pollables.len())?;
        let ready = match &mut self.environment {
            Environment::Live(_) => poll::Host::poll(&mut self.table, pollables).await?,
            Environment::Strict(strict) => match strict.next() {
                Some(Effect::Polled { ready, .. }) => ready.to_vec(),
                _ => Vec::new(), // differs from the tape, which stops the replay
            },
            Environment::Lenient(lenient) => lenient.wait(&pollables.iter().map(Resource::rep).collect::<Vec<_>>())?,
        };
        self.record_effect(|_| Effect::Polled { of, ready: ready.as_slice().into() })?;
        Ok(ready)
    }
}

impl poll::HostPollable for HostCall<'_> {
    async fn block(&mut self, pollable: Resource<DynPollable>) -> Result<()> {
        match &mut self.environment {
            Environment::Live(_) => poll::HostPollable::block(&mut self.table, pollable).await?,
            Environment::Strict(_) => {}
            Environment::Lenient(lenient) => drop(lenient.wait(&[pollable.rep()])?),
        }
        self.record_effect(|_| Effect::Blocked)
    }

    async fn ready(&mut self, pollable: Resource<DynPollable>) -> Result<bool> {
        let is_ready = match &mut self.environment {
            Environment::Live(_) => poll::HostPollable::ready(&mut self.table, pollable).await?,
            Environment::Strict(strict) => matches!(strict.next(), Some(Effect::ReadinessChecked { is_ready: true })),
            Environment::Lenient(lenient) => lenient.is_ready(pollable.rep()),
        };
        self.record_effect(|_| Effect::ReadinessChecked { is_ready })?;
        Ok(is_ready)
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> Result<()> {
        if let Environment::Lenient(lenient) = &mut self.environment {
            lenient.forget(pollable.rep());
        }
        poll::HostPollable::drop(&mut self.table, pollable)
    }
}
