//! The file that says of which layers a workspace consists.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Failed, LayersError};

/// The name of the file in the workspace's folder.
const NAME: &str = "layers.json";

/// The version that is written.
const VERSION: u32 = 1;

/// The largest file that is read, in bytes: thousands of snapshots.
const MOST: u64 = 16 << 20;

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) version: u32,
    /// The workspace's own name among those that use a layer.
    pub(super) id: Id,
    /// The workspace's folder: layers refer to it, so it must stay where it is.
    pub(super) root: PathBuf,
    /// The folder of the layers.
    pub(super) pool: PathBuf,
    /// The folder under all layers.
    pub(super) base: Option<PathBuf>,
    /// The frozen layers, the lowest first.
    pub(super) layers: Vec<Id>,
    /// The layer that is written.
    pub(super) upper: Id,
    /// The oldest first.
    pub(super) snapshots: Vec<Snapshot>,
}

/// A state of a workspace that can be gone back to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Its name.
    pub id: Id,
    /// The layers that it consists of, the lowest first.
    pub(super) layers: Vec<Id>,
}

/// A random name of a layer, workspace or snapshot: 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Id(String);

impl Id {
    pub(super) fn new() -> Result<Self, LayersError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|_| LayersError::Random)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Id {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == 32 && text.bytes().all(digit) {
            Ok(Self(text))
        } else {
            Err(format!("`{text}` is not 32 hexadecimal digits"))
        }
    }
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
        id.0
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Manifest {
    /// A workspace without frozen layers.
    pub(super) fn new(root: PathBuf, pool: PathBuf, base: Option<PathBuf>) -> Result<Self, LayersError> {
        let (id, upper) = (Id::new()?, Id::new()?);
        Ok(Self { version: VERSION, id, root, pool, base, layers: Vec::new(), upper, snapshots: Vec::new() })
    }

    /// Reads the manifest of the workspace in `root`; none when there is no file.
    pub(super) fn read(root: &Path) -> Result<Option<Self>, LayersError> {
        let path = root.join(NAME);
        let file = match File::open(&path) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            result => result.failed("open", &path)?,
        };
        let broken = |reason: String| LayersError::Manifest { path: path.clone(), reason };
        if file.metadata().failed("look at", &path)?.len() > MOST {
            return Err(broken(format!("it is longer than {MOST} bytes")));
        }
        let manifest: Self =
            serde_json::from_reader(std::io::BufReader::new(file)).map_err(|error| broken(error.to_string()))?;
        if manifest.version != VERSION {
            return Err(broken(format!("its version is {}, and this program knows {VERSION}", manifest.version)));
        }
        Ok(Some(manifest))
    }

    /// Puts the manifest in its place, as one step. Nothing is brought to the disk: that would wait for all that others
    /// have written, and the files of the workspace are not on it either.
    pub(super) fn write(&self) -> Result<(), LayersError> {
        let path = self.root.join(NAME);
        let text = serde_json::to_vec_pretty(self)
            .map_err(|error| LayersError::Manifest { path: path.clone(), reason: error.to_string() })?;
        let new = self.root.join(format!("{NAME}.new"));
        std::fs::write(&new, &text).failed("write", &new)?;
        std::fs::rename(&new, &path).failed("rename", &new)
    }

    /// Removes the manifest: then there is no workspace any more.
    pub(super) fn remove(&self) -> Result<(), LayersError> {
        let path = self.root.join(NAME);
        std::fs::remove_file(&path).failed("remove", &path)
    }

    /// All layers, of the workspace as it is and of its snapshots, each once.
    pub(super) fn all_layers(&self) -> std::collections::BTreeSet<&Id> {
        let snapshots = self.snapshots.iter().flat_map(|snapshot| &snapshot.layers);
        self.layers.iter().chain(snapshots).chain([&self.upper]).collect()
    }
}
