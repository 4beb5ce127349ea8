//! A tenant: its account and its sessions.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use wskill::Runtime;
use wskill::artifact::MemoryArtifacts;
use wskill::executor::SandboxExecutor;
use wskill::repository::Repository;
use wskill::session::state::LoadMode;
use wskill::session::{SessionError, SessionKey, Sessions};
use wskill::tools::{ToolOptions, ToolSpec, Toolset};

use super::budget::{Account, Budget, Refused};
use super::meter::MeteredExecutor;

/// A tenant. Nothing of it is shared with others but the runtime and the skills.
#[derive(Debug)]
pub struct Tenant {
    name: String,
    pub account: Arc<Account>,
    sessions: Sessions,
    most: usize,
    idle: Duration,
    /// Held while a session is opened or removed, so that a name is not both at once.
    open: tokio::sync::Mutex<HashMap<String, Arc<Open>>>,
}

/// A session that is kept. In use while somebody else has it too.
#[derive(Debug)]
pub struct Open {
    pub toolset: Toolset,
    used: Mutex<Instant>,
}

/// Why there is no session for a call.
#[derive(Debug)]
pub enum NoSession {
    Name(String),
    Refused(Refused),
    Failed(SessionError),
}

impl From<SessionError> for NoSession {
    fn from(error: SessionError) -> Self {
        Self::Failed(error)
    }
}

impl Tenant {
    /// A tenant whose files are in a folder of its own.
    ///
    /// # Errors
    /// When its executor cannot be made.
    pub fn new(
        name: &str,
        budget: Budget,
        runtime: Arc<Runtime>,
        repository: Arc<Repository>,
        folder: &Path,
    ) -> Result<Self, SessionError> {
        let account = Arc::new(Account::new(&budget));
        let inner = SandboxExecutor::builder().runtime(runtime).limits(budget.limits()).root(folder).build()?;
        let (most, idle) = (budget.sessions, budget.idle);
        let executor = MeteredExecutor { inner, budget, account: Arc::clone(&account) };
        // Whose turn it is only a chat knows: here what is loaded stays. Artifacts outlive a workspace and are in no
        // budget: none are kept.
        let sessions = Sessions::builder(repository).executor(executor).load_mode(LoadMode::Session);
        let sessions = sessions.artifacts(MemoryArtifacts::default().with_limit(0)).build()?;
        Ok(Self { name: name.to_owned(), account, sessions, most, idle, open: tokio::sync::Mutex::default() })
    }

    /// The tools that a session has.
    pub async fn tools(&self) -> Result<Vec<ToolSpec>, NoSession> {
        // Nothing is kept of a session that nobody has called.
        let session = self.sessions.open(&self.key("tools")?).await?;
        Ok(Toolset::new(session, ToolOptions::default()).specs())
    }

    /// The session of a name, made when it is not there.
    pub async fn session(&self, name: &str) -> Result<Arc<Open>, NoSession> {
        let key = self.key(name)?;
        let mut open = self.open.lock().await;
        if let Some(known) = open.get(name) {
            *known.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            return Ok(Arc::clone(known));
        }
        if open.len() >= self.most {
            self.make_room(&mut open).await?;
        }
        let toolset = Toolset::new(self.sessions.open(&key).await?, ToolOptions::default());
        let session = Arc::new(Open { toolset, used: Mutex::new(Instant::now()) });
        open.insert(name.to_owned(), Arc::clone(&session));
        Ok(session)
    }

    /// Removes a session with its files. Answers whether there was one.
    pub async fn remove(&self, name: &str) -> Result<bool, NoSession> {
        self.key(name)?;
        let mut open = self.open.lock().await;
        match open.get(name) {
            None => Ok(false),
            Some(session) if is_used(session) => {
                let reason = "the session is in use";
                Err(NoSession::Refused(Refused { reason, after: Duration::from_secs(1) }))
            }
            Some(_) => self.forget(&mut open, name).await.map(|()| true),
        }
    }

    /// Removes the session that was used longest ago, if that was long ago.
    async fn make_room(&self, open: &mut HashMap<String, Arc<Open>>) -> Result<(), NoSession> {
        let age = |open: &Open| open.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
        let unused = open.iter().filter(|(_, session)| !is_used(session));
        let oldest = unused.map(|(name, session)| (age(session), name.clone())).max();
        match oldest {
            Some((age, name)) if age >= self.idle => self.forget(open, &name).await,
            oldest => {
                let after = oldest.map_or(Duration::from_secs(1), |(age, _)| self.idle.saturating_sub(age));
                Err(NoSession::Refused(Refused { reason: "too many sessions; delete one", after }))
            }
        }
    }

    async fn forget(&self, open: &mut HashMap<String, Arc<Open>>, name: &str) -> Result<(), NoSession> {
        open.remove(name);
        self.sessions.remove(&self.key(name)?).await?;
        Ok(())
    }

    fn key(&self, name: &str) -> Result<SessionKey, NoSession> {
        SessionKey::new("axum_host", &self.name, name).map_err(|error| NoSession::Name(error.to_string()))
    }
}

fn is_used(session: &Arc<Open>) -> bool {
    Arc::strong_count(session) > 1
}
