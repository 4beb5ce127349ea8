//! All sessions of a host.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use super::error::SessionError;
use super::live::Session;
use super::state::{LoadMode, StateDelta};
use super::store::{MemoryStore, SessionFilter, SessionInfo, SessionStore, SessionUpdate};
use crate::artifact::{ArtifactStore, MemoryArtifacts, SessionKey};
use crate::executor::{Executor, SandboxExecutor};
use crate::policy::{TrustMode, TrustStore};
use crate::repository::Repository;

/// Opens sessions: one object for each key, however many ask for it at once.
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use wskill::executor::SandboxExecutor;
/// use wskill::repository::Repository;
/// use wskill::session::{SessionKey, Sessions};
/// use wskill::tools::{ToolOptions, Toolset};
///
/// let repository = Repository::builder().root("skills").build();
/// let executor = SandboxExecutor::builder().in_memory().build()?;
/// let sessions = Sessions::builder(repository).executor(executor).build()?;
/// let session = sessions.open(&SessionKey::new("shop", "anna", "s-1")?).await?;
/// let tools = Toolset::new(session, ToolOptions::default());
/// let call = serde_json::json!({"skill": "python-math", "command": "python3 scripts/fib.py 5 | tail -1"});
/// let result = tools.call("skill_run", call).await?;
/// assert_eq!(result["stdout"], "3\n");
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Sessions(Arc<Shared>);

/// What all sessions of a host have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) repository: Arc<Repository>,
    pub(super) executor: Arc<dyn Executor>,
    pub(super) store: Arc<dyn SessionStore>,
    pub(super) artifacts: Arc<dyn ArtifactStore>,
    pub(super) load_mode: LoadMode,
    pub(super) max_loaded: Option<usize>,
    pub(super) agent: String,
    /// The sandbox's commands, for what skills need; asked for by the first skill that needs some.
    pub(super) commands: OnceLock<BTreeSet<String>>,
    pub(super) host_roots: Vec<PathBuf>,
    pub(super) inputs_folder: Option<PathBuf>,
    pub(super) trust: Option<(TrustMode, TrustStore)>,
    open: Mutex<HashMap<SessionKey, Arc<Slot>>>,
}

/// Where the session of a key is, while somebody has it. Locked while it is being opened.
type Slot = tokio::sync::Mutex<Weak<Session>>;

/// Makes [`Sessions`].
#[derive(Debug)]
pub struct SessionsBuilder {
    repository: Arc<Repository>,
    executor: Option<Arc<dyn Executor>>,
    store: Option<Arc<dyn SessionStore>>,
    artifacts: Option<Arc<dyn ArtifactStore>>,
    load_mode: LoadMode,
    max_loaded: Option<usize>,
    agent: String,
    host_roots: Vec<PathBuf>,
    inputs_folder: Option<PathBuf>,
    trust: Option<(TrustMode, TrustStore)>,
}

impl SessionsBuilder {
    /// Where commands run. Default: a [`SandboxExecutor`] with its defaults.
    #[must_use]
    pub fn executor(mut self, executor: impl Executor + 'static) -> Self {
        self.executor = Some(Arc::new(executor));
        self
    }

    /// Where state is kept. Default: in memory.
    #[must_use]
    pub fn store(mut self, store: impl SessionStore + 'static) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// Where artifacts are kept. Default: in memory.
    #[must_use]
    pub fn artifacts(mut self, artifacts: impl ArtifactStore + 'static) -> Self {
        self.artifacts = Some(Arc::new(artifacts));
        self
    }

    /// How long what is loaded stays. Default: [`LoadMode::Turn`].
    #[must_use]
    pub fn load_mode(mut self, mode: LoadMode) -> Self {
        self.load_mode = mode;
        self
    }

    /// The most skills that are loaded at once; the one used longest ago makes room. Default: no limit.
    #[must_use]
    pub fn max_loaded(mut self, most: usize) -> Self {
        self.max_loaded = Some(most);
        self
    }

    /// The agent's name, when several agents share sessions: each has its own loads. Default: none.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agent = name.into();
        self
    }

