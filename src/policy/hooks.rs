//! What an embedder does before and after each call of a tool.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;

/// How long a hook may take, unless set otherwise: a person who is asked needs more, a service less.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(60);
/// Most characters of a panic's message in an error.
const MESSAGE: usize = 200;

/// A call, as hooks see it.
#[derive(Clone, Debug, PartialEq)]
pub struct HookCall {
    /// The session.
    pub session: String,
    /// The tool's name.
    pub tool: String,
    /// The skill that the arguments name.
    pub skill: Option<String>,
    /// The arguments, as hooks before have left them.
    pub arguments: Value,
}

/// What a hook says before a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Before {
    /// Go on.
    Approve,
    /// Do not make the call; the reason is for the model.
    Deny(String),
    /// Go on with these arguments. Tools check them as they check those of the model.
    Rewrite(Value),
}

/// What a hook says after a call.
#[derive(Clone, Debug, PartialEq)]
pub enum After {
    /// The result stays.
    Keep,
    /// This is the result.
    Replace(Value),
}

/// A future that a hook returns.
pub type HookFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Something that is asked before and told after calls. Both have a default that changes nothing.
///
/// ```
/// use std::sync::Arc;
/// use wskill::policy::{Before, Hook, HookCall, HookFuture, Hooks};
///
/// struct ReadOnly;
/// impl Hook for ReadOnly {
///     fn before(&self, call: Arc<HookCall>) -> HookFuture<Before> {
///         Box::pin(async move {
///             match call.tool.as_str() {
///                 "workspace_write" => Before::Deny("nothing is written here".into()),
///                 _ => Before::Approve,
///             }
///         })
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let hooks = Hooks::new().with("read-only", ReadOnly);
/// let call = HookCall {
///     session: "s".into(), tool: "workspace_write".into(), skill: None, arguments: serde_json::json!({}),
/// };
/// let error = hooks.before(call).await.unwrap_err();
/// assert_eq!(error.to_string(), "the hook `read-only` denies the call: nothing is written here");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Hook: Send + Sync + 'static {
    /// Asked before a call.
    fn before(&self, call: Arc<HookCall>) -> HookFuture<Before> {
        let _ = call;
        Box::pin(std::future::ready(Before::Approve))
    }

    /// Told after a call, with its result; not after one that was denied or wrong.
    fn after(&self, call: Arc<HookCall>, result: Arc<Value>) -> HookFuture<After> {
        let _ = (call, result);
        Box::pin(std::future::ready(After::Keep))
    }
}

/// Why hooks let a call or a result not pass. A hook that fails lets nothing pass: it may be the one that guards.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// The hook denies the call.
    #[error("the hook `{hook}` denies the call: {reason}")]
    Denied {
        /// Which hook.
        hook: String,
        /// What it said.
        reason: String,
    },
    /// The hook panicked.
    #[error("the hook `{hook}` panicked: {message}")]
    Panicked {
        /// Which hook.
        hook: String,
        /// The begin of what it panicked with.
        message: String,
    },
    /// The hook took too long.
    #[error("the hook `{hook}` gave no answer within {} s", timeout.as_secs_f64())]
    TimedOut {
        /// Which hook.
        hook: String,
        /// How long it had.
        timeout: Duration,
    },
}

#[derive(Clone)]
struct Named {
    name: String,
    hook: Arc<dyn Hook>,
}

/// Hooks in order. Those before a call run first to last, and the first that denies ends it; those after run in the
/// same order, each with the result that the former left.
///
/// Each hook runs as a task of its own: its panic is an error here, and after [`timeout`](Self::timeout) it is given
/// up. One that blocks its thread can be given up only on a runtime with several.
#[derive(Clone)]
pub struct Hooks {
    hooks: Vec<Named>,
    timeout: Duration,
}

impl Default for Hooks {
    fn default() -> Self {
        Self { hooks: Vec::new(), timeout: HOOK_TIMEOUT }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.hooks.iter().map(|hook| &hook.name)).finish()
    }
}

