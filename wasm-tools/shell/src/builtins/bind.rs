//! `bind`, of which there is little without line editing.

use crate::os;
use crate::shell::{Run, Shell};

/// Commands of line editing that `-A binding` knows: some of the usual ones, as nothing is edited here.
pub const BINDINGS: &[&str] = &[
    "abort",
    "accept-line",
    "backward-char",
    "backward-delete-char",
    "beginning-of-line",
    "clear-screen",
    "complete",
    "delete-char",
    "end-of-line",
    "forward-char",
    "kill-line",
    "next-history",
    "possible-completions",
    "previous-history",
    "redraw-current-line",
    "self-insert",
    "tab-insert",
    "transpose-chars",
    "unix-line-discard",
    "unix-word-rubout",
    "yank",
];

const KEYMAPS: &[&[u8]] = &[
    b"emacs",
    b"emacs-standard",
    b"emacs-meta",
    b"emacs-ctlx",
    b"vi",
    b"vi-move",
    b"vi-command",
    b"vi-insert",
];

/// `bind`: there is no line editing, so only its arguments are looked at.
pub fn bind(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    shell.builtin_error("bind", "warning: line editing not enabled");
    let options = match shell.builtin_options(argv, b"lvpVPsSXf:q:u:m:r:x:") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    if let Some(map) = options.value(b'm').filter(|map| !KEYMAPS.contains(map)) {
        let shown = String::from_utf8_lossy(map).into_owned();
        shell.builtin_error("bind", &format!("`{shown}': invalid keymap name"));
        return Ok(1);
    }
    if let Some(file) = options.value(b'f')
        && let Err(error) = os::read_file(file)
    {
        let shown = String::from_utf8_lossy(file).into_owned();
        shell.builtin_error("bind", &format!("{shown}: cannot read: {}", os::message(error)));
        return Ok(1);
    }
    if options.has(b'l') {
        for name in BINDINGS {
            shell.out.extend_from_slice(&[name.as_bytes(), b"\n"].concat());
        }
    }
    if let Some(name) = options.value(b'q').or(options.value(b'u'))
        && !BINDINGS.iter().any(|b| b.as_bytes() == name)
    {
        let shown = String::from_utf8_lossy(name).into_owned();
        shell.builtin_error("bind", &format!("`{shown}': unknown function name"));
        return Ok(1);
    }
    Ok(0)
}
