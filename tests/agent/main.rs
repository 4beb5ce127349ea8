//! The agent against a server on loopback that does what a script says, and lies where it says so.
#![cfg(feature = "agent")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod client;
mod endings;
mod example;
mod failures;
mod official;
mod runs;
mod server;
mod settings;

use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;
use wskill::agent::{Client, Event, Retries, Secret, Settings, Timeouts};

/// The key of all tests; it may turn up nowhere but in the header of a request.
const KEY: &str = "sk-test-0123456789abcdef";

/// The events of a run, as texts that are easy to compare.
#[derive(Default)]
struct Events(Mutex<Vec<String>>);

impl Events {
    fn push(&self, event: &Event<'_>) {
        assert!(!format!("{event:?}").contains(KEY), "{event:?}");
        let text = match event {
            Event::Step { step } => format!("step {step}"),
            Event::Text(text) => format!("text {text}"),
            Event::Reasoning(text) => format!("reasoning {text}"),
            Event::Retry { retry, reason, .. } => format!("retry {retry}: {reason}"),
            Event::Usage(usage) => format!("usage {} {} {}", usage.prompt, usage.cached, usage.completion),
            Event::ToolBegin { id, name, arguments } => format!("begin {id} {name} {arguments}"),
            Event::ToolEnd { id, name, is_error, summary, .. } => {
                format!("end {id} {name} {}{summary}", if *is_error { "error " } else { "" })
            }
            other => format!("{other:?}"),
        };
        self.0.lock().unwrap().push(text);
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// The pieces of the answer in one.
    fn text(&self) -> String {
        self.all().iter().filter_map(|event| event.strip_prefix("text ")).collect()
    }
}

fn settings(base_url: &str) -> Settings {
    Settings::new(&Secret::new(KEY), base_url, "test-model").unwrap()
}

/// A client that waits little.
fn client(server: &server::Server) -> Client {
    let mut retries = Retries::default();
    retries.first_delay = Duration::from_millis(1);
    let mut timeouts = Timeouts::default();
    timeouts.idle = Duration::from_secs(20);
    Client::with(settings(&server.url()), timeouts, retries).unwrap()
}

fn user(text: &str) -> Value {
    serde_json::json!({"role": "user", "content": text})
}
