//! The folder of compiled modules. What lies there is machine code, so nobody else may have written it.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use etcetera::BaseStrategy;
use sha2::{Digest, Sha256};
use wasmtime::{Engine, Module};

use super::{load, source::hex};
use crate::sandbox::abi;

/// A folder for compiled modules and unpacked data; without a writable one nothing is kept.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
}

/// The name of a module compiled by this engine.
pub fn key(module: &str, engine: &Engine) -> String {
    let mut hasher = DefaultHasher::new();
    #[cfg(feature = "compile")]
    engine.precompile_compatibility_hash().hash(&mut hasher);
    #[cfg(not(feature = "compile"))]
    engine.is_pulley().hash(&mut hasher);
    abi::VERSION.hash(&mut hasher);
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    format!("{module}-{:016x}.cwasm", hasher.finish())
}

impl Cache {
    /// The cache in `folder`, or in the platform's place.
    pub fn open(folder: Option<PathBuf>) -> Self {
        let place = || Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("wskill"));
        let folder = folder.or_else(|| std::env::var_os("WSKILL_CACHE_DIR").map(PathBuf::from)).or_else(place);
        Self { folder: folder.filter(|folder| make_private(folder).is_ok()) }
    }

    /// Where it is.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// A compiled module, when it is there and nobody else can have written it.
    pub fn load(&self, engine: &Engine, key: &str) -> Option<Module> {
        let file = self.open_trusted(key)?;
        match load::from_file(engine, file) {
            Ok(module) => Some(module),
            Err(_) => {
                // Damaged, or of another engine: it is compiled again.
                let _ = fs::remove_file(self.folder.as_ref()?.join(key));
                None
            }
        }
    }

    /// A file of the cache, opened after its owner and rights were checked on the descriptor itself.
    pub fn open_trusted(&self, name: &str) -> Option<File> {
        let folder = self.folder.as_ref()?;
        check_private(folder).ok()?;
        open_private(&folder.join(name)).ok()
    }

    /// Keeps `data` under `name`, and its digest beside it. Answers whether it is kept.
    pub fn store(&self, name: &str, data: &[u8]) -> bool {
        let Some(folder) = &self.folder else { return false };
        let sum = hex(&Sha256::digest(data));
        write_whole(folder, name, data).is_ok()
            && write_whole(folder, &format!("{name}.sha256"), sum.as_bytes()).is_ok()
    }

    /// Checks every file against the digest beside it and removes what differs.
    pub fn verify(&self) -> io::Result<Vec<String>> {
        let Some(folder) = &self.folder else { return Ok(Vec::new()) };
        let mut damaged = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "cwasm" && extension != "data") {
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let sum_path = folder.join(format!("{name}.sha256"));
            let wanted = fs::read_to_string(&sum_path).unwrap_or_default();
            let mut content = Vec::new();
            let readable = open_private(&path).and_then(|mut file| file.read_to_end(&mut content));
            if readable.is_err() || hex(&Sha256::digest(&content)) != wanted.trim() {
                fs::remove_file(&path)?;
                // The digest may be what is missing.
                let _ = fs::remove_file(&sum_path);
                damaged.push(name);
            }
        }
        Ok(damaged)
    }
}

/// Writes to a name of its own and renames, so that a reader finds all or nothing.
fn write_whole(folder: &Path, name: &str, data: &[u8]) -> io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!(".{name}.{}.{number}.tmp", std::process::id()));
    let written = create_private(&temporary).and_then(|mut file| file.write_all(data));
    let renamed = written.and_then(|()| fs::rename(&temporary, folder.join(name)));
    if renamed.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    renamed
}

#[cfg(unix)]
mod private {
    use std::fs::{self, DirBuilder, File, OpenOptions};
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
    use std::path::Path;

    fn owned(metadata: &fs::Metadata) -> bool {
        metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
    }

    fn distrust() -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, "others may write it")
    }

    pub fn make_private(folder: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        check_private(folder)?;
        // A home that cannot be written is no place to keep anything.
        rustix::fs::access(folder, rustix::fs::Access::WRITE_OK)?;
        Ok(())
    }

    pub fn check_private(folder: &Path) -> io::Result<()> {
        let metadata = fs::symlink_metadata(folder)?;
        if metadata.is_dir() && owned(&metadata) { Ok(()) } else { Err(distrust()) }
    }

    pub fn open_private(path: &Path) -> io::Result<File> {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_file() && owned(&metadata) { Ok(file) } else { Err(distrust()) }
    }

    pub fn create_private(path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
    }
}

#[cfg(not(unix))]
mod private {
    //! Elsewhere the platform's cache folder is the user's own, and its rights are left as they are.
    use std::fs::{self, File, OpenOptions};
    use std::io;
    use std::path::Path;

    pub fn make_private(folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)
    }

    pub fn check_private(folder: &Path) -> io::Result<()> {
        if fs::symlink_metadata(folder)?.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub fn open_private(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    pub fn create_private(path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }
}

use private::{check_private, create_private, make_private, open_private};
