//! What a tenant may use.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wskill::Limits;

/// What a tenant may use. A thousand million instructions take about a second of a processor.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Calls at once.
    pub calls: usize,
    /// Real time of a run.
    pub wall_time: Duration,
    /// WebAssembly instructions of a run.
    pub fuel: u64,
    /// WebAssembly instructions a minute, all runs together.
    pub fuel_per_minute: u64,
    /// Memory of a run, bytes.
    pub memory: u64,
    /// What the files of a session hold, bytes.
    pub disk: u64,
    /// Sessions that are kept at once.
    pub sessions: usize,
    /// How long a session is kept that is not used.
    pub idle: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            calls: 4,
            wall_time: Duration::from_secs(30),
            fuel: 10_000_000_000,
            fuel_per_minute: 60_000_000_000,
            memory: 256 << 20,
            disk: 64 << 20,
            sessions: 16,
            idle: Duration::from_secs(3600),
        }
    }
}

impl Budget {
    /// The limits of a run.
    pub fn limits(&self) -> Limits {
        Limits {
            wall_time: Some(self.wall_time),
            fuel: Some(self.fuel),
            memory: self.memory,
            process_memory: self.memory,
            disk: self.disk,
            file_size: self.disk,
            output: 4 << 20,
            processes: 32,
            ..Limits::default()
        }
    }
}

/// Why a call cannot be made now.
#[derive(Debug)]
pub struct Refused {
    pub reason: &'static str,
    /// When it may be tried again.
    pub after: Duration,
}

/// What a tenant has used.
#[derive(Debug)]
pub struct Account {
    calls: Arc<Semaphore>,
    fuel: Mutex<Fuel>,
    fuel_per_minute: u64,
}

/// Instructions that are left. They come back evenly, up to those of a minute.
#[derive(Debug)]
struct Fuel {
    /// Below zero when runs have used more than was there.
    left: f64,
    at: Instant,
}

impl Account {
    pub fn new(budget: &Budget) -> Self {
        let fuel = Fuel { left: budget.fuel_per_minute as f64, at: Instant::now() };
        let calls = Arc::new(Semaphore::new(budget.calls));
        Self { calls, fuel: Mutex::new(fuel), fuel_per_minute: budget.fuel_per_minute }
    }

    /// Admits a call, which goes on as long as the answer is held.
    ///
    /// # Errors
    /// When too many go on, or no instructions are left.
    pub fn admit(&self) -> Result<OwnedSemaphorePermit, Refused> {
        let left = self.change(0.0);
        if left <= 0.0 {
            let after = Duration::from_secs_f64(-left / self.per_second());
            return Err(Refused { reason: "the instructions of this minute are used up", after });
        }
        let busy = |_| Refused { reason: "too many calls at once", after: Duration::from_secs(1) };
        Arc::clone(&self.calls).try_acquire_owned().map_err(busy)
    }

    /// Takes the instructions that a run may use.
    pub fn take(&self, fuel: u64) {
        self.change(-(fuel as f64));
    }

    /// Gives back those that it has not used.
    pub fn give_back(&self, fuel: u64) {
        self.change(fuel as f64);
    }

    /// Adds to what is left, and answers how much that is now.
    fn change(&self, by: f64) -> f64 {
        let mut fuel = self.fuel.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let come_back = now.duration_since(fuel.at).as_secs_f64() * self.per_second();
        fuel.left = (fuel.left + come_back + by).min(self.fuel_per_minute as f64);
        fuel.at = now;
        fuel.left
    }

    fn per_second(&self) -> f64 {
        // At least one, so that waiting ends.
        (self.fuel_per_minute as f64 / 60.0).max(1.0)
    }
}
