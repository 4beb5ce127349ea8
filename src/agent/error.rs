//! What can go wrong between a setting and an answer. No message has the key.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Something that has no default is not set.
    #[error("{}", describe_missing(missing, file))]
    Missing {
        /// What it is, and the variables that set it.
        missing: Vec<(&'static str, [&'static str; 2])>,
        /// The `.env` file, whether it exists or not.
        file: PathBuf,
    },
    /// A value cannot be right.
    #[error("{name}: {reason}")]
    Value {
        /// The variable.
        name: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The `.env` file says where a key of the process is sent.
    #[error(
        "{key} is set in the environment, and {base_url} in {}: a folder's file may not say where your key goes; set \
         {base_url} in the environment too, or {key} in the file alone",
        file.display()
    )]
    ForeignBaseUrl {
        /// The key's variable.
        key: &'static str,
        /// The base URL's variable.
        base_url: &'static str,
        /// The file.
        file: PathBuf,
    },
    /// The `.env` file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The `.env` file is wrong.
    #[error("{}:{line}: {reason}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: &'static str,
    },
}

fn describe_missing(missing: &[(&str, [&str; 2])], file: &Path) -> String {
    let what: Vec<_> = missing.iter().map(|(what, _)| format!("no {what}")).collect();
    let how: Vec<_> = missing.iter().map(|(_, [name, other])| format!("{name} (or {other})")).collect();
    let (what, how) = (what.join(" and "), how.join(" and "));
    format!("there is {what}: set {how} in the environment or in {}", file.display())
}

/// Why a model gave no answer.
///
/// Texts of the server in it are cut at 500 characters and have neither the key nor control characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The client could not be made.
    #[error("cannot set up a client for {base_url}: {reason}")]
    Setup {
        /// Where the API is.
        base_url: String,
        /// Why not.
        reason: String,
    },
    /// The server does not take the key: status 401 or 403.
    #[error("{base_url} refuses the key ({status}): {message}; check TRPC_AGENT_API_KEY or OPENAI_API_KEY")]
    Unauthorized {
        /// Where the API is.
        base_url: String,
        /// 401 or 403.
        status: u16,
        /// What the server says.
        message: String,
    },
    /// The server has no such model, or no such API at this place: status 404.
    #[error(
        "{base_url} has no chat completions or no model `{model}` (404): {message}; check the base URL and the model"
    )]
    NotFound {
        /// Where the API is.
        base_url: String,
        /// The model that was asked for.
        model: String,
        /// What the server says.
        message: String,
    },
    /// The server wants fewer requests or more money: status 429.
    #[error("{base_url} limits the requests (429){}: {message}{}", tried(*tries), wait(*retry_after))]
    RateLimited {
        /// Where the API is.
        base_url: String,
        /// What the server says.
        message: String,
        /// After which time it wants to be asked again, when it says so.
        retry_after: Option<Duration>,
        /// How often it was asked.
        tries: u32,
    },
    /// The server has a failure of its own: status 408, 409, 5xx.
    #[error("{base_url} failed ({status}){}: {message}", tried(*tries))]
    Server {
        /// Where the API is.
        base_url: String,
        /// The status.
        status: u16,
        /// What the server says.
        message: String,
        /// How often it was asked.
        tries: u32,
    },
    /// The server refuses the request: another status of 4xx.
    #[error("{base_url} refuses the request ({status}): {message}")]
    Refused {
        /// Where the API is.
        base_url: String,
        /// The status.
        status: u16,
        /// What the server says.
        message: String,
    },
    /// The server leads elsewhere, where the key is not sent to.
    #[error("{base_url} leads to {target} ({status}): set the base URL to where the API is")]
    Redirect {
        /// Where the API was thought to be.
        base_url: String,
        /// The status.
        status: u16,
        /// Where it leads.
        target: String,
    },
    /// The server reported an error when the answer had begun.
    #[error("{base_url} broke off the answer: {message}")]
    Reported {
        /// Where the API is.
        base_url: String,
        /// What the server says.
        message: String,
    },
    /// No connection.
    #[error("cannot reach {base_url}{}: {reason}", tried(*tries))]
    Connection {
        /// Where the API is.
        base_url: String,
        /// Why not.
        reason: String,
        /// How often it was tried.
        tries: u32,
    },
    /// Something took too long.
    #[error("{base_url}: waited {} s for {phase}", limit.as_secs_f64())]
    Timeout {
        /// Where the API is.
        base_url: String,
        /// What was waited for.
        phase: &'static str,
        /// How long.
        limit: Duration,
    },
    /// The connection was lost in the middle of the answer.
    #[error("{base_url}: the connection was lost after {received} bytes of the answer{}", tried(*tries))]
    Interrupted {
        /// Where the API is.
        base_url: String,
        /// How much of the answer's body had come.
        received: usize,
        /// How often it was tried.
        tries: u32,
    },
    /// The answer is too large.
    #[error("{base_url}: {what} has more than {limit} bytes")]
    TooLarge {
        /// Where the API is.
        base_url: String,
        /// The answer, or a piece of it.
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// What came is no answer of this API.
    #[error("{base_url} does not speak the chat completions API: {reason}")]
    Protocol {
        /// Where the API is.
        base_url: String,
        /// What is wrong.
        reason: String,
    },
}

fn tried(tries: u32) -> String {
    if tries > 1 { format!(", tried {tries} times") } else { String::new() }
}

fn wait(retry_after: Option<Duration>) -> String {
    retry_after
        .map_or_else(String::new, |wait| format!("; it wants to be asked again in {} s", wait.as_secs_f64().ceil()))
}

/// Why a run ended without an answer. The conversation is kept and consistent, and can go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The model gave no answer.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The transcript cannot be written.
    #[error("cannot write the transcript {}: {source}", path.display())]
    Transcript {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}
