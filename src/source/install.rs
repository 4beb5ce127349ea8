//! Installing: copies of skills under a root, with a lock file that tells where each came from.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::cache::{Cache, Resolved, blocking};
use super::digest::{Sha256Sum, digest_of};
use super::error::SourceError;
use super::find::{skill_name, skills_in};
use super::limits::Limits;
use super::lock::{LockFile, LockedSkill, is_folder_name, timestamp};
use super::spec::Source;
use super::swap::{exchange, place};
use super::temporary::{self, Temporary};
use super::tree::{Tree, Which};

/// Installs skills into a root, `./skills` by default, and keeps its `skills.lock`.
///
/// Every change is prepared beside the root's skills and then put in place in one step, with what was there kept until
/// the lock file is written; processes that change one root wait for each other. Skills that stand in the root without
/// being in the lock file, such as ones written there, are never touched.
///
/// ```no_run
/// use wskill::source::{Cache, Installer, Source};
///
/// # async fn example() -> Result<(), wskill::source::SourceError> {
/// let installer = Installer::new("skills", Cache::builder().open()?);
/// installer.add(&Source::parse("https://example.com/pdf-forms.skill")?, &[]).await?;
/// for update in installer.update(None, false).await? {
///     println!("{}: {:?}", update.name, update.difference);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Installer {
    root: PathBuf,
    cache: Cache,
    discard_changes: bool,
}

/// What has become of one skill in [`Installer::update`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Update {
    /// The skill.
    pub name: String,
    /// Whether it is up to date.
    pub state: UpdateState,
    /// What the source has otherwise than the installed folder.
    pub difference: Difference,
}

/// See [`Update`].
#[derive(Debug)]
#[non_exhaustive]
pub enum UpdateState {
    /// The source has what is installed.
    Current,
    /// The source has what was installed, and the folder here was changed since.
    Edited,
    /// The source has something else, which was not trusted and not installed.
    Changed,
    /// The new files are installed.
    Updated,
    /// The source could not be had, or the folder cannot be replaced.
    Failed(SourceError),
}

/// Files that differ, by their names in the skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// New ones.
    pub added: Vec<String>,
    /// Ones that are no longer there.
    pub removed: Vec<String>,
    /// Ones with another content or execute right.
    pub changed: Vec<String>,
}

impl Difference {
    /// Whether everything is equal.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }

    fn between(former: &Tree, new: &Tree) -> Result<Self, SourceError> {
        let (mut former, mut difference) = (contents(former)?, Self::default());
        for (name, content) in contents(new)? {
            match former.remove(&name) {
                None => difference.added.push(name),
                Some(other) if other != content => difference.changed.push(name),
                Some(_) => {}
            }
        }
        difference.removed = former.into_keys().collect();
        Ok(difference)
    }
}

/// What [`Difference`] compares.
fn contents(tree: &Tree) -> Result<BTreeMap<String, (Sha256Sum, bool)>, SourceError> {
    let content = |file: &super::tree::TreeFile| {
        let sum = File::open(&file.path).and_then(Sha256Sum::of_reader);
        let sum = sum.map_err(|error| SourceError::io("read", &file.path, error))?;
        Ok((file.name.clone(), (sum, file.executable)))
    };
    tree.files.iter().map(content).collect()
}

impl Installer {
    /// Installs into `root`, which is made when it is needed, from sources that `cache` resolves.
    pub fn new(root: impl Into<PathBuf>, cache: Cache) -> Self {
        Self { root: root.into(), cache, discard_changes: false }
    }

    /// Whether installed skills that were edited may be replaced and removed. Default: no.
    #[must_use]
    pub fn discard_changes(mut self, discard: bool) -> Self {
        self.discard_changes = discard;
        self
    }

    /// Where skills are installed.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What is installed.
    ///
    /// # Errors
    ///
    /// [`SourceError::Lock`].
    pub fn installed(&self) -> Result<LockFile, SourceError> {
        LockFile::read(&self.root)
    }

