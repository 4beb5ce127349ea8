//! A client of the chat completions API: one request, one answer, which comes in pieces.

mod assemble;
mod body;
mod completion;
mod failure;
mod retry;
mod sse;
mod tls;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use self::assemble::Assembler;
use self::body::{Body, take};
pub use self::completion::{Completion, Finish, ToolCall, Usage};
use self::failure::{Failure, Failures};
pub use self::retry::Retries;
use super::error::ClientError;
use super::event::{Event, OnEvent};
use super::interface::ToolSpec;
use super::settings::Settings;

/// The largest answer, as it comes over the network. The longest answers of models are some 128,000 tokens, each of
/// which takes up to 400 bytes in a stream.
const MAX_BODY: usize = 64 << 20;

/// The largest piece of an answer that is kept before it is read: one event of a stream, or an answer that comes whole,
/// where 128,000 tokens take 0.6 MB. Read, JSON may take 20 times its size.
const MAX_PIECE: usize = 4 << 20;

/// How much of the body of an error is read.
const MAX_ERROR_BODY: usize = 64 << 10;

/// How long the body of an error is waited for, as the status says enough.
const ERROR_BODY: Duration = Duration::from_secs(10);

/// How long the end of the body is waited for after the end of the answer, which mostly comes with it.
const END_OF_BODY: Duration = Duration::from_millis(50);

/// How long an answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// Until a connection stands, TLS included. Default 10 s.
    pub connect: Duration,
    /// Between two pieces of the answer, and before the first. Default 300 s, as models may think for minutes.
    pub idle: Duration,
    /// For an answer with all its retries. Default 1,800 s.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), idle: Duration::from_secs(300), total: Duration::from_secs(1800) }
    }
}

/// Asks a model over the chat completions API of OpenAI and of those who speak it too.
///
/// Answers are asked for as a stream; servers that send them whole are understood as well. What comes from the server
/// has the key taken out, should it be in it.
///
/// ```no_run
/// use wskill::agent::{Client, Event, Settings};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(Settings::load()?)?;
/// let messages = [serde_json::json!({"role": "user", "content": "Hello"})];
/// let on_event = |event: Event<'_>| {
///     if let Event::Text(text) = event {
///         print!("{text}");
///     }
/// };
/// let answer = client.complete(&messages, &[], &on_event).await?;
/// println!("{:?}", answer.usage);
/// # Ok(())
/// # }
/// ```
pub struct Client {
    http: reqwest::Client,
    settings: Settings,
    timeouts: Timeouts,
    retries: Retries,
    /// Whether the server may be asked to add the usage to a stream; some refuse what they do not know.
    asks_usage: AtomicBool,
}

impl Client {
    /// A client with the default timeouts and retries.
    ///
    /// # Errors
    ///
    /// [`ClientError::Setup`] when the system has no certificates to check servers with.
    pub fn new(settings: Settings) -> Result<Self, ClientError> {
        Self::with(settings, Timeouts::default(), Retries::default())
    }

    /// A client.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with(settings: Settings, timeouts: Timeouts, retries: Retries) -> Result<Self, ClientError> {
        let http = tls::http_client(&settings, timeouts)?;
        Ok(Self { http, settings, timeouts, retries, asks_usage: AtomicBool::new(true) })
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Asks the model for an answer to `messages`, and offers it `tools`.
    ///
    /// Of the events it tells [`Text`](Event::Text), [`Reasoning`](Event::Reasoning) and [`Retry`](Event::Retry).
    /// Dropping the future ends the request.
    ///
    /// # Errors
    ///
    /// What is left when retries did not help.
    pub async fn complete(
        &self,
        messages: &[Value],
        tools: &[ToolSpec],
        on_event: OnEvent<'_>,
    ) -> Result<Completion, ClientError> {
        let failures = Failures { settings: &self.settings, tries: 1 };
        let all = self.complete_with_retries(messages, tools, on_event);
        match tokio::time::timeout(self.timeouts.total, all).await {
            Ok(answer) => answer,
            Err(_) => Err(failures.total_timeout(self.timeouts.total)),
        }
    }

    async fn complete_with_retries(
        &self,
        messages: &[Value],
        tools: &[ToolSpec],
        on_event: OnEvent<'_>,
    ) -> Result<Completion, ClientError> {
        let mut body = self.request(messages, tools);
        let mut retry = 0;
        loop {
            let failures = Failures { settings: &self.settings, tries: retry + 1 };
            let failure = match self.attempt(&body, failures, on_event).await {
                Ok(completion) => return Ok(completion),
                Err(failure) => failure,
            };
            if is_about_usage(&failure.error) && self.asks_usage.swap(false, Ordering::Relaxed) {
                body = self.request(messages, tools);
                continue;
            }
            let delay = failure.retry.and_then(|wanted| self.retries.delay(retry + 1, wanted));
            let Some(delay) = delay else { return Err(failure.error) };
            retry += 1;
            on_event(Event::Retry { retry, delay, reason: &failure.error.to_string() });
            tokio::time::sleep(delay).await;
        }
    }

