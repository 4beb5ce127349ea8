//! Tools of the host.

use std::sync::Arc;

use wasmtime::Linker;

use super::{Call, MODULE};
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::guest::HostCall;
use crate::sandbox::kernel::{Kernel, Kind, OpenFile, ProcessCtx, TraceEvent, settle_fuel};
use crate::sandbox::limits::LimitName;
use crate::sandbox::tools::HostTools;
use crate::sandbox::vfs::File;

/// Defines the imports.
pub fn add_to_linker(linker: &mut Linker<ProcessCtx>) -> wasmtime::Result<()> {
    linker.func_wrap_async(MODULE, "tool_call", |mut caller: Call<'_>, arguments: (u32, u32, u32, u32, u32)| {
        Box::new(async move {
            let answer = call(&mut caller, arguments).await;
            caller.answer(answer)
        })
    })?;
    linker.func_wrap(MODULE, "tool_list", |mut caller: Call<'_>, out: u32| {
        caller.call(|guest, ctx| {
            guest.bytes(out, 4)?;
            let text = tools(ctx)?.lines();
            guest.write_i32(out, file(ctx, text.as_bytes())?)
        })
    })?;
    Ok(())
}

fn tools(ctx: &ProcessCtx) -> Result<HostTools> {
    ctx.kernel.tools.clone().ok_or(Errno::NotImplemented)
}

async fn call(caller: &mut Call<'_>, (name, length, request, size, out): (u32, u32, u32, u32, u32)) -> Result<()> {
    settle_fuel(&mut *caller);
    let (guest, ctx) = caller.parts()?;
    guest.bytes(out, 8)?;
    let tools = tools(ctx)?;
    ctx.current.descriptors.check_room()?;
    let name = String::from_utf8_lossy(&guest.path(name, length)?).into_owned();
    let request = guest.bytes(request, size)?;
    let (kernel, process) = (Arc::clone(&ctx.kernel), Arc::clone(&ctx.process));
    let answer = match admit(&kernel, request) {
        Err(refusal) => Err(refusal),
        Ok(request) => {
            let call = tools.call(&name, request, kernel.runtime.handle());
            // How long the host takes is not to change what the guests do.
            let answer = kernel.executor.outside(process.interruptible(call)).await?;
            answer.and_then(|answer| check_size(&kernel, answer, "answer"))
        }
    };
    if let Some(trace) = &kernel.trace {
        let (at_ms, pid, error) = (kernel.clock.elapsed_ms(), process.pid, answer.as_ref().err().cloned());
        trace.tell(TraceEvent::Tool { at_ms, pid, name, error });
    }
    let (mut guest, ctx) = caller.parts()?;
    let (failed, text) = match &answer {
        Ok(answer) => (0, answer.as_slice()),
        Err(reason) => (1, reason.as_bytes()),
    };
    let file = file(ctx, text)?;
    guest.write_i32(out, file)?;
    guest.write_u32(out.checked_add(4).ok_or(Errno::Fault)?, failed)
}

/// Counts a call, and copies its request if both are within their limits.
fn admit(kernel: &Kernel, request: &[u8]) -> std::result::Result<Vec<u8>, String> {
    if !kernel.budget.tool_calls.charge(1) {
        kernel.budget.counters.hit(LimitName::ToolCalls);
        return Err(format!(
            "this sandbox may call tools {} times; raise the limit tool_calls",
            kernel.limits.tool_calls
        ));
    }
    check_size(kernel, request, "request").map(<[u8]>::to_vec)
}

fn check_size<T: AsRef<[u8]>>(kernel: &Kernel, text: T, what: &str) -> std::result::Result<T, String> {
    let (size, limit) = (text.as_ref().len() as u64, kernel.limits.tool_bytes);
    if size <= limit {
        return Ok(text);
    }
    kernel.budget.counters.hit(LimitName::ToolBytes);
    Err(format!("the {what} of {size} bytes is over the limit tool_bytes of {limit}"))
}

/// A file in memory with this text, which the guest reads and closes.
fn file(ctx: &mut ProcessCtx, text: &[u8]) -> Result<i32> {
    let file = ctx.kernel.new_memory_file();
    let mut written = 0;
    while written < text.len() {
        written += file.write_at(&text[written..], written as u64)?;
    }
    ctx.current.descriptors.insert(Arc::new(OpenFile::new(Kind::File(file), true, false)), true)
}
