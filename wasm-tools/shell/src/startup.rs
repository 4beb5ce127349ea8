//! What a shell reads before its first command.

use crate::os;
use crate::shell::{Shell, Unwind};
use std::rc::Rc;

/// Which start files are wanted.
#[derive(Default)]
pub struct StartFiles {
    pub login: bool,
    /// The shell was called `sh`.
    pub sh: bool,
    pub posix: bool,
    pub privileged: bool,
    pub norc: bool,
    pub noprofile: bool,
    pub rcfile: Option<Vec<u8>>,
}

impl Shell {
    /// Reads the start files. `Some`: one of them ended the shell, with that status.
    pub fn read_start_files(&mut self, wanted: &StartFiles) -> Option<i32> {
        let home = self.get_scalar(b"HOME").unwrap_or_default();
        let at_home = |name: &[u8]| [home.as_slice(), name].concat();
        if wanted.login {
            Rc::make_mut(&mut self.st.shopts).login_shell = true;
        }
        if wanted.login && (!wanted.posix || wanted.sh) && !wanted.noprofile {
            let users: &[&[u8]] = if wanted.sh {
                &[b"/.profile"]
            } else {
                &[b"/.bash_profile", b"/.bash_login", b"/.profile"]
            };
            let user = users.iter().map(|name| at_home(name)).find(|file| os::is_file(file));
            for file in std::iter::once(b"/etc/profile".to_vec()).chain(user) {
                if let Some(status) = self.read_start_file(&file) {
                    return Some(status);
                }
            }
        }
        let posix = wanted.posix || wanted.sh;
        let named = match (self.interactive, posix) {
            (false, false) => b"BASH_ENV".as_slice(),
            (true, true) => b"ENV",
            (true, false) if !wanted.login && !wanted.norc => {
                let file = wanted.rcfile.clone().unwrap_or_else(|| at_home(b"/.bashrc"));
                return self.read_start_file(&file);
            }
            _ => return None,
        };
        if wanted.privileged {
            return None;
        }
        let name = self.get_scalar(named).filter(|name| !name.is_empty())?;
        let file = self.expand_text(&name).ok()?;
        self.read_start_file(&file)
    }

    fn read_start_file(&mut self, file: &[u8]) -> Option<i32> {
        let text = os::read_file(file).ok()?;
        match self.run_sourced(file, text, None) {
            Err(unwind @ Unwind::Exit(_)) => Some(self.end_of_environment(Err(unwind))),
            _ => None,
        }
    }

    /// A login shell that is told to end reads its last file.
    pub fn read_logout_file(&mut self) {
        if self.st.shopts.login_shell && self.st.subshell == 0 {
            let file = [&self.get_scalar(b"HOME").unwrap_or_default()[..], b"/.bash_logout"].concat();
            if let Ok(text) = os::read_file(&file) {
                let _ = self.run_sourced(&file, text, None);
            }
        }
    }

    /// Signals that are ignored from the start stay so.
    pub fn note_ignored_signals(&mut self) {
        // Only those that parents really ignore; asking for all 64 would cost more than the shell's start.
        for signal in [1, 2, 3, 10, 12, 13, 14, 15] {
            if let Ok(old) = os::set_signal(signal, os::Disposition::Default)
                && old == os::Disposition::Ignore
            {
                let _ = os::set_signal(signal, os::Disposition::Ignore);
                self.ignored_at_start |= 1 << (signal - 1);
            }
        }
        self.sync_signals();
    }
}