    fn request(&self, messages: &[Value], tools: &[ToolSpec]) -> String {
        let mut body = json!({"model": self.settings.model(), "messages": messages, "stream": true});
        if self.asks_usage.load(Ordering::Relaxed) {
            body["stream_options"] = json!({"include_usage": true});
        }
        // An empty list is refused.
        if !tools.is_empty() {
            let tools = tools.iter().map(|tool| {
                let ToolSpec { name, description, parameters } = tool;
                let function = json!({"name": name, "description": description, "parameters": parameters});
                json!({"type": "function", "function": function})
            });
            body["tools"] = tools.collect();
        }
        body.to_string()
    }

    /// Asks once.
    async fn attempt(&self, body: &str, failures: Failures<'_>, on_event: OnEvent<'_>) -> Result<Completion, Failure> {
        let mut key = HeaderValue::from_str(&format!("Bearer {}", self.settings.api_key().expose()))
            .map_err(|_| failures.protocol("no header can carry the key"))?;
        key.set_sensitive(true);
        let request = self
            .http
            .post(format!("{}/chat/completions", self.settings.base_url()))
            .header(AUTHORIZATION, key)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .header(ACCEPT_ENCODING, "identity")
            .body(body.to_owned());
        let response = request.send().await.map_err(|error| failures.transport(&error, None, self.timeouts))?;
        let status = response.status();
        if status != StatusCode::OK {
            let headers = response.headers().clone();
            let body = error_body(response).await;
            return Err(failures.status(status, &headers, &body));
        }
        if let Some(encoding) = response.headers().get(CONTENT_ENCODING).filter(|encoding| *encoding != "identity") {
            return Err(
                failures.protocol(&format!("the answer has the encoding {encoding:?}, which was not asked for"))
            );
        }
        let mut assembler = Assembler::new(self.settings.api_key(), on_event);
        match self.read(response, failures, &mut assembler).await {
            Ok(()) => assembler.finish().map_err(|reason| failures.protocol(&reason)),
            // What was shown cannot be taken back, so it is not asked for again.
            Err(failure) if assembler.has_shown() => Err(Failure::final_one(failure.error)),
            Err(failure) => Err(failure),
        }
    }

    /// Reads a whole answer into `assembler`.
    async fn read(
        &self,
        mut response: Response,
        failures: Failures<'_>,
        assembler: &mut Assembler<'_>,
    ) -> Result<(), Failure> {
        let mut received = 0;
        let mut body = Body::new();
        loop {
            let piece = response.chunk().await;
            let piece = match piece {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                // Some servers end the stream with the connection, and not as HTTP has it.
                Err(_) if assembler.is_finished() => break,
                Err(error) => return Err(failures.transport(&error, Some(received), self.timeouts)),
            };
            received += piece.len();
            if received > MAX_BODY {
                return Err(failures.too_large("the answer", MAX_BODY));
            }
            for event in body.push(&piece).map_err(|reason| failures.protocol(reason))? {
                if take(&event, failures, assembler)? {
                    // With the end of the body read the connection serves the next request too.
                    let _ = tokio::time::timeout(END_OF_BODY, response.chunk()).await;
                    return Ok(());
                }
            }
            if body.held() > MAX_PIECE {
                return Err(failures.too_large("a piece of the answer", MAX_PIECE));
            }
        }
        body.end(received, failures, assembler)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Client")
            .field("settings", &self.settings)
            .field("timeouts", &self.timeouts)
            .field("retries", &self.retries)
            .finish_non_exhaustive()
    }
}

/// The beginning of an error's body, as far as it comes.
async fn error_body(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    let all = async {
        while let Ok(Some(piece)) = response.chunk().await {
            body.extend_from_slice(&piece);
            if body.len() > MAX_ERROR_BODY {
                body.truncate(MAX_ERROR_BODY);
                break;
            }
        }
    };
    let _ = tokio::time::timeout(ERROR_BODY, all).await;
    body
}

/// Whether the server does not know the option that asks for the usage.
fn is_about_usage(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused { status: 400 | 422, message, .. }
        if message.contains("stream_options") || message.contains("include_usage"))
}
