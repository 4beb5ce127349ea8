//! Where installed programs come from: the built-in data crates, or a folder.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::ProgramError;
use super::cache::Cache;
use crate::sandbox::clock::FIXED_START;
use crate::sandbox::vfs::{FileSystem, HostFile, Quota};

/// A module of installed commands.
#[derive(Clone, Debug)]
pub struct ModuleSource {
    /// Its name.
    pub name: String,
    /// What it is made from.
    pub version: String,
    /// The commands it holds.
    pub commands: Vec<String>,
    /// Size in bytes.
    pub size: u64,
    data: Data,
}

/// A file that programs need.
#[derive(Clone, Debug)]
pub struct DataSource {
    guest_path: String,
    data: Data,
}

#[derive(Clone, Debug)]
enum Data {
    /// Compressed, inside the library, with the digest of what it unpacks to.
    #[cfg_attr(not(feature = "programs"), allow(dead_code))]
    BuiltIn { zstd: &'static [u8], sha256: &'static str, size: u64 },
    /// A file of a folder that is being developed.
    File(PathBuf),
}

/// Hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Data {
    fn bytes(&self, name: &str) -> Result<Vec<u8>, ProgramError> {
        let damaged = |reason: String| ProgramError::Damaged { name: name.into(), reason };
        match self {
            Self::File(path) => {
                fs::read(path).map_err(|error| ProgramError::Folder { path: path.clone(), reason: error.to_string() })
            }
            Self::BuiltIn { zstd, sha256, size } => {
                let mut bytes = Vec::with_capacity(usize::try_from(*size).unwrap_or(0));
                let decoder = ruzstd::decoding::StreamingDecoder::new(*zstd);
                let mut decoder = decoder.map_err(|error| damaged(error.to_string()))?;
                decoder.read_to_end(&mut bytes).map_err(|error| damaged(error.to_string()))?;
                if hex(&Sha256::digest(&bytes)) != *sha256 {
                    return Err(damaged("its digest is not the recorded one".into()));
                }
                Ok(bytes)
            }
        }
    }
}

impl ModuleSource {
    /// What names the content: the digest of a built-in module, or path, size and time of a file.
    pub fn key(&self) -> String {
        match &self.data {
            Data::BuiltIn { sha256, .. } => (*sha256).to_owned(),
            Data::File(path) => {
                let metadata = fs::metadata(path).ok();
                let time = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
                let text = format!("{path:?} {:?} {time:?}", metadata.map(|metadata| metadata.len()));
                hex(&Sha256::digest(text))
            }
        }
    }

    /// The module itself.
    pub fn bytes(&self) -> Result<Vec<u8>, ProgramError> {
        self.data.bytes(&self.name)
    }
}

/// A file that programs need, ready to be seen in a sandbox.
#[derive(Clone, Debug)]
pub enum DataFile {
    /// A file system whose root is the file: what was unpacked into the cache.
    Mounted(Arc<dyn FileSystem>),
    /// Its content, where there is no cache.
    InMemory(Arc<[u8]>),
}

impl DataSource {
    /// The path in the sandbox, and the file.
    pub fn open(&self, cache: &Cache) -> Result<(String, DataFile), ProgramError> {
        let host = |path: &Path| -> Result<DataFile, ProgramError> {
            let opened = HostFile::new(path, Arc::new(Quota::unlimited()), Some(FIXED_START as i64));
            let opened =
                opened.map_err(|error| ProgramError::Folder { path: path.to_owned(), reason: error.to_string() });
            Ok(DataFile::Mounted(Arc::new(opened?)))
        };
        let file = match &self.data {
            Data::File(path) => host(path)?,
            Data::BuiltIn { sha256, .. } => {
                let name = format!("{sha256}.data");
                let kept =
                    cache.open_trusted(&name).is_some() || cache.store(&name, &self.data.bytes(&self.guest_path)?);
                match cache.folder().filter(|_| kept) {
                    Some(folder) => host(&folder.join(name))?,
                    None => DataFile::InMemory(self.data.bytes(&self.guest_path)?.into()),
                }
            }
        };
        Ok((self.guest_path.clone(), file))
    }
}

/// A module's description in a folder.
#[derive(Debug, Deserialize)]
struct Description {
    name: String,
    file: PathBuf,
    version: String,
    commands: Vec<String>,
    #[serde(default)]
    files: Vec<FileDescription>,
}

#[derive(Debug, Deserialize)]
struct FileDescription {
    path: String,
    file: PathBuf,
}

/// Reads a folder: each `*.json` describes a module and the files it needs.
pub fn from_folder(folder: &Path) -> Result<(Vec<ModuleSource>, Vec<DataSource>), ProgramError> {
    let failed = |path: &Path, reason: String| ProgramError::Folder { path: path.to_owned(), reason };
    let entries = fs::read_dir(folder).map_err(|error| failed(folder, error.to_string()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| failed(folder, error.to_string()))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    let (mut modules, mut files) = (Vec::new(), Vec::new());
    for path in paths {
        let text = fs::read_to_string(&path).map_err(|error| failed(&path, error.to_string()))?;
        let description: Description = serde_json::from_str(&text).map_err(|error| failed(&path, error.to_string()))?;
        let file = folder.join(&description.file);
        let size = fs::metadata(&file).map_err(|error| failed(&file, error.to_string()))?.len();
        modules.push(ModuleSource {
            name: description.name,
            version: description.version,
            commands: description.commands,
            size,
            data: Data::File(file),
        });
        for file in description.files {
            files.push(DataSource { guest_path: file.path, data: Data::File(folder.join(file.file)) });
        }
    }
    Ok((modules, files))
}

/// The modules and files inside the library.
#[cfg(feature = "programs")]
pub fn built_in() -> (Vec<ModuleSource>, Vec<DataSource>) {
    let mut modules = Vec::new();
    let mut files = Vec::new();
    macro_rules! take {
        ($data:ident) => {
            modules.extend($data::MODULES.iter().map(|module| ModuleSource {
                name: module.name.into(),
                version: module.version.into(),
                commands: module.commands.iter().map(|&name| name.into()).collect(),
                size: module.bytes,
                data: Data::BuiltIn { zstd: module.zstd, sha256: module.sha256, size: module.bytes },
            }));
            files.extend($data::FILES.iter().map(|file| DataSource {
                guest_path: file.guest_path.into(),
                data: Data::BuiltIn { zstd: file.zstd, sha256: file.sha256, size: file.bytes },
            }));
        };
    }
    take!(wskill_toolbox);
    take!(wskill_python);
    (modules, files)
}

/// Without built-in programs there are none.
#[cfg(not(feature = "programs"))]
pub fn built_in() -> (Vec<ModuleSource>, Vec<DataSource>) {
    (Vec::new(), Vec::new())
}
