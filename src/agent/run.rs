//! The loop: ask the model, call the tools that it wants, ask again.

use std::sync::Arc;
use std::time::Instant;

use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value, json};

use super::cancel::Cancel;
use super::client::{Client, Completion, Finish, ToolCall, Usage};
use super::conversation::{Conversation, Turn};
use super::error::AgentError;
use super::event::{Event, OnEvent};
use super::interface::{Prompt, ToolSpec, Tools};
use super::transcript::Transcript;

/// How often the model is asked in a run unless said otherwise. Tasks of a skill take about ten steps.
pub const DEFAULT_MAX_STEPS: u32 = 32;

/// The largest result of a tool that the model is given: some 250,000 tokens, more than most models take in all. Tools
/// have limits of their own, which are smaller.
const MAX_RESULT: usize = 1 << 20;

/// What the model is told of a call that its answer ended in.
const CUT_OFF: &str = "your answer became too long and was cut off in the arguments of this call; \
                       split the work into several shorter calls";

/// How many characters of a result its event has.
const SUMMARY: usize = 120;

/// A conversation with a model that calls tools.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use serde_json::{Value, json};
/// use wskill::agent::{Agent, Cancel, Client, Event, Settings, ToolSpec, Tools};
///
/// struct Clock;
///
/// #[async_trait::async_trait]
/// impl Tools for Clock {
///     fn specs(&self) -> Vec<ToolSpec> {
///         let parameters = json!({"type": "object", "properties": {}});
///         vec![ToolSpec { name: "now".into(), description: "Tells the time.".into(), parameters }]
///     }
///
///     async fn call(&self, _name: &str, _arguments: Value) -> Result<Value, String> {
///         Ok(json!("12:00"))
///     }
/// }
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::new(Settings::load()?)?;
/// let mut agent = Agent::builder(client, Arc::new(Clock)).prompt(Arc::new("Be short.".to_owned())).build();
/// let on_event = |event: Event<'_>| {
///     if let Event::Text(text) = event {
///         print!("{text}");
///     }
/// };
/// let run = agent.run("What is the time?", &on_event, &Cancel::new()).await?;
/// println!("{:?} after {} steps", run.ending, run.steps);
/// # Ok(())
/// # }
/// ```
pub struct Agent {
    client: Client,
    tools: Arc<dyn Tools>,
    prompt: Arc<dyn Prompt>,
    max_steps: u32,
    conversation: Conversation,
}

/// Makes an [`Agent`].
pub struct AgentBuilder {
    client: Client,
    tools: Arc<dyn Tools>,
    prompt: Arc<dyn Prompt>,
    max_steps: u32,
    messages: Vec<Value>,
    transcript: Option<Transcript>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Run {
    /// Why it ended.
    pub ending: Ending,
    /// The last answer; empty when the run was cancelled.
    pub text: String,
    /// How often the model was asked.
    pub steps: u32,
    /// What all answers cost, as far as the server said so.
    pub usage: Usage,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The model has answered.
    Answered,
    /// The answer was cut off, as it or the conversation became too long.
    CutOff,
    /// The server withheld the answer.
    Withheld,
    /// The model was asked as often as is allowed, and still wanted to call tools. They were called.
    StepLimit,
    /// It was cancelled.
    Cancelled,
}

impl AgentBuilder {
    /// What is put into each request. Default nothing.
    pub fn prompt(self, prompt: Arc<dyn Prompt>) -> Self {
        Self { prompt, ..self }
    }

    /// How often the model may be asked in a run, at least once. Default 32.
    pub fn max_steps(self, max_steps: u32) -> Self {
        Self { max_steps: max_steps.max(1), ..self }
    }

    /// The conversation so far, without what the prompt puts into it. Calls among the messages that have no result get
    /// the result `cancelled`. Default none.
    pub fn messages(self, messages: Vec<Value>) -> Self {
        Self { messages, ..self }
    }

    /// Where new messages are written. Default nowhere.
    pub fn transcript(self, transcript: Transcript) -> Self {
        Self { transcript: Some(transcript), ..self }
    }

    /// Makes the agent.
    pub fn build(self) -> Agent {
        let Self { client, tools, prompt, max_steps, messages, transcript } = self;
        Agent { client, tools, prompt, max_steps, conversation: Conversation::new(messages, transcript) }
    }
}

impl Agent {
    /// An agent that asks over `client` and offers `tools`; `Arc::new(())` are none.
    pub fn builder(client: Client, tools: Arc<dyn Tools>) -> AgentBuilder {
        let (prompt, max_steps) = (Arc::new(()), DEFAULT_MAX_STEPS);
        AgentBuilder { client, tools, prompt, max_steps, messages: Vec::new(), transcript: None }
    }

    /// The conversation, without what the prompt puts into it.
    pub fn messages(&self) -> &[Value] {
        self.conversation.messages()
    }

