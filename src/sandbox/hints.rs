//! What a person or a model should do about what the guest asked for in vain.

use super::kernel::Miss;

/// Commands that people expect and the sandbox has not, with what they would need.
const ABSENT: &[(&str, &str)] = &[
    ("node", "the sandbox has no JavaScript runtime"),
    ("npm", "the sandbox has no JavaScript runtime"),
    ("npx", "the sandbox has no JavaScript runtime"),
    ("bun", "the sandbox has no JavaScript runtime"),
    ("deno", "the sandbox has no JavaScript runtime"),
    ("soffice", "the sandbox has no LibreOffice"),
    ("libreoffice", "the sandbox has no LibreOffice"),
    ("pdftoppm", "the sandbox has no Poppler"),
    ("pdftotext", "the sandbox has no Poppler"),
    ("git", "the sandbox has no git"),
    ("docker", "the sandbox runs no containers"),
    ("curl", "the sandbox has no network"),
    ("wget", "the sandbox has no network"),
    ("ssh", "the sandbox has no network"),
    ("pip", "packages cannot be installed inside the sandbox"),
    ("pip3", "packages cannot be installed inside the sandbox"),
    ("apt", "packages cannot be installed inside the sandbox"),
    ("apt-get", "packages cannot be installed inside the sandbox"),
    ("sudo", "commands run as root of the sandbox already"),
    ("gcc", "the sandbox has no native compiler and runs only WebAssembly"),
    ("cc", "the sandbox has no native compiler and runs only WebAssembly"),
    ("make", "the sandbox has no make"),
    ("perl", "the sandbox has no Perl"),
    ("ruby", "the sandbox has no Ruby"),
    ("java", "the sandbox has no Java"),
    ("go", "the sandbox has no Go toolchain"),
    ("ffmpeg", "the sandbox has no ffmpeg"),
    ("convert", "the sandbox has no ImageMagick"),
];

/// The sentence for a path that is the host's.
pub fn host_path(path: &str) -> String {
    format!("`{path}` does not exist in the sandbox; bring a file of the host in with --input or --mount")
}

/// The sentence for a miss.
pub fn hint(miss: &Miss) -> String {
    match miss {
        Miss::Command(name) => match ABSENT.iter().find(|(absent, _)| absent == name) {
            Some((_, why)) => format!("`{name}` is not available: {why}"),
            None => format!("the command `{name}` does not exist in the sandbox; `wskill programs` lists what does"),
        },
        Miss::HostPath(path) => host_path(path),
        Miss::ReadOnly(path) => {
            format!("`{path}` is on a read-only mount; write to work/, out/ or /tmp")
        }
        Miss::Refused(name) => format!("`{name}` is not allowed by the policy of this sandbox; do it in another way"),
        Miss::Network => "the network is off in the sandbox".into(),
    }
}
