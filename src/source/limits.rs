//! What an archive and a download may cost. Each limit is refused with an error that names it.

use std::time::Duration;

/// How many redirects are followed. Downloads take one or two (a forge to its storage); browsers stop at 20.
pub const MAX_REDIRECTS: usize = 5;

/// What one archive may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of the archive, as the server declares them and as they arrive. Default 64 MiB, as the clients that
    /// introduced skills from addresses: the largest published collections have a few MiB.
    pub download: u64,
    /// Bytes of one unpacked file, as the archive declares them and as they are. Default 64 MiB.
    pub file: u64,
    /// Bytes of all unpacked files together. Default 256 MiB.
    pub total: u64,
    /// Entries (files and folders) of an archive. Default 20,000, as many folders as discovery looks at.
    pub entries: usize,
    /// Folders below one another. Default 32; discovery goes down 6 and a skill's own folders a few more.
    pub depth: usize,
    /// Unpacked bytes for each byte of the archive, once 1 MiB is unpacked. Default 200: text packs 3 to 10 times, logs
    /// and generated tables up to 50; deflate ends at 1,032, which is what bombs use.
    pub ratio: u64,
    /// Bytes of one component of a name. Default 255, the limit of every common file system.
    pub component: usize,
    /// Bytes of a whole name inside the archive. Default 1,024, the shortest limit of a path that is still common
    /// (macOS).
    pub path: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            download: 64 << 20,
            file: 64 << 20,
            total: 256 << 20,
            entries: 20_000,
            depth: 32,
            ratio: 200,
            component: 255,
            path: 1024,
        }
    }
}

impl Limits {
    /// Whether `unpacked` bytes out of `packed` ones are more than any honest archive has.
    pub(super) fn is_bomb(&self, packed: u64, unpacked: u64) -> bool {
        /// Small archives of zeros are harmless, and their ratio says little.
        const HARMLESS: u64 = 1 << 20;
        unpacked > HARMLESS && unpacked > packed.saturating_mul(self.ratio)
    }
}

/// How long a download may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// Until a connection stands, TLS included. Default 10 s.
    pub connect: Duration,
    /// Between two pieces of the answer. Default 30 s.
    pub read: Duration,
    /// For everything, redirects included. Default 300 s: the largest archive at 220 kB/s.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), read: Duration::from_secs(30), total: Duration::from_secs(300) }
    }
}
