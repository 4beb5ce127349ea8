//! Prompt escapes, for PS4 and `${x@P}`.

use wskill_time::{Zone, strftime};

use crate::os;
use crate::parse::digits;
use crate::shell::{Run, Shell};
use crate::state::vars::attr;

impl Shell {
    /// The zone of TZ, which counts only when it is exported: the C library asks the environment.
    pub fn zone(&mut self) -> Zone {
        match self.get_var(b"TZ") {
            Some(var) if var.has(attr::EXPORT) => var.text().map_or_else(Zone::utc, Zone::parse),
            _ => Zone::utc(),
        }
    }

    /// Decodes `\u`, `\w` and their kin, then expands parameters and substitutions.
    pub fn expand_prompt(&mut self, text: &[u8]) -> Run<Vec<u8>> {
        let mut out = Vec::with_capacity(text.len());
        let now = (os::now_ns() / 1_000_000_000) as i64;
        let civil = self.zone().civil(now);
        let mut i = 0;
        while i < text.len() {
            if text[i] != b'\\' || i + 1 >= text.len() {
                out.push(text[i]);
                i += 1;
                continue;
            }
            let c = text[i + 1];
            i += 2;
            let mut time = |format: &[u8]| out.extend_from_slice(&strftime(format, &civil));
            match c {
                b'a' => out.push(7),
                b'd' => time(b"%a %b %d"),
                b't' => time(b"%H:%M:%S"),
                b'T' => time(b"%I:%M:%S"),
                b'@' => time(b"%I:%M %p"),
                b'A' => time(b"%H:%M"),
                b'D' if text.get(i) == Some(&b'{') => {
                    let end = text[i..].iter().position(|&c| c == b'}').map_or(text.len(), |n| i + n);
                    let format = &text[i + 1..end];
                    time(if format.is_empty() { b"%X" } else { format });
                    i = (end + 1).min(text.len());
                }
                b'e' => out.push(27),
                b'h' | b'H' => {
                    let host = self.get_scalar(b"HOSTNAME").unwrap_or_default();
                    let end = if c == b'h' {
                        host.iter().position(|&c| c == b'.').unwrap_or(host.len())
                    } else {
                        host.len()
                    };
                    out.extend_from_slice(&host[..end]);
                }
                b'j' => out.extend_from_slice(self.st.jobs.list.len().to_string().as_bytes()),
                b'l' => out.extend_from_slice(b"tty"),
                b'n' => out.push(b'\n'),
                b'r' => out.push(b'\r'),
                b's' => {
                    let arg0 = if self.main_source.is_some() {
                        &self.name
                    } else {
                        &self.st.arg0
                    };
                    out.extend_from_slice(arg0.rsplit(|&c| c == b'/').next().unwrap_or_default());
                }
                b'u' => {
                    let user = self.get_scalar(b"USER").unwrap_or_else(|| b"root".to_vec());
                    out.extend_from_slice(&user);
                }
                b'v' => out.extend_from_slice(b"5.2"),
                b'V' => out.extend_from_slice(b"5.2.15"),
                b'w' | b'W' => {
                    let cwd = self.st.cwd.to_vec();
                    let home = self.get_scalar(b"HOME").unwrap_or_default();
                    let short = match cwd.strip_prefix(home.as_slice()) {
                        Some(rest) if !home.is_empty() && (rest.is_empty() || rest.starts_with(b"/")) => {
                            [b"~", rest].concat()
                        }
                        _ => cwd.clone(),
                    };
                    let trimmed;
                    let shown = if c == b'w' || short == b"~" || short == b"/" {
                        trimmed = self.trim_directory(short);
                        &trimmed[..]
                    } else {
                        cwd.rsplit(|&c| c == b'/').next().unwrap_or_default()
                    };
                    // A name is no text to expand.
                    for &c in shown {
                        if matches!(c, b'$' | b'`' | b'\\') && self.st.shopts.promptvars {
                            out.push(b'\\');
                        }
                        out.push(c);
                    }
                }
                b'!' => out.push(b'1'),
                b'#' => out.extend_from_slice(self.command_number.to_string().as_bytes()),
                b'$' => out.push(b'#'),
                b'\\' => out.push(b'\\'),
                b'[' | b']' => {}
                // Three octal digits, or fewer at the end.
                b'0'..=b'7' if text[i..].iter().take(2).all(|c| (b'0'..=b'7').contains(c)) => {
                    let (value, used) = digits(&text[i - 1..], 8, 3);
                    i += used - 1;
                    out.push(value as u8);
                }
                other => out.extend_from_slice(&[b'\\', other]),
            }
        }
        if !self.st.shopts.promptvars || !out.iter().any(|c| matches!(c, b'$' | b'`' | b'\\')) {
            return Ok(out);
        }
        self.expand_text(&out)
    }

    /// Keeps the last PROMPT_DIRTRIM parts of a directory.
    fn trim_directory(&mut self, dir: Vec<u8>) -> Vec<u8> {
        let keep = self
            .get_scalar(b"PROMPT_DIRTRIM")
            .and_then(|v| crate::arith::integer(&v))
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(0);
        let start: &[u8] = if dir.starts_with(b"~") { b"~/" } else { b"" };
        let from = start.len().max(1);
        let slashes: Vec<usize> = (from.min(dir.len())..dir.len()).filter(|&i| dir[i] == b'/').collect();
        // What the dots stand for is longer than they are.
        if keep == 0 || slashes.len() < keep || slashes[slashes.len() - keep] - start.len() <= 3 {
            return dir;
        }
        [start, b"...", &dir[slashes[slashes.len() - keep]..]].concat()
    }
}
