//! Tools of the host that guests may call.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use serde::de::IgnoredAny;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

/// What a tool answers: JSON, or why it failed.
type Answer = Result<Vec<u8>, String>;
type Pending = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// A tool's name and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostTool {
    /// What guests call it by. Control characters are not allowed: such a tool is not offered.
    pub name: String,
    /// One line for `wskill-tool --list`.
    pub description: String,
}

impl HostTool {
    /// A tool.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into() }
    }
}

/// Tools of the host that the guests of a sandbox may call: in the shell `wskill-tool NAME '{"key": "value"}'`, in
/// Python `from host import tools` and `tools.NAME(key="value")`.
///
/// A call is counted against the limit `tool_calls`; its request and its answer may have `tool_bytes` each. It is given
/// up when the process that asks ends, by the end of its run at the latest: its future is dropped. The wall time goes
/// on. Calls run on the tokio runtime in which this value was made, if there is one, else on the guests' threads, which
/// have no input or output of tokio's.
///
/// ```
/// use wskill::{HostTool, HostTools};
/// let tools = HostTools::new(
///     || vec![HostTool::new("add", "Adds two numbers")],
///     |name, request| async move {
///         let request: serde_json::Value = serde_json::from_slice(&request).map_err(|error| error.to_string())?;
///         match (name.as_str(), request["a"].as_i64(), request["b"].as_i64()) {
///             ("add", Some(a), Some(b)) => Ok((a + b).to_string().into_bytes()),
///             _ => Err("two numbers are wanted: a and b".into()),
///         }
///     },
/// );
/// let sandbox = wskill::Sandbox::builder().host_tools(tools);
/// ```
#[derive(Clone)]
pub struct HostTools {
    list: Arc<dyn Fn() -> Vec<HostTool> + Send + Sync>,
    call: Arc<dyn Fn(String, Vec<u8>) -> Pending + Send + Sync>,
    handle: Option<Handle>,
}

impl HostTools {
    /// Tools. `list` says which there are, and is asked at each call: what it does not name is refused. `call` gets a
    /// name from the list and a JSON text, and answers a JSON text or why it failed.
    pub fn new<F>(
        list: impl Fn() -> Vec<HostTool> + Send + Sync + 'static,
        call: impl Fn(String, Vec<u8>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        Self {
            list: Arc::new(list),
            call: Arc::new(move |name, request| Box::pin(call(name, request))),
            handle: Handle::try_current().ok(),
        }
    }

    /// What there is, by name.
    fn offered(&self) -> Vec<HostTool> {
        let mut tools = (self.list)();
        tools.retain(|tool| !tool.name.is_empty() && !tool.name.contains(char::is_control));
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools
    }

    /// A line for each tool: name, tab, description.
    pub(super) fn lines(&self) -> String {
        let folded = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.offered().iter().map(|tool| format!("{}\t{}\n", tool.name, folded(&tool.description))).collect()
    }

    /// Calls a tool; a call that is dropped is given up.
    pub(super) async fn call(&self, name: &str, request: Vec<u8>, guests: &Handle) -> Answer {
        let offered = self.offered();
        if !offered.iter().any(|tool| tool.name == name) {
            let names: Vec<_> = offered.iter().map(|tool| tool.name.as_str()).collect();
            return Err(match names.as_slice() {
                [] => "no tool of the host is offered now".to_owned(),
                names => format!("there is no such tool; offered are: {}", names.join(", ")),
            });
        }
        let request = if request.trim_ascii().is_empty() { b"{}".to_vec() } else { request };
        serde_json::from_slice::<IgnoredAny>(&request).map_err(|error| format!("the request is no JSON: {error}"))?;
        let task = self.handle.as_ref().unwrap_or(guests).spawn((self.call)(name.to_owned(), request));
        let _given_up = GivenUp(task.abort_handle());
        task.await.unwrap_or_else(|error| {
            Err(if error.is_panic() { "the tool panicked" } else { "the host has ended" }.to_owned())
        })
    }
}

/// Ends a task that nobody waits for any more.
struct GivenUp(AbortHandle);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl fmt::Debug for HostTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostTools")
    }
}
