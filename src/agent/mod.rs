//! A conversation with a model that calls tools: settings, a client of the chat completions API, and the loop.
//!
//! Nothing here knows skills or the sandbox. [`Agent`] is given [`Tools`] and a [`Prompt`], asks the model over a
//! [`Client`], calls the tools that it wants and asks again, until it answers or may be asked no more. What happens is
//! told as [`Event`]s while it happens, and [`Cancel`] stops it.
//!
//! [`code_blocks()`] finds the code in an answer.
//!
//! # What is trusted
//!
//! The model and its server are not. What they send is bounded, nothing that it names is taken for granted (indexes of
//! calls, ids, sizes), a tool that was not offered is not called, and the key is taken out of everything that comes
//! back: of texts, of errors, and of the [`Transcript`]. The key is sent to the base URL and nowhere else: redirects
//! are not followed, and a `.env` file cannot lead a key of the process elsewhere; see [`Settings`].

mod cancel;
mod client;
mod code_blocks;
mod conversation;
mod dotenv;
mod environment;
mod error;
mod event;
mod interface;
mod run;
mod secret;
mod settings;
mod transcript;

pub use cancel::Cancel;
pub use client::{Client, Completion, Finish, Retries, Timeouts, ToolCall, Usage};
pub use code_blocks::{CodeBlock, code_blocks};
pub use environment::Environment;
pub use error::{AgentError, ClientError, SettingsError};
pub use event::{Event, OnEvent};
pub use interface::{Prompt, ToolSpec, Tools};
pub use run::{Agent, AgentBuilder, DEFAULT_MAX_STEPS, Ending, Run};
pub use secret::Secret;
pub use settings::Settings;
pub use transcript::Transcript;
