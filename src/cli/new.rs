//! `wskill new`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{Error, print};
use crate::skill::{Manifest, Severity, check};
use crate::source::is_folder_name;

/// Arguments of `wskill new`.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// The skill's name: lower-case letters, digits and hyphens
    name: String,

    /// The folder in which to make it
    #[arg(long, value_name = "DIR", default_value = "skills")]
    root: PathBuf,
}

const DESCRIPTION: &str = "Counts the lines of text files. Use it when a user asks how long a text is.";

const BODY: &str = "
# Counting lines

1. Put the files to count into `work/inputs/`.
2. Run `bash scripts/count.sh work/inputs/FILE...`: it prints the number of lines of each file.
3. Tell the user the numbers.

When a file is missing the script says so and ends with status 1.
";

const SCRIPT: &str = r#"#!/usr/bin/env bash
# Prints the number of lines of each file:  count.sh FILE...
set -euo pipefail

if [[ $# -eq 0 ]]; then
    echo "usage: count.sh FILE..." >&2
    exit 2
fi
for file in "$@"; do
    [[ -f $file ]] || { echo "count.sh: $file: no such file" >&2; exit 1; }
    printf '%s: %s\n' "$file" "$(wc -l < "$file")"
done
"#;

const CASES: &str = r#"# What `wskill test` runs: each case in a workspace of its own, with the skill's folder as the working directory.

[[case]]
name = "two files"
command = "printf 'a\\nb\\n' > work/two.txt && bash scripts/count.sh work/two.txt SKILL.md | head -1"
stdout = "work/two.txt: 2\n"

[[case]]
name = "a missing file"
command = "bash scripts/count.sh work/none.txt"
status = 1
stderr = "no such file"
"#;

/// Makes a skill that works, to begin with.
pub fn new(args: &NewArgs) -> Result<u8, Error> {
    let folder = args.root.join(&args.name);
    if Path::new(&args.name).components().count() != 1 || args.name.contains(['/', '\\']) {
        return Err(format!("{}: a name is no path; use --root DIR for the place", args.name).into());
    }
    if !args.name.is_empty() && !is_folder_name(&args.name) {
        return Err(format!("{}: some systems have no folder of this name; choose another", args.name).into());
    }
    if folder.symlink_metadata().is_ok() {
        return Err(format!("{} is there already", folder.display()).into());
    }
    let manifest = Manifest::new(&args.name, DESCRIPTION).to_yaml();
    let text = format!("---\n{}\n---\n{BODY}", manifest.trim_end());
    let made = (|| -> Result<(), Error> {
        for (name, content) in [("SKILL.md", &*text), ("scripts/count.sh", SCRIPT), ("tests/cases.toml", CASES)] {
            let path = folder.join(name);
            write(&path, content).map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        }
        // A name that the specification does not allow is told as `wskill check` tells it.
        match check(&folder).into_iter().find(|found| found.finding.severity == Severity::Error) {
            Some(found) => Err(format!("{}: {}", args.name, found.finding.message).into()),
            None => Ok(()),
        }
    })();
    if let Err(error) = made {
        // The first error is the one to tell.
        let _ = fs::remove_dir_all(&folder);
        return Err(error);
    }
    let shown = folder.display();
    print(&format!(
        "made {shown}\nnext: edit {shown}/SKILL.md, then `wskill check {shown}` and `wskill test {shown}`\n"
    ))
}

/// Writes a file and the folders that it is in; a script can be executed.
fn write(path: &Path, content: &str) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, content)?;
    #[cfg(unix)]
    if content.starts_with("#!") {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    }
    Ok(())
}