impl Hooks {
    /// No hooks.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more hook, at the end. The name is in errors.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, hook: impl Hook) -> Self {
        self.hooks.push(Named { name: name.into(), hook: Arc::new(hook) });
        self
    }

    /// With an async closure that is asked before each call.
    #[must_use]
    pub fn with_before<F, R>(self, name: impl Into<String>, before: F) -> Self
    where
        F: Fn(Arc<HookCall>) -> R + Send + Sync + 'static,
        R: Future<Output = Before> + Send + 'static,
    {
        self.with(name, BeforeHook(before))
    }

    /// With an async closure that is told after each call.
    #[must_use]
    pub fn with_after<F, R>(self, name: impl Into<String>, after: F) -> Self
    where
        F: Fn(Arc<HookCall>, Arc<Value>) -> R + Send + Sync + 'static,
        R: Future<Output = After> + Send + 'static,
    {
        self.with(name, AfterHook(after))
    }

    /// How long each hook may take. Default 60 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Asks all hooks; the call as they leave it.
    ///
    /// # Errors
    /// A hook denies the call, panics, or takes too long.
    pub async fn before(&self, call: HookCall) -> Result<HookCall, HookError> {
        let mut call = Arc::new(call);
        for Named { name, hook } in &self.hooks {
            let (hook, shared) = (Arc::clone(hook), Arc::clone(&call));
            match self.run(name, async move { hook.before(shared).await }).await? {
                Before::Approve => {}
                Before::Deny(reason) => return Err(HookError::Denied { hook: name.clone(), reason }),
                Before::Rewrite(arguments) => {
                    call = Arc::new(HookCall { arguments, ..Arc::unwrap_or_clone(call) });
                }
            }
        }
        Ok(Arc::unwrap_or_clone(call))
    }

    /// Tells all hooks; the result as they leave it.
    ///
    /// # Errors
    /// A hook panics or takes too long: the result is withheld, as that hook may be the one that takes out what must
    /// not be seen.
    pub async fn after(&self, call: HookCall, result: Value) -> Result<Value, HookError> {
        let (call, mut result) = (Arc::new(call), Arc::new(result));
        for Named { name, hook } in &self.hooks {
            let (hook, call, shared) = (Arc::clone(hook), Arc::clone(&call), Arc::clone(&result));
            match self.run(name, async move { hook.after(call, shared).await }).await? {
                After::Keep => {}
                After::Replace(other) => result = Arc::new(other),
            }
        }
        Ok(Arc::unwrap_or_clone(result))
    }

    async fn run<T: Send + 'static>(
        &self,
        name: &str,
        hook: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, HookError> {
        // A set, as its tasks end with it: with a call that is given up.
        let mut tasks = JoinSet::new();
        tasks.spawn(hook);
        match tokio::time::timeout(self.timeout, tasks.join_next()).await {
            Ok(Some(Ok(answer))) => Ok(answer),
            Ok(Some(Err(error))) => {
                let message = error.try_into_panic().map_or_else(|_| "it was cancelled".into(), |panic| text(&*panic));
                Err(HookError::Panicked { hook: name.into(), message })
            }
            // A set of one has one to join.
            Ok(None) | Err(_) => Err(HookError::TimedOut { hook: name.into(), timeout: self.timeout }),
        }
    }
}

/// What a panic carries.
fn text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").chars().take(MESSAGE).collect()
}

struct BeforeHook<F>(F);

impl<F, R> Hook for BeforeHook<F>
where
    F: Fn(Arc<HookCall>) -> R + Send + Sync + 'static,
    R: Future<Output = Before> + Send + 'static,
{
    fn before(&self, call: Arc<HookCall>) -> HookFuture<Before> {
        Box::pin(self.0(call))
    }
}

struct AfterHook<F>(F);

impl<F, R> Hook for AfterHook<F>
where
    F: Fn(Arc<HookCall>, Arc<Value>) -> R + Send + Sync + 'static,
    R: Future<Output = After> + Send + 'static,
{
    fn after(&self, call: Arc<HookCall>, result: Arc<Value>) -> HookFuture<After> {
        Box::pin(self.0(call, result))
    }
}
