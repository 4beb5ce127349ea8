//! Clocks, randomness, arguments as WASI gives them, and giving way.

use std::time::{Duration, Instant, SystemTime};

use crate::raw::{self, Out, at};
use crate::support::{Done, check, programs, raw, refused, same};

programs! { clocks, randomness, argument_blocks, giving_way }

fn clocks() -> Done {
    let mut out = Out::new();
    // SAFETY: `out` takes the answers.
    unsafe {
        use raw::wasi::{clock_res_get, clock_time_get};
        for id in 0..4 {
            raw(clock_res_get(id, out.at()))?;
            check!(out.u64(0) > 0);
            raw(clock_time_get(id, 0, out.at()))?;
            let first = out.u64(0);
            raw(clock_time_get(id, u64::MAX, out.at()))?;
            check!(out.u64(0) >= first, "clock {id} goes back");
        }
        for bad in [4, -1, i32::MAX, i32::MIN] {
            refused!(clock_time_get(bad, 0, out.at()), EINVAL);
            refused!(clock_res_get(bad, out.at()), EINVAL);
        }
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    check!(now > Duration::from_secs(1_700_000_000));
    // The monotonic clock tells nothing of how long the host has been up.
    // SAFETY: `out` takes the answer.
    raw(unsafe { raw::wasi::clock_time_get(1, 0, out.at()) })?;
    check!(out.u64(0) < 3_600_000_000_000, "the monotonic clock shows {} ns", out.u64(0));
    // Time passes while sleeping, processor time does not.
    // SAFETY: as above.
    raw(unsafe { raw::wasi::clock_time_get(2, 0, out.at()) })?;
    let (cpu, began) = (out.u64(0), Instant::now());
    wskill_sys::fd::sleep(Duration::from_millis(50))?;
    // SAFETY: as above.
    raw(unsafe { raw::wasi::clock_time_get(2, 0, out.at()) })?;
    check!(began.elapsed() >= Duration::from_millis(50));
    check!(out.u64(0) - cpu < 45_000_000, "sleeping took {} ns of the processor", out.u64(0) - cpu);
    Ok(())
}

fn randomness() -> Done {
    let (one, other) = ([0u8; 32], [0u8; 32]);
    // SAFETY: the buffers are as long as said.
    unsafe {
        raw(raw::wasi::random_get(at(&one), 32))?;
        raw(raw::wasi::random_get(at(&other), 32))?;
        raw(raw::wasi::random_get(at(&one), 0))?;
        refused!(raw::wasi::random_get(at(&one), u32::MAX), EFAULT);
        refused!(raw::wasi::random_get(u32::MAX, 1), EFAULT);
        let large = vec![0u8; 3 << 20];
        raw(raw::wasi::random_get(at(&large[..]), 3 << 20))?;
        for chunk in std::hint::black_box(&large).chunks(4096) {
            check!(chunk.iter().any(|&byte| byte != 0), "a page is left empty");
        }
    }
    // Through references: the values themselves are constants to the compiler.
    check!(std::hint::black_box(&one) != std::hint::black_box(&other));
    Ok(())
}

fn argument_blocks() -> Done {
    let (mut sizes, pointers, buffer) = (Out::new(), Out::new(), vec![0u8; 65536]);
    let mut pointers = pointers;
    // SAFETY: the places are large enough for this program's arguments and environment.
    unsafe {
        use raw::wasi as w;
        raw(w::args_sizes_get(sizes.at(), sizes.at() + 4))?;
        same!(sizes.u32(0) as usize, std::env::args_os().count());
        raw(w::args_get(pointers.at(), at(&buffer[..])))?;
        same!(pointers.u32(0), at(&buffer[..]));
        let expected: Vec<u8> =
            std::env::args_os().flat_map(|word| [word.into_encoded_bytes(), vec![0]].concat()).collect();
        same!(sizes.u32(4) as usize, expected.len());
        same!(std::hint::black_box(&buffer)[..expected.len()], expected[..]);
        raw(w::environ_sizes_get(sizes.at(), sizes.at() + 4))?;
        same!(sizes.u32(0) as usize, std::env::vars_os().count());
        raw(w::environ_get(pointers.at(), at(&buffer[..])))?;
        for (one, other) in [(u32::MAX, sizes.at()), (sizes.at(), u32::MAX - 2)] {
            refused!(w::args_sizes_get(one, other), EFAULT);
            refused!(w::environ_sizes_get(one, other), EFAULT);
            refused!(w::args_get(one, other), EFAULT);
            refused!(w::environ_get(one, other), EFAULT);
        }
    }
    Ok(())
}

fn giving_way() -> Done {
    for _ in 0..2000 {
        raw(raw::yield_now())?;
    }
    Ok(())
}