    /// Says `text` to the model, and goes on until it answers without calling tools.
    ///
    /// The calls of one answer run at once; the model gets their results in the order of the calls. What is wrong with
    /// a call (no such tool, arguments that are no JSON, an error of the tool) is its result, and the run goes on.
    ///
    /// `cancel` stops the run, and so does dropping the future. However it ends, the conversation is one that can go
    /// on: it keeps the text that had come, and calls that were not answered have the result `cancelled`.
    ///
    /// # Errors
    ///
    /// When the model gives no answer, or the transcript cannot be written.
    pub async fn run(&mut self, text: &str, on_event: OnEvent<'_>, cancel: &Cancel) -> Result<Run, AgentError> {
        let mut run = Run { ending: Ending::StepLimit, text: String::new(), steps: 0, usage: Usage::default() };
        let pushed = self.conversation.push(json!({"role": "user", "content": text}));
        self.written(pushed)?;
        while run.steps < self.max_steps {
            run.steps += 1;
            on_event(Event::Step { step: run.steps });
            let step = tokio::select! {
                biased;
                () = cancel.cancelled() => None,
                step = self.step(on_event) => Some(step?),
            };
            let Some(completion) = step else {
                on_event(Event::Cancelled);
                return Ok(Run { ending: Ending::Cancelled, text: String::new(), ..run });
            };
            run.usage += completion.usage.unwrap_or_default();
            run.text = completion.text;
            if completion.calls.is_empty() {
                run.ending = match completion.finish {
                    Finish::Length => Ending::CutOff,
                    Finish::ContentFilter => Ending::Withheld,
                    Finish::Stop | Finish::ToolCalls | Finish::Other(_) => Ending::Answered,
                };
                return Ok(run);
            }
        }
        on_event(Event::StepLimit { max_steps: self.max_steps });
        Ok(run)
    }

    /// One answer, with the calls of tools that it wants.
    async fn step(&mut self, on_event: OnEvent<'_>) -> Result<Completion, AgentError> {
        let specs = self.tools.specs();
        let mut messages = self.conversation.messages().to_vec();
        self.prompt.apply(&mut messages);
        let mut turn = Turn::new(&mut self.conversation);
        let partial = turn.partial();
        let on_piece = |event: Event<'_>| {
            if let Event::Text(text) = event {
                partial.push(text);
            }
            on_event(event);
        };
        let completion = self.client.complete(&messages, &specs, &on_piece).await?;
        if let Some(usage) = completion.usage {
            on_event(Event::Usage(usage));
        }
        let answered = turn.answer(&completion);
        if answered.is_ok() {
            let caller = Caller { tools: &*self.tools, specs: &specs, client: &self.client, on_event };
            caller.call_all(&completion, &mut turn).await;
        }
        let closed = turn.close();
        self.written(answered.and(closed))?;
        Ok(completion)
    }

    fn written(&self, written: std::io::Result<()>) -> Result<(), AgentError> {
        written.map_err(|source| {
            let path = self.conversation.transcript().map(|transcript| transcript.path().to_owned());
            AgentError::Transcript { path: path.unwrap_or_default(), source }
        })
    }
}

/// Calls the tools of one answer.
struct Caller<'a> {
    tools: &'a dyn Tools,
    /// What the model was offered.
    specs: &'a [ToolSpec],
    client: &'a Client,
    on_event: OnEvent<'a>,
}

impl Caller<'_> {
    async fn call_all(&self, completion: &Completion, turn: &mut Turn<'_>) {
        let calls = &completion.calls;
        let running = calls.iter().enumerate().map(|(position, call)| async move {
            let is_last = position + 1 == calls.len();
            (position, self.call(call, is_last && completion.finish == Finish::Length).await)
        });
        let mut running: FuturesUnordered<_> = running.collect();
        while let Some((position, content)) = running.next().await {
            turn.set_result(position, content);
        }
    }

    /// Calls a tool, and gives what the model is told of it. `is_cut_off` says that the answer ended in this call, for
    /// its length.
    async fn call(&self, call: &ToolCall, is_cut_off: bool) -> String {
        let parsed = call.parse();
        let parsed = match parsed {
            // What is missing may be all of the arguments.
            Ok(arguments) if !is_cut_off || !call.arguments.trim().is_empty() => Ok(arguments),
            _ if is_cut_off => Err(CUT_OFF.to_owned()),
            parsed => parsed,
        };
        let shown = parsed.as_ref().unwrap_or(&Value::Null);
        (self.on_event)(Event::ToolBegin { id: &call.id, name: &call.name, arguments: shown });
        let begin = Instant::now();
        let result = match parsed {
            Err(error) => Err(error),
            // The model may call what it was offered, and nothing else.
            Ok(_) if self.specs.iter().all(|spec| spec.name != call.name) => Err(self.unknown(&call.name)),
            Ok(arguments) => self.tools.call(&call.name, arguments).await,
        };
        let duration = begin.elapsed();
        let is_error = result.is_err();
        let content = match result {
            Ok(Value::String(text)) => text,
            Ok(value) => value.to_string(),
            Err(error) => json!({ "error": error }).to_string(),
        };
        let content = shorten(self.client.settings().api_key().redact(&content).into_owned());
        let summary = summary(&content);
        (self.on_event)(Event::ToolEnd { id: &call.id, name: &call.name, duration, is_error, summary: &summary });
        content
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<_> = self.specs.iter().map(|spec| spec.name.as_str()).collect();
        match names.as_slice() {
            [] => format!("there is no tool `{name}`, and no other"),
            names => format!("there is no tool `{name}`; there are {}", names.join(", ")),
        }
    }
}

/// A result that is no larger than the model may be given.
fn shorten(mut content: String) -> String {
    if content.len() > MAX_RESULT {
        let total = content.len();
        content.truncate(content.floor_char_boundary(MAX_RESULT));
        content.push_str(&format!("\n[cut off: {MAX_RESULT} of {total} bytes]"));
    }
    content
}

/// The beginning of a result on one line.
fn summary(content: &str) -> String {
    let words = content.split(|each: char| each.is_whitespace() || each.is_control()).filter(|word| !word.is_empty());
    let mut summary = String::new();
    let mut length = 0;
    for word in words {
        if length > 0 {
            summary.push(' ');
        }
        summary.push_str(word);
        length += 1 + word.chars().count();
        if length > SUMMARY {
            break;
        }
    }
    match summary.char_indices().nth(SUMMARY) {
        Some((end, _)) => {
            summary.truncate(summary.char_indices().nth(SUMMARY - 1).map_or(end, |(end, _)| end));
            summary + "…"
        }
        None => summary,
    }
}
