//! What was done, for whom, and what was refused: a log of calls and counters.
//!
//! - [`AuditLog`]: a file of JSON lines, one [`Record`] each.
//! - [`Counters`]: how often each limit refused something and how calls ended, as a sorted map or for Prometheus.

mod counters;
mod log;
mod record;

pub use counters::{CallEnd, Counters, Counts};
pub use log::{AuditError, AuditLog, AuditLogBuilder};
pub use record::{COMMAND_TEXT, CommandRecord, GateVerdict, Record, Who};
