//! Stopping a run from outside.

use std::sync::Arc;

use tokio::sync::watch;

/// Stops a run: clones stop the same one, from any thread or task, for instance a handler of Ctrl-C.
///
/// Once cancelled it stays so; each run takes a fresh one.
///
/// ```
/// use wskill::agent::Cancel;
///
/// let cancel = Cancel::new();
/// let handle = cancel.clone();
/// handle.cancel();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Clone, Debug)]
pub struct Cancel(Arc<watch::Sender<bool>>);

impl Cancel {
    /// One that is not cancelled yet.
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Stops the run, now or when it begins.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until [`cancel`](Self::cancel) is called.
    pub async fn cancelled(&self) {
        // The sender cannot be gone, as `self` holds it.
        let _ = self.0.subscribe().wait_for(|is_cancelled| *is_cancelled).await;
    }
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}