    /// Installs the skills of `source` that `names` names, or all of them. A skill's folder is named as its front
    /// matter says, or else as it is in the source. What is installed from the same source already stays as it is.
    ///
    /// # Errors
    ///
    /// [`SourceError::NoSkill`], [`SourceError::NotInSource`], [`SourceError::SameName`], [`SourceError::Name`];
    /// [`SourceError::Exists`], [`SourceError::OtherSource`] and [`SourceError::Outdated`] when the folder is taken;
    /// [`SourceError::Lock`]; and those of [`Cache::resolve`]. Either all are installed or none.
    pub async fn add(&self, source: &Source, names: &[String]) -> Result<Vec<LockedSkill>, SourceError> {
        let resolved = self.cache.fetch(source).await?;
        let (this, source, names) = (self.clone(), source.clone(), names.to_vec());
        blocking(move || this.install(&source, &resolved, &names)).await
    }

    /// Removes an installed skill.
    ///
    /// # Errors
    ///
    /// [`SourceError::NotInstalled`]; [`SourceError::Modified`] when it was edited; [`SourceError::Lock`] and
    /// [`SourceError::Io`].
    pub async fn remove(&self, name: &str) -> Result<LockedSkill, SourceError> {
        let (this, name) = (self.clone(), name.to_owned());
        blocking(move || this.uninstall(&name)).await
    }

    /// Asks the sources of all installed skills, or of one, whether they have something else now. What differs is told;
    /// it is installed only with `trust`. A source that cannot be had fails its own skills and no others.
    ///
    /// # Errors
    ///
    /// [`SourceError::NotInstalled`], [`SourceError::Lock`]; with `name`, whatever fails for it.
    pub async fn update(&self, name: Option<&str>, trust: bool) -> Result<Vec<Update>, SourceError> {
        let lock = self.installed()?;
        let wanted: Vec<LockedSkill> = match name {
            None => lock.skills,
            Some(name) => vec![lock.get(name).cloned().ok_or_else(|| not_installed(&lock, name))?],
        };
        let mut updates = Vec::new();
        let mut asked = BTreeMap::new();
        for skill in wanted {
            let update = match self.update_one(&skill, trust, &mut asked).await {
                Ok(update) => update,
                Err(error) if name.is_some() => return Err(error),
                Err(error) => {
                    Update { name: skill.name, state: UpdateState::Failed(error), difference: Difference::default() }
                }
            };
            updates.push(update);
        }
        Ok(updates)
    }

    /// `asked` has the sources that were resolved for other skills, so that a collection is asked for once.
    async fn update_one(
        &self,
        skill: &LockedSkill,
        trust: bool,
        asked: &mut BTreeMap<String, Resolved>,
    ) -> Result<Update, SourceError> {
        let resolved = match asked.get(&skill.source) {
            Some(resolved) => resolved.clone(),
            None => {
                let resolved = self.cache.refreshing().fetch(&Source::parse(&skill.source)?).await?;
                asked.insert(skill.source.clone(), resolved.clone());
                resolved
            }
        };
        let (this, skill) = (self.clone(), skill.clone());
        blocking(move || this.replace(&skill.name, &resolved, trust)).await
    }

    fn install(
        &self,
        source: &Source,
        resolved: &Resolved,
        wanted: &[String],
    ) -> Result<Vec<LockedSkill>, SourceError> {
        let found = found(source, resolved, wanted)?;
        let _guard = self.guard()?;
        let mut lock = LockFile::read(&self.root)?;
        let temporary = Temporary::make(&self.root, temporary::BESIDE)?;
        let source_text = lasting(source)?;
        let (mut staged, mut all) = (Vec::new(), Vec::new());
        for (name, path) in found {
            let draft = temporary.path().join(&name);
            let origin = resolved.folder.join(&path);
            let inside = origin
                .canonicalize()
                .is_ok_and(|origin| self.root.canonicalize().is_ok_and(|root| root.starts_with(origin)));
            if inside {
                return Err(SourceError::RootInside { root: self.root.clone(), skill: origin });
            }
            let tree = self.stage(&origin, &draft)?;
            let skill = LockedSkill {
                name,
                source: source_text.clone(),
                path,
                sha256: digest_of(&tree)?,
                archive_sha256: resolved.sha256,
                fetched: timestamp(),
            };
            match self.standing(&lock, &skill, &tree)? {
                Some(former) => all.push(former),
                None => {
                    staged.push((draft, self.root.join(&skill.name)));
                    lock.set(skill.clone());
                    all.push(skill);
                }
            }
        }
        let mut placed = Vec::new();
        let mut put = || {
            for (draft, target) in &staged {
                place(draft, target).map_err(|error| match error.kind() {
                    io::ErrorKind::AlreadyExists => SourceError::Exists { path: target.clone() },
                    _ => SourceError::io("write", target, error),
                })?;
                placed.push((draft, target));
            }
            if staged.is_empty() { Ok(()) } else { lock.write(&self.root) }
        };
        if let Err(error) = put() {
            for (draft, target) in placed {
                let _ = fs::rename(target, draft);
            }
            return Err(error);
        }
        Ok(all)
    }

