//! A session that is open.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use tokio::sync::OnceCell;
use tracing::Span;

use super::error::SessionError;
use super::registry::Shared;
use super::state::{
    CallArtifacts, DeclaredError, KnownSkill, LoadRequest, Loaded, Selection, Skills, State, StateDelta,
};
use super::store::{SessionUpdate, StoredSession};
use crate::artifact::{Artifact, ArtifactName, ArtifactRef, SavedArtifact, SessionKey};
use crate::executor::{Link, StagedSkill, Workspace};
use crate::policy::TrustDecision;
use crate::repository::{Caller, Entry, View};
use crate::skill::{Host, Skill};
use crate::source::{Sha256Sum, tree_digest, trust_digest};
use crate::workspace::{
    INPUTS, InputError, InputSource, InputSpec, Metadata, OutputRecord, SkillRecord, StagedInput, now_ms, stage,
};

/// The system that scripts see in the sandbox.
const SANDBOX_OS: &str = "linux";

/// A session: its state, its workspace and its artifacts. All methods may be called at once.
#[derive(Debug)]
pub struct Session {
    key: SessionKey,
    shared: Arc<Shared>,
    state: Mutex<State>,
    /// Changes are stored one after the other, in the order in which they are merged.
    changing: tokio::sync::Mutex<()>,
    /// The workspace's name, once it has one.
    workspace_name: Mutex<Option<String>>,
    workspace: OnceCell<Arc<dyn Workspace>>,
    metadata: tokio::sync::Mutex<Metadata>,
    /// The digests of skills that were staged, by name, with the state of their SKILL.md then.
    staged: Mutex<HashMap<String, (Stamp, String)>>,
    warnings: Mutex<Vec<String>>,
    runs: AtomicU64,
    extensions: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Session {
    pub(super) fn new(key: SessionKey, shared: Arc<Shared>, stored: StoredSession) -> Self {
        Self {
            key,
            shared,
            state: Mutex::new(stored.state),
            changing: tokio::sync::Mutex::default(),
            workspace_name: Mutex::new(stored.info.and_then(|info| info.workspace)),
            workspace: OnceCell::new(),
            metadata: tokio::sync::Mutex::default(),
            staged: Mutex::default(),
            warnings: Mutex::default(),
            runs: AtomicU64::new(0),
            extensions: Mutex::default(),
        }
    }

    /// Whose it is.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// What another module keeps with the session: one value of each type, made when it is asked for first.
    pub(crate) fn extension<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        let mut extensions = self.extensions.lock().unwrap_or_else(PoisonError::into_inner);
        let value = extensions.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // What is under a type's id is of that type.
        Arc::clone(value).downcast().unwrap_or_default()
    }

    /// The skills that it sees now.
    pub fn view(&self) -> View {
        let (app, user, session) = (self.key.app(), self.key.user(), self.key.session());
        self.shared.repository.view(Caller { app, user, session })
    }

    /// Opens a skill that it sees.
    ///
    /// # Errors
    /// When there is none of this name, or it cannot be read.
    pub fn open_skill(&self, name: &str) -> Result<Skill, SessionError> {
        Ok(self.view().open(name.trim())?)
    }

    /// Whether a skill has in the sandbox what it needs.
    ///
    /// # Errors
    /// When the skill cannot be read.
    pub fn is_available(&self, entry: &Entry) -> Result<bool, SessionError> {
        if !entry.summary().has_requirements() {
            return Ok(true);
        }
        let skill = self.open_skill(entry.name())?;
        let commands = self.shared.commands.get_or_init(|| self.shared.executor.commands().into_iter().collect());
        let host = Host {
            commands: &|name: &str| commands.contains(name),
            env: &|_| false,
            config: &|_| false,
            os: SANDBOX_OS,
        };
        Ok(skill.manifest().requirements().unwrap_or_default().unmet(&host).is_empty())
    }
}

