//! The interval timer of a process.

use std::sync::{Arc, Weak};

use super::Kernel;
use super::executor::TaskHandle;
use super::process::Process;
use super::signal::Signal;

/// The shortest period, ns: what the host's timers can tell apart.
const INTERVAL_MIN: u64 = 1_000_000;

/// A running timer; dropping it disarms it.
#[derive(Debug)]
pub struct IntervalTimer {
    task: TaskHandle,
    due: u64,
    interval: u64,
}

impl IntervalTimer {
    /// Sends ALRM after `value` ns, then every `interval` ns (0: once).
    pub fn start(kernel: &Arc<Kernel>, process: &Arc<Process>, value: u64, interval: u64) -> Self {
        let due = kernel.clock.monotonic().saturating_add(value);
        let kernel_weak = Arc::downgrade(kernel);
        let weak: Weak<Process> = Arc::downgrade(process);
        let task = kernel.executor.spawn(process.pid, async move {
            let mut at = due;
            loop {
                let Some(kernel) = kernel_weak.upgrade() else { return };
                kernel.clock.sleep_until(at).await;
                let Some(process) = weak.upgrade() else { return };
                process.send(Signal::ALRM);
                if interval == 0 {
                    return;
                }
                at = at.saturating_add(interval.max(INTERVAL_MIN));
            }
        });
        Self { task, due, interval }
    }

    /// What is left until it fires the next time, ns.
    pub fn left(&self, now: u64) -> u64 {
        match now.checked_sub(self.due) {
            Some(late) if self.interval > 0 => {
                let interval = self.interval.max(INTERVAL_MIN);
                interval - late % interval
            }
            _ => self.due.saturating_sub(now),
        }
    }
}

impl Drop for IntervalTimer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