    /// What stands where `skill` is to be installed: nothing, or just that.
    fn standing(&self, lock: &LockFile, skill: &LockedSkill, new: &Tree) -> Result<Option<LockedSkill>, SourceError> {
        let target = self.root.join(&skill.name);
        match lock.get(&skill.name) {
            None if fs::symlink_metadata(&target).is_ok() => Err(SourceError::Exists { path: target }),
            None => Ok(None),
            Some(former) if !same_origin(former, skill) => {
                Err(SourceError::OtherSource { name: skill.name.clone(), installed: former.source.clone() })
            }
            // Removed by hand: installed again.
            Some(_) if !target.exists() => Ok(None),
            Some(former) => {
                if Difference::between(&self.tree(&target)?, new)?.is_empty() {
                    Ok(Some(former.clone()))
                } else {
                    Err(SourceError::Outdated { name: skill.name.clone() })
                }
            }
        }
    }

    fn uninstall(&self, name: &str) -> Result<LockedSkill, SourceError> {
        let _guard = self.guard()?;
        let mut lock = LockFile::read(&self.root)?;
        let skill = lock.get(name).cloned().ok_or_else(|| not_installed(&lock, name))?;
        let target = self.root.join(name);
        let is_there = fs::symlink_metadata(&target).is_ok();
        if is_there {
            self.check_unchanged(&target, &skill)?;
        }
        let temporary = Temporary::make(&self.root, temporary::BESIDE)?;
        let aside = temporary.path().join(name);
        let failed = |error| SourceError::io("remove", &target, error);
        if is_there {
            fs::rename(&target, &aside).map_err(failed)?;
        }
        lock.skills.retain(|other| other.name != name);
        if let Err(error) = lock.write(&self.root) {
            let _ = fs::rename(&aside, &target);
            return Err(error);
        }
        Ok(skill)
    }

    fn replace(&self, name: &str, resolved: &Resolved, trust: bool) -> Result<Update, SourceError> {
        let _guard = self.guard()?;
        let mut lock = LockFile::read(&self.root)?;
        // Somebody may have removed it meanwhile.
        let former = lock.get(name).cloned().ok_or_else(|| not_installed(&lock, name))?;
        let origin = resolved.folder.join(&former.path);
        if !super::find::is_skill(&origin) {
            let source_text =
                if former.path.is_empty() { former.source } else { format!("{}: {}", former.source, former.path) };
            return Err(SourceError::NoSkill { source_text });
        }
        let temporary = Temporary::make(&self.root, temporary::BESIDE)?;
        let draft = temporary.path().join(name);
        let new = self.stage(&origin, &draft)?;
        let target = self.root.join(name);
        let is_there = target.is_dir();
        let standing = if is_there { self.tree(&target)? } else { Tree { files: Vec::new() } };
        let difference = Difference::between(&standing, &new)?;
        let update = |state, difference| Ok(Update { name: name.to_owned(), state, difference });
        let skill = LockedSkill {
            sha256: digest_of(&new)?,
            archive_sha256: resolved.sha256,
            fetched: timestamp(),
            ..former.clone()
        };
        if difference.is_empty() {
            if skill.sha256 != former.sha256 {
                // The process that installed it ended before it could tell.
                lock.set(skill);
                lock.write(&self.root)?;
            }
            return update(UpdateState::Current, difference);
        }
        let source_changed = skill.sha256 != former.sha256 || digest_of(&standing)? == former.sha256;
        if is_there && !source_changed && !self.discard_changes {
            return update(UpdateState::Edited, difference);
        }
        if !trust {
            return update(UpdateState::Changed, difference);
        }
        if is_there {
            self.check_unchanged(&target, &former)?;
        }
        let failed = |error| SourceError::io("replace", &target, error);
        if is_there { exchange(&draft, &target) } else { place(&draft, &target) }.map_err(failed)?;
        lock.set(skill);
        if let Err(error) = lock.write(&self.root) {
            let _ = if is_there { exchange(&draft, &target) } else { fs::rename(&target, &draft) };
            return Err(error);
        }
        update(UpdateState::Updated, difference)
    }