/// What is loaded.
impl Session {
    /// The state as it is now.
    pub fn state(&self) -> State {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The loaded skills, the one used last at the end.
    pub fn loaded(&self) -> Vec<Loaded> {
        self.with_skills(|skills| skills.loaded())
    }

    /// Whether a skill is loaded.
    pub fn is_loaded(&self, skill: &str) -> bool {
        self.with_skills(|skills| skills.is_loaded(skill))
    }

    fn with_skills<T>(&self, look: impl FnOnce(&Skills<'_>) -> T) -> T {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        look(&state.skills(&self.shared.agent, self.shared.load_mode))
    }

    /// Changes the state: keeps the change in the store and merges it. Answers the change.
    ///
    /// # Errors
    /// When the store cannot keep it; then nothing has changed.
    pub async fn change(&self, change: impl FnOnce(&Skills<'_>) -> StateDelta) -> Result<StateDelta, SessionError> {
        let _turn = self.changing.lock().await;
        let delta = self.with_skills(change);
        if !delta.is_empty() {
            self.shared.store.apply(&self.key, &delta).await?;
            self.state.lock().unwrap_or_else(PoisonError::into_inner).apply(&delta);
        }
        Ok(delta)
    }

    /// Unloads what is more than may be loaded at once.
    ///
    /// # Errors
    /// As [`change`](Self::change).
    pub async fn limit_loaded(&self) -> Result<StateDelta, SessionError> {
        match self.shared.max_loaded {
            Some(most) => self.change(|skills| skills.evict(most).1).await,
            None => Ok(StateDelta::default()),
        }
    }

    /// Begins a turn, that is the work on one message of the user: what was loaded for the last one is gone.
    ///
    /// # Errors
    /// As [`change`](Self::change).
    pub async fn begin_turn(&self) -> Result<StateDelta, SessionError> {
        self.change(|skills| skills.begin_turn()).await
    }

    /// Ends a prompt: what was loaded for one prompt is gone.
    ///
    /// # Errors
    /// As [`change`](Self::change).
    pub async fn end_prompt(&self) -> Result<StateDelta, SessionError> {
        self.change(|skills| skills.end_prompt()).await
    }

    /// Loads what the caller asks for before the model does: all or nothing, once in a turn.
    ///
    /// # Errors
    /// When one of the skills or documents is not there, or the store fails.
    pub async fn load(&self, requests: &[LoadRequest]) -> Result<StateDelta, SessionError> {
        let view = self.view();
        let known = |name: &str| {
            let skill = view.open(name).ok()?;
            let documents = skill.documents().into_iter().map(|document| document.path).collect();
            let tools = if skill.tools().is_empty() { Selection::None } else { Selection::All };
            Some(KnownSkill { documents, tools })
        };
        let mut failed: Option<DeclaredError> = None;
        let delta = self
            .change(|skills| match skills.apply_declared(requests, self.shared.max_loaded, known) {
                Ok(delta) => delta,
                Err(error) => {
                    failed = Some(error);
                    StateDelta::default()
                }
            })
            .await?;
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(delta),
        }
    }
}

/// The workspace.
impl Session {
    /// The workspace, made when there is none yet.
    ///
    /// # Errors
    /// When it cannot be made, or its name cannot be kept.
    pub async fn workspace(&self) -> Result<Arc<dyn Workspace>, SessionError> {
        let workspace = self.workspace.get_or_try_init(|| self.open_workspace()).await?;
        Ok(Arc::clone(workspace))
    }

    #[tracing::instrument(name = "workspace.create", skip_all, fields(exec_id = self.key.session(), path))]
    async fn open_workspace(&self) -> Result<Arc<dyn Workspace>, SessionError> {
        let known = self.workspace_name.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (name, is_new) = match known {
            Some(name) => (name, false),
            None => (workspace_name(&self.key), true),
        };
        Span::current().record("path", &name);
        let workspace = self.shared.executor.open(&name).await?;
        if is_new {
            let update = SessionUpdate { workspace: Some(name.clone()), ..SessionUpdate::default() };
            self.shared.store.update(&self.key, &update).await?;
            *self.workspace_name.lock().unwrap_or_else(PoisonError::into_inner) = Some(name);
        }
        if let Some(folder) = &self.shared.inputs_folder {
            workspace.link(&Link { host: folder.clone(), path: INPUTS.to_owned() }).await?;
        }
        let (mut metadata, warning) = Metadata::read(&*workspace).await?;
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(warning);
        // Views of the host are not in the tree, and must be allowed still.
        let links: Vec<InputSpec> = metadata.links();
        for link in &links {
            if let Err((_, error)) = stage(&*workspace, &Inputs(self), &mut metadata, std::slice::from_ref(link)).await
            {
                self.warn(format!("the input `{}` is no longer in the workspace: {error}", link.text));
            }
        }
        if is_new {
            metadata.write(&*workspace).await?;
        }
        *self.metadata.lock().await = metadata;
        Ok(workspace)
    }

    pub(super) fn warn(&self, text: String) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// What went wrong without stopping anything since this was asked last.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes a skill visible in the workspace, and answers the workspace.
    ///
    /// # Errors
    /// When the skill cannot be staged.
    #[tracing::instrument(name = "workspace.stage.dir", skip_all, fields(
        exec_id = self.key.session(), host_path = %skill.folder().display(), to = skill.name(), mount_used,
    ))]
    pub async fn stage(&self, skill: &Skill) -> Result<Arc<dyn Workspace>, SessionError> {
        let workspace = self.workspace().await?;
        Span::current().record("mount_used", workspace.mounts_skills());
        let name = skill.name();
        let stamp = Stamp::of(skill);
        let known = self.staged.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some((_, digest)) = known.filter(|(known, _)| *known == stamp) {
            let staged = StagedSkill { name: name.to_owned(), folder: skill.folder().to_owned(), digest };
            workspace.stage(&staged).await?;
            return Ok(workspace);
        }
        let folder = skill.folder().to_owned();
        let digest = tokio::task::spawn_blocking(move || tree_digest(&folder)).await;
        let digest = match digest {
            Ok(digest) => digest.map_err(|source| SessionError::Digest { skill: name.to_owned(), source })?.to_string(),
            // The task was cancelled: the host is going down.
            Err(_) => String::new(),
        };
        self.check_trust(skill)?;
        let staged = StagedSkill { name: name.to_owned(), folder: skill.folder().to_owned(), digest: digest.clone() };
        workspace.stage(&staged).await?;
        let record = SkillRecord {
            name: name.to_owned(),
            rel_path: format!("skills/{name}"),
            digest: digest.clone(),
            mounted: workspace.mounts_skills(),
            staged_at: now_ms(),
        };
        let mut metadata = self.metadata.lock().await;
        if metadata.skills.get(name).is_none_or(|known| known.digest != digest) {
            metadata.skills.insert(name.to_owned(), record);
            metadata.write(&*workspace).await?;
        }
        self.staged.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), (stamp, digest));
        Ok(workspace)
    }

    /// Whether a skill may run as it is now.
    fn check_trust(&self, skill: &Skill) -> Result<(), SessionError> {
        let Some((mode, store)) = &self.shared.trust else { return Ok(()) };
        let failed = |source| SessionError::Digest { skill: skill.name().to_owned(), source };
        let digest = trust_digest(skill.folder()).map_err(failed)?;
        match store.verdict(skill.name(), &digest)?.decide(*mode, skill.name()) {
            TrustDecision::Use => Ok(()),
            TrustDecision::Ask(reason) | TrustDecision::Refuse(reason) => Err(SessionError::Untrusted(reason)),
        }
    }

    /// The digest of a skill's files when it was staged, if it was.
    pub fn staged_digest(&self, skill: &str) -> Option<Sha256Sum> {
        self.staged.lock().unwrap_or_else(PoisonError::into_inner).get(skill)?.1.parse().ok()
    }

    /// Keeps the workspace's files as they are now, and answers a name for [`rollback`](Self::rollback). No command may
    /// run.
    ///
    /// # Errors
    /// When a command runs, or the executor cannot do it.
    pub async fn snapshot(&self) -> Result<String, SessionError> {
        Ok(self.workspace().await?.snapshot().await?)
    }

    /// Goes back to a snapshot: what has changed in the workspace since is gone. The state and artifacts stay.
    ///
    /// # Errors
    /// As [`snapshot`](Self::snapshot), and when there is none of this name.
    pub async fn rollback(&self, snapshot: &str) -> Result<(), SessionError> {
        let workspace = self.workspace().await?;
        workspace.rollback(snapshot).await?;
        let (metadata, warning) = Metadata::read(&*workspace).await?;
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(warning);
        *self.metadata.lock().await = metadata;
        Ok(())
    }

    /// Forgets a snapshot, and gives back what only it needs. No command may run.
    ///
    /// # Errors
    /// As [`rollback`](Self::rollback).
    pub async fn forget(&self, snapshot: &str) -> Result<(), SessionError> {
        Ok(self.workspace().await?.forget(snapshot).await?)
    }

    /// Makes the folder of a new run, and answers its path in the workspace: `runs/run_<milliseconds>_<number>`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub async fn new_run(&self, workspace: &dyn Workspace) -> Result<String, SessionError> {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let run = format!("runs/run_{}_{number}", now_ms());
        workspace.make_folder(&run).await?;
        Ok(run)
    }

    /// Brings inputs into the workspace and records them.
    ///
    /// # Errors
    /// The workspace's failures; the inner result has the number of the first input that cannot be had, and why.
    #[tracing::instrument(name = "workspace.stage.files", skip_all, fields(
        exec_id = self.key.session(), count = inputs.len(),
    ))]
    pub async fn stage_inputs(
        &self,
        workspace: &dyn Workspace,
        inputs: &[InputSpec],
    ) -> Result<Result<Vec<StagedInput>, (usize, InputError)>, SessionError> {
        let mut metadata = self.metadata.lock().await;
        let staged = stage(workspace, &Inputs(self), &mut metadata, inputs).await;
        // What came before a failure is there too.
        metadata.write(workspace).await?;
        Ok(staged)
    }

    /// Records outputs that were asked for.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub async fn record_outputs(&self, record: OutputRecord) -> Result<(), SessionError> {
        let workspace = self.workspace().await?;
        let mut metadata = self.metadata.lock().await;
        metadata.add_outputs(record);
        Ok(metadata.write(&*workspace).await?)
    }

    /// What is recorded of the workspace.
    pub async fn metadata(&self) -> Metadata {
        self.metadata.lock().await.clone()
    }
}

