//! The interval timer.

use std::time::{Duration, Instant};

use wskill_sys::process::Status;
use wskill_sys::signal::{self, Disposition, SIGALRM};

use crate::support::{Done, check, play, programs, same};

programs! { timer_once, timer_interval, timer_disarm, timer_left, timer_default_ends, timer_is_not_inherited }

const MS: u64 = 1_000_000;

fn timer_once() -> Done {
    signal::set(SIGALRM, Disposition::Handle)?;
    let began = Instant::now();
    same!(signal::set_timer(25 * MS, 0)?, 0);
    signal::pause();
    check!(began.elapsed() >= Duration::from_millis(24), "too early: {:?}", began.elapsed());
    same!(signal::take(), Some(SIGALRM));
    crate::support::moment();
    same!(signal::take(), None);
    same!(signal::set_timer(0, 0)?, 0);
    Ok(())
}

fn timer_interval() -> Done {
    signal::set(SIGALRM, Disposition::Handle)?;
    let began = Instant::now();
    signal::set_timer(10 * MS, 10 * MS)?;
    for _ in 0..5 {
        signal::pause();
        same!(signal::take(), Some(SIGALRM));
    }
    check!(began.elapsed() >= Duration::from_millis(45), "too early: {:?}", began.elapsed());
    // Between two ticks something is left.
    let left = signal::set_timer(0, 0)?;
    check!(left > 0 && left <= 10 * MS, "{left} ns are left");
    // A period of a nanosecond is allowed and does no harm.
    signal::set_timer(1, 1)?;
    signal::pause();
    signal::set_timer(0, 0)?;
    Ok(())
}

fn timer_disarm() -> Done {
    signal::set(SIGALRM, Disposition::Handle)?;
    signal::set_timer(15 * MS, 0)?;
    check!(signal::set_timer(0, 0)? > 0);
    crate::support::moment();
    crate::support::moment();
    same!(signal::take(), None);
    Ok(())
}

fn timer_left() -> Done {
    signal::set(SIGALRM, Disposition::Handle)?;
    signal::set_timer(10_000 * MS, 0)?;
    let left = signal::set_timer(u64::MAX, u64::MAX)?;
    check!(left > 5_000 * MS && left <= 10_000 * MS, "{left} ns are left");
    // For ever is fine.
    check!(signal::set_timer(0, 0)? > 1 << 60);
    Ok(())
}

fn timer_default_ends() -> Done {
    same!(play(&["timer", "10"])?, Status::Signaled(14));
    Ok(())
}

fn timer_is_not_inherited() -> Done {
    signal::set(SIGALRM, Disposition::Handle)?;
    signal::set_timer(15 * MS, 0)?;
    same!(play(&["sleep", "40"])?, Status::Exited(0));
    same!(signal::take(), Some(SIGALRM));
    Ok(())
}
