//! Looking through roots for skills, and looking again for little.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entry::Entry;
use super::report::{FOLDER_LIMIT, Reason, Report};
use super::stamp::Stamp;
use crate::skill::{COLLECTION_DEPTH, FILE_NAMES, IGNORED_FOLDERS, Summary};

/// From how many on a list is shared among threads.
const MANY: usize = 256;
/// Most threads that look: the file system's locks leave nothing for more.
const THREADS: usize = 8;

/// What was found, with all that is needed to notice changes.
#[derive(Default)]
pub struct Scan {
    done: bool,
    roots: Vec<PathBuf>,
    skills: Vec<Found>,
    /// Folders whose list of entries matters, as they were.
    folders: Vec<(PathBuf, Stamp)>,
    /// Roots and links, with where they led; `None`: nowhere.
    links: Vec<(PathBuf, Option<PathBuf>)>,
    reports: Vec<Report>,
}

/// A SKILL.md.
#[derive(Clone)]
struct Found {
    file: Box<Path>,
    /// The index of its root.
    root: usize,
    stamp: Stamp,
    content: Result<Arc<Entry>, Box<Report>>,
}

/// A folder to look into.
struct Place {
    folder: PathBuf,
    depth: usize,
    root: usize,
}

/// What is in a folder.
#[derive(Default)]
struct Look {
    skill: Option<Found>,
    /// As it was before its entries were read; `None` when they were not.
    stamp: Option<Stamp>,
    folders: Vec<PathBuf>,
    links: Vec<PathBuf>,
    unreadable: Option<std::io::Error>,
}

impl Scan {
    /// Looks again. Answers whether there is something to tell.
    pub fn refresh(&mut self, roots: &[PathBuf], nested: bool) -> bool {
        let changed = |path: &Path, old: &Stamp| fs::metadata(path).map_or(true, |now| !old.still(&now));
        if !self.done
            || shared(&self.folders, |(path, old)| changed(path, old)).contains(&true)
            || self.links.iter().any(|(link, target)| link.canonicalize().ok() != *target)
        {
            self.look(roots, nested);
            return true;
        }
        let changed = shared(&self.skills, |found| changed(&found.file, &found.stamp));
        let mut news = false;
        for (found, _) in self.skills.iter_mut().zip(changed).filter(|(_, changed)| *changed) {
            let Some(now) = read(found.file.clone(), found.root) else {
                // A skill that went changes what is to be looked at.
                self.look(roots, nested);
                return true;
            };
            news |= now.content != found.content;
            *found = now;
        }
        news
    }

    /// The roots of the last look, as they were given.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The skills that can be used.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.skills.iter().filter_map(|found| found.content.as_ref().ok())
    }

    /// What was left out.
    pub fn reports(&self) -> impl Iterator<Item = &Report> {
        self.reports.iter().chain(self.skills.iter().filter_map(|found| found.content.as_ref().err().map(Box::as_ref)))
    }

    /// Looks through all roots. What is known and did not change is not read again.
    fn look(&mut self, roots: &[PathBuf], nested: bool) {
        let known: HashMap<Box<Path>, Found> =
            std::mem::take(&mut self.skills).into_iter().map(|found| (found.file.clone(), found)).collect();
        *self = Self { roots: roots.to_vec(), ..Self::default() };
        for (index, root) in roots.iter().enumerate() {
            let target = root.canonicalize();
            self.links.push((root.clone(), target.as_ref().ok().cloned()));
            match target {
                Ok(folder) if folder.is_dir() => {
                    self.look_through(Place { folder, depth: 0, root: index }, nested, &known);
                }
                _ => {
                    // A file may become a folder.
                    self.folders.extend(fs::metadata(root).map(|file| (root.clone(), Stamp::of(&file))));
                    self.reports.push(Report::new(root, Reason::NoRoot));
                }
            }
        }
        // The same folder below two roots is one skill, and told of once.
        let mut seen = HashSet::new();
        self.skills.retain(|found| seen.insert(found.file.clone()));
        let mut told = HashSet::new();
        self.reports.retain(|report| told.insert(report.clone()));
        // Only now: after a panic in between everything is looked at again.
        self.done = true;
    }

    /// Looks through a root level by level; links come last, so that what they lead to has its own path where it has one.
    fn look_through(&mut self, root: Place, nested: bool, known: &HashMap<Box<Path>, Found>) {
        let top = root.folder.clone();
        let mut seen = HashSet::new();
        let (index, mut level) = (root.root, vec![root]);
        let mut links: Vec<(PathBuf, usize)> = Vec::new();
        let mut count = 0;
        while !level.is_empty() {
            level.retain(|place| seen.insert(place.folder.clone()));
            let cut = count + level.len() > FOLDER_LIMIT;
            if cut {
                level.truncate(FOLDER_LIMIT - count);
                self.reports.push(Report::new(&top, Reason::TooManyFolders));
            }
            count += level.len();
            let looks = shared(&level, |place| look(place, nested, known));
            let mut next = Vec::new();
            for (place, mut look) in std::mem::take(&mut level).into_iter().zip(looks) {
                self.skills.extend(look.skill.take());
                if let Some(error) = &look.unreadable {
                    self.reports.push(Report::new(&place.folder, Reason::Unreadable(error.to_string())));
                }
                if place.depth == COLLECTION_DEPTH && !(look.folders.is_empty() && look.links.is_empty()) {
                    self.reports.push(Report::new(&place.folder, Reason::TooDeep));
                } else if place.depth < COLLECTION_DEPTH {
                    let depth = place.depth + 1;
                    next.extend(look.folders.into_iter().map(|folder| Place { folder, depth, root: index }));
                    links.extend(look.links.into_iter().map(|link| (link, depth)));
                }
                self.folders.extend(look.stamp.map(|stamp| (place.folder, stamp)));
            }
            if cut {
                return;
            }
            if next.is_empty() {
                next = self.follow(std::mem::take(&mut links), index);
            }
            level = next;
        }
    }

    /// Where links to folders lead.
    fn follow(&mut self, links: Vec<(PathBuf, usize)>, root: usize) -> Vec<Place> {
        let mut places = Vec::new();
        for (link, depth) in links {
            let target = link.canonicalize();
            self.links.push((link.clone(), target.as_ref().ok().cloned()));
            match target {
                Ok(folder) if folder.is_dir() => places.push(Place { folder, depth, root }),
                Ok(_) => {}
                Err(error) => self.reports.push(Report::new(link, Reason::Unreadable(error.to_string()))),
            }
        }
        places
    }
}