/// Artifacts.
impl Session {
    /// Saves a new version of an artifact and answers its number, from 0.
    ///
    /// # Errors
    /// When the name is none, or the store does not take it.
    pub async fn save_artifact(&self, name: &str, bytes: Vec<u8>, mime: &str) -> Result<u64, SessionError> {
        let name = ArtifactName::new(name)?;
        Ok(self.shared.artifacts.save(&self.key, &name, bytes, mime).await?)
    }

    /// Loads an artifact: the newest version when none is given.
    ///
    /// # Errors
    /// When there is none.
    pub async fn load_artifact(&self, artifact: &ArtifactRef) -> Result<Artifact, SessionError> {
        Ok(self.shared.artifacts.load(&self.key, artifact.name(), artifact.version()).await?)
    }

    /// Remembers in the state which artifacts a call saved.
    ///
    /// # Errors
    /// As [`change`](Self::change).
    pub async fn remember_artifacts(
        &self,
        tool_call_id: &str,
        artifacts: Vec<SavedArtifact>,
    ) -> Result<StateDelta, SessionError> {
        if artifacts.is_empty() {
            return Ok(StateDelta::default());
        }
        let saved = CallArtifacts { tool_call_id: tool_call_id.to_owned(), artifacts };
        self.change(|_| saved.delta()).await
    }
}