    /// Copies a skill to where it waits for its place.
    fn stage(&self, from: &Path, to: &Path) -> Result<Tree, SourceError> {
        self.tree(from)?.copy(to)?;
        // What counts is what was copied.
        self.tree(to)
    }

    fn tree(&self, folder: &Path) -> Result<Tree, SourceError> {
        Tree::read(folder, Which::Installed, self.limits())
    }

    fn limits(&self) -> &Limits {
        self.cache.limits()
    }

    fn check_unchanged(&self, target: &Path, skill: &LockedSkill) -> Result<(), SourceError> {
        let is_unchanged = || Ok(target.is_dir() && digest_of(&self.tree(target)?)? == skill.sha256);
        if self.discard_changes || is_unchanged()? {
            Ok(())
        } else {
            Err(SourceError::Modified { path: target.to_owned() })
        }
    }

    /// Makes the root, waits until no other process changes it, and cleans up after those that ended in the middle.
    fn guard(&self) -> Result<File, SourceError> {
        let failed = |error| SourceError::io("use", &self.root, error);
        fs::create_dir_all(&self.root).map_err(failed)?;
        let file = open_guard(&self.root).map_err(failed)?;
        // On file systems without locks changes are still put in place in one step each.
        let _ = file.lock();
        temporary::clean(&self.root, temporary::BESIDE);
        Ok(file)
    }
}

/// The folder itself can be locked, and nothing has to lie around for it.
#[cfg(unix)]
fn open_guard(root: &Path) -> io::Result<File> {
    File::open(root)
}

#[cfg(not(unix))]
fn open_guard(root: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(root.join(".wskill.lock"))
}

/// The wanted skills of a source: their names and where they are in it.
fn found(source: &Source, resolved: &Resolved, wanted: &[String]) -> Result<Vec<(String, String)>, SourceError> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    for path in skills_in(&resolved.folder)? {
        let folder = resolved.folder.join(&path);
        let name = name_of(&folder)?;
        if let Some(first) = found.insert(name.clone(), path.clone()) {
            return Err(SourceError::SameName { source_text: source.to_string(), name, first, second: path });
        }
    }
    if found.is_empty() {
        return Err(SourceError::NoSkill { source_text: source.to_string() });
    }
    if let Some(name) = wanted.iter().find(|name| !found.contains_key(*name)) {
        return Err(SourceError::NotInSource {
            source_text: source.to_string(),
            name: name.clone(),
            available: found.into_keys().collect(),
        });
    }
    if !wanted.is_empty() {
        found.retain(|name, _| wanted.contains(name));
    }
    Ok(found.into_iter().collect())
}

fn name_of(folder: &Path) -> Result<String, SourceError> {
    let own = skill_name(folder);
    let folder_name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut names = own.clone().into_iter().chain(folder_name.clone());
    match names.find(|name| is_folder_name(name)) {
        Some(name) => Ok(name),
        None => Err(SourceError::Name { name: own.or(folder_name).unwrap_or_default() }),
    }
}

/// The source as it is found again from anywhere.
fn lasting(source: &Source) -> Result<String, SourceError> {
    match source.place() {
        super::spec::Place::Url(_) => Ok(source.to_string()),
        super::spec::Place::Path(path) => {
            let path = path.canonicalize().map_err(|error| SourceError::io("read", path, error))?;
            Ok(source.with_path(path).to_string())
        }
    }
}

/// Whether two records have one source, whatever is pinned.
fn same_origin(one: &LockedSkill, other: &LockedSkill) -> bool {
    let source = |skill: &LockedSkill| Source::parse(&skill.source).map(|source| source.without_pin()).ok();
    one.path == other.path && source(one) == source(other)
}

fn not_installed(lock: &LockFile, name: &str) -> SourceError {
    SourceError::NotInstalled { name: name.to_owned(), installed: lock.names() }
}
