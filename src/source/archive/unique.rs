//! Finds names that are one file, or a file and a folder, on some platform.

use std::collections::HashMap;

use super::ArchiveError;
use super::name::{folded, shown};

/// The names of an archive so far, with the folders that they imply.
#[derive(Default)]
pub struct Names {
    /// By the folded path.
    seen: HashMap<String, Seen>,
}

/// What a folded path stands for.
struct Seen {
    /// As the archive spells it.
    name: String,
    is_folder: bool,
}

impl Names {
    /// How many files and folders there are.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Adds folders, the outermost first; `make` is called for each that is new. Answers the folded path, with a `/` at
    /// its end when it is not empty.
    pub fn folders(
        &mut self,
        components: &[&str],
        mut make: impl FnMut(&[&str]) -> Result<(), ArchiveError>,
    ) -> Result<String, ArchiveError> {
        let (mut key, mut spelled) = (String::new(), String::new());
        for (index, component) in components.iter().enumerate() {
            key.push_str(&folded(component));
            spelled.push_str(component);
            match self.seen.get(&key) {
                Some(first) if !first.is_folder => return Err(ArchiveError::FileAndFolder(shown(spelled.as_bytes()))),
                Some(first) if first.name != spelled => {
                    return Err(ArchiveError::Duplicate { first: first.name.clone(), second: spelled });
                }
                Some(_) => {}
                None => {
                    make(&components[..=index])?;
                    self.seen.insert(key.clone(), Seen { name: spelled.clone(), is_folder: true });
                }
            }
            key.push('/');
            spelled.push('/');
        }
        Ok(key)
    }

    /// Adds the file `last` in the folders whose folded path is `key`.
    pub fn file(&mut self, mut key: String, folders: &[&str], last: &str) -> Result<(), ArchiveError> {
        key.push_str(&folded(last));
        let mut spelled = folders.join("/");
        if !folders.is_empty() {
            spelled.push('/');
        }
        spelled.push_str(last);
        match self.seen.get(&key) {
            None => {
                self.seen.insert(key, Seen { name: spelled, is_folder: false });
                Ok(())
            }
            Some(first) if first.is_folder => Err(ArchiveError::FileAndFolder(shown(spelled.as_bytes()))),
            Some(first) => Err(ArchiveError::Duplicate { first: first.name.clone(), second: spelled }),
        }
    }
}