/// By what a skill's folder is taken for the one that it was: its path, and length and time of its SKILL.md.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp(PathBuf, Option<(u64, SystemTime)>);

impl Stamp {
    fn of(skill: &Skill) -> Self {
        let metadata = std::fs::metadata(skill.path()).ok();
        let state = metadata.and_then(|metadata| Some((metadata.len(), metadata.modified().ok()?)));
        Self(skill.folder().to_owned(), state)
    }
}

/// What inputs of a session come from.
struct Inputs<'a>(&'a Session);

#[async_trait]
impl InputSource for Inputs<'_> {
    async fn artifact(&self, artifact: &ArtifactRef) -> Result<Artifact, String> {
        self.0.load_artifact(artifact).await.map_err(|error| error.to_string())
    }

    fn skill(&self, name: &str) -> Result<PathBuf, String> {
        self.0.open_skill(name).map(|skill| skill.folder().to_owned()).map_err(|error| error.to_string())
    }

    fn roots(&self) -> &[PathBuf] {
        &self.0.shared.host_roots
    }

    fn shows_inputs_folder(&self) -> bool {
        self.0.shared.inputs_folder.is_some()
    }
}

/// `ws_<session>_<time>`: a plain name of a folder.
pub(super) fn workspace_name(key: &SessionKey) -> String {
    const LONGEST: usize = 64;
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let session: String = key.session().chars().take(LONGEST).map(plain).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    // Two sessions whose names are alike may begin at once.
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("ws_{session}_{now}_{}_{number}", std::process::id())
}
