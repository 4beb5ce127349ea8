//! Signals and the interval timer.

use std::sync::Arc;

use wasmtime::Linker;

use super::{Call, MODULE};
use crate::sandbox::errno::Errno;
use crate::sandbox::guest::HostCall;
use crate::sandbox::kernel::{Disposition, IntervalTimer, ProcessCtx, Signal, settle_fuel};

/// Defines the imports.
pub fn add_to_linker(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "sig_set", |mut caller: Call<'_>, signal: i32, disposition: i32, old: u32| {
        caller.call(|guest, ctx| {
            let before = ctx.process.signals.set(Signal::new(signal)?, Disposition::new(disposition)?)?;
            if old == 0 { Ok(()) } else { guest.write_i32(old, before.number()) }
        })
    })?;
    linker.func_wrap(MODULE, "sig_take", |caller: Call<'_>| {
        caller.data().process.signals.take().map_or(0, Signal::number)
    })?;
    linker.func_wrap(MODULE, "sig_flag", |mut caller: Call<'_>, address: u32| {
        caller.call(|guest, ctx| {
            if address != 0 {
                guest.bytes(address, 1)?;
            }
            ctx.signal_flag = address;
            Ok(())
        })
    })?;
    linker.func_wrap(MODULE, "itimer", |mut caller: Call<'_>, value: u64, interval: u64, left: u32| {
        caller.call(|guest, ctx| {
            let now = ctx.kernel.clock.monotonic();
            let before = ctx.timer.take().map_or(0, |timer| timer.left(now));
            if value > 0 {
                ctx.timer = Some(IntervalTimer::start(&ctx.kernel, &ctx.process, value, interval));
            }
            if left == 0 { Ok(()) } else { guest.write_u64(left, before) }
        })
    })?;
    linker.func_wrap_async(MODULE, "pause", |mut caller: Call<'_>, (): ()| {
        Box::new(async move {
            settle_fuel(&mut caller);
            let process = Arc::clone(&caller.data().process);
            let answer = process.interruptible(std::future::pending::<()>()).await;
            caller.answer(answer.and(Err(Errno::Interrupted)))
        })
    })?;
    Ok(())
}