    /// Lets calls bring files below this folder of the host into their workspace, as inputs `host://`. Default: none.
    #[must_use]
    pub fn host_root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.host_roots.push(folder.into());
        self
    }

    /// Shows a folder of the host, read-only, as `work/inputs` of each workspace. Inputs of calls go to `work/` then.
    /// Default: none.
    #[must_use]
    pub fn inputs_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.inputs_folder = Some(folder.into());
        self
    }

    /// Runs only skills whose files are trusted as they are. With [`TrustMode::Ask`] a skill that is not is an error too,
    /// which says what to trust: who asks the user then calls [`TrustStore::trust`]. Default: all skills run.
    #[must_use]
    pub fn trust(mut self, mode: TrustMode, store: TrustStore) -> Self {
        self.trust = Some((mode, store));
        self
    }

    /// Makes it.
    ///
    /// # Errors
    /// When no executor was given and the default one cannot be made.
    pub fn build(self) -> Result<Sessions, SessionError> {
        let executor = match self.executor {
            Some(executor) => executor,
            None => Arc::new(SandboxExecutor::builder().build()?),
        };
        Ok(Sessions(Arc::new(Shared {
            repository: self.repository,
            executor,
            store: self.store.unwrap_or_else(|| Arc::new(MemoryStore::default())),
            artifacts: self.artifacts.unwrap_or_else(|| Arc::new(MemoryArtifacts::default())),
            load_mode: self.load_mode,
            max_loaded: self.max_loaded,
            agent: self.agent,
            // One that is not there allows nothing.
            host_roots: self.host_roots.iter().filter_map(|root| root.canonicalize().ok()).collect(),
            inputs_folder: self.inputs_folder,
            trust: self.trust,
            commands: OnceLock::new(),
            open: Mutex::default(),
        })))
    }
}

impl Sessions {
    /// Sessions over a repository of skills.
    pub fn builder(repository: impl Into<Arc<Repository>>) -> SessionsBuilder {
        SessionsBuilder {
            repository: repository.into(),
            executor: None,
            store: None,
            artifacts: None,
            load_mode: LoadMode::default(),
            max_loaded: None,
            agent: String::new(),
            host_roots: Vec::new(),
            inputs_folder: None,
            trust: None,
        }
    }

    /// The session of this key: the one that is open, the one that the store knows, or a new one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn open(&self, key: &SessionKey) -> Result<Arc<Session>, SessionError> {
        let slot = {
            let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.retain(|_, slot| is_used(slot));
            Arc::clone(open.entry(key.clone()).or_default())
        };
        let mut slot = slot.lock().await;
        if let Some(session) = slot.upgrade() {
            return Ok(session);
        }
        let stored = self.0.store.load(key).await?;
        let session = Arc::new(Session::new(key.clone(), Arc::clone(&self.0), stored));
        *slot = Arc::downgrade(&session);
        Ok(session)
    }

    /// Makes a session `new` that begins as another is now, with its state and its files. Artifacts stay with the other.
    /// No command may run in it.
    ///
    /// # Errors
    /// When there is a session `new` already, a command runs, or the executor cannot do it.
    pub async fn fork(&self, session: &Session, new: &SessionKey) -> Result<Arc<Session>, SessionError> {
        if self.0.store.load(new).await?.info.is_some() {
            return Err(SessionError::Exists(new.clone()));
        }
        let workspace = session.workspace().await?;
        let name = super::live::workspace_name(new);
        self.0.executor.fork(workspace.name(), &name).await?;
        let mut state = StateDelta::default();
        for (key, value) in session.state().entries() {
            state.set(key, value.clone());
        }
        let update = SessionUpdate { workspace: Some(name), ..SessionUpdate::default() };
        self.0.store.update(new, &update).await?;
        self.0.store.apply(new, &state).await?;
        self.open(new).await
    }

    /// The sessions that the store knows.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn list(&self, filter: &SessionFilter) -> Result<Vec<SessionInfo>, SessionError> {
        Ok(self.0.store.list(filter).await?)
    }

    /// Deletes a session with its state, workspace and artifacts. Answers whether there was one. Nothing of it may be in
    /// use.
    ///
    /// # Errors
    /// When a part of it cannot be deleted; calling it again goes on.
    #[tracing::instrument(name = "workspace.cleanup", skip_all, fields(exec_id = key.session()))]
    pub async fn remove(&self, key: &SessionKey) -> Result<bool, SessionError> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
        let stored = self.0.store.load(key).await?;
        if let Some(workspace) = stored.info.and_then(|info| info.workspace) {
            self.0.executor.remove(&workspace).await?;
        }
        self.0.artifacts.delete_session(key).await?;
        // Last, so that a failure before can be made good.
        Ok(self.0.store.delete(key).await?)
    }

    /// Deletes sessions that were not used for so long and are not open. Answers how many.
    ///
    /// # Errors
    /// When one of them cannot be deleted.
    pub async fn sweep(&self, unused_for: Duration) -> Result<usize, SessionError> {
        let before = SystemTime::now().checked_sub(unused_for);
        let mut count = 0;
        for info in self.0.store.list(&SessionFilter::default()).await? {
            let is_open = {
                let open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
                open.get(&info.key).is_some_and(is_used)
            };
            if !is_open && before.is_some_and(|before| info.updated < before) && self.remove(&info.key).await? {
                count += 1;
            }
        }
        Ok(count)
    }
}

/// Whether somebody has the session, or is opening it.
fn is_used(slot: &Arc<Slot>) -> bool {
    Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|session| session.strong_count() > 0)
}