/// Looks into a folder: for its SKILL.md, and for further folders when it is no skill or `nested`.
fn look(place: &Place, nested: bool, known: &HashMap<Box<Path>, Found>) -> Look {
    let mut look = Look::default();
    // First the stamp: what comes while the folder is looked at shows the next time.
    let stamp = fs::metadata(&place.folder).ok().map(|metadata| Stamp::of(&metadata));
    for name in FILE_NAMES {
        let file = place.folder.join(name).into_boxed_path();
        let old = known.get(&file).filter(|old| old.root == place.root);
        look.skill = match old {
            Some(old) if fs::metadata(&file).is_ok_and(|now| old.stamp.still(&now)) => Some(old.clone()),
            _ => read(file, place.root),
        };
        if look.skill.is_some() {
            // A better name may come.
            if name != FILE_NAMES[0] {
                look.stamp = stamp;
            }
            break;
        }
    }
    if look.skill.is_none() || nested {
        look.stamp = stamp;
        if let Err(error) = list(&place.folder, &mut look) {
            look.unreadable = Some(error);
        }
    }
    look
}

/// The folders and links in a folder, by name.
fn list(folder: &Path, look: &mut Look) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") || IGNORED_FOLDERS.iter().any(|ignored| name == *ignored) {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            look.folders.push(entry.path());
        } else if kind.is_symlink() {
            look.links.push(entry.path());
        }
    }
    look.folders.sort_unstable();
    look.links.sort_unstable();
    Ok(())
}

/// Reads a SKILL.md, if it is there.
fn read(file: Box<Path>, root: usize) -> Option<Found> {
    // First the stamp: a change while it is read shows the next time.
    let metadata = fs::metadata(&file).ok()?;
    let folder = file.parent().unwrap_or(Path::new(""));
    if !metadata.is_file() {
        let cause = format!("{}: is no regular file", file.display());
        let content = Err(Box::new(Report::new(folder, Reason::Unusable(cause))));
        return Some(Found { stamp: Stamp::of(&metadata), file, root, content });
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let content = match Summary::read(&file, &name) {
        Ok(summary) => Ok(Arc::new(Entry { summary, folder: folder.into(), root })),
        Err(error) => Err(Box::new(Report::new(folder, Reason::Unusable(error.to_string())))),
    };
    Some(Found { file, root, stamp: Stamp::of(&metadata), content })
}

/// Does something with each item of a list, on several threads when it is long; the answers in the list's order.
fn shared<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if items.len() < MANY {
        return items.iter().map(work).collect();
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let work = &work;
    std::thread::scope(|scope| {
        let chunks = items.chunks(items.len().div_ceil(threads));
        let running: Vec<_> =
            chunks.map(|chunk| scope.spawn(move || chunk.iter().map(work).collect::<Vec<R>>())).collect();
        // A panic is passed on: it is the work's, not this function's.
        running
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
