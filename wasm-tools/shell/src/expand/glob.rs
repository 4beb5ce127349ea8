//! Pathname expansion.

use crate::os;
use crate::pattern::{Pattern, has_magic};
use crate::shell::Shell;
use std::rc::Rc;

/// Directory levels that `**` descends.
const MAX_LEVELS: usize = 200;

impl Shell {
    /// The paths a pattern matches, sorted.
    pub fn glob(&mut self, pattern: &[u8]) -> Vec<Vec<u8>> {
        let walker = Walker {
            extglob: self.st.shopts.extglob,
            fold: self.st.shopts.nocaseglob,
            dotglob: self.st.shopts.dotglob,
            globstar: self.st.shopts.globstar,
            skip_dots: self.st.shopts.globskipdots,
        };
        let ignore = self.get_scalar(b"GLOBIGNORE").filter(|v| !v.is_empty());
        let mut found = walker.expand(pattern);
        if let Some(ignore) = ignore {
            // A star does not cross slashes: patterns and paths are compared component by component.
            let patterns: Vec<Vec<Pattern>> = split_list(&ignore)
                .into_iter()
                .map(|p| {
                    p.split(|&c| c == b'/')
                        .map(|c| Pattern::new(c, walker.extglob, walker.fold))
                        .collect()
                })
                .collect();
            found.retain(|path| {
                let parts: Vec<&[u8]> = path.split(|&c| c == b'/').collect();
                let base = parts.last().copied().unwrap_or_default();
                let ignored = patterns.iter().any(|p| {
                    p.len() == parts.len() && p.iter().zip(&parts).all(|(pattern, part)| pattern.matches(part))
                });
                base != b"." && base != b".." && !ignored
            });
        }
        found.sort();
        found.dedup();
        found
    }

    /// GLOBIGNORE was set or unset: with patterns in it, names that begin with a dot match.
    pub fn globignore_changed(&mut self) {
        let dotglob = match self.plain_scalar(b"GLOBIGNORE") {
            None => false,
            Some(patterns) => self.st.shopts.dotglob || !patterns.is_empty(),
        };
        Rc::make_mut(&mut self.st.shopts).dotglob = dotglob;
    }
}

struct Walker {
    extglob: bool,
    fold: bool,
    dotglob: bool,
    globstar: bool,
    skip_dots: bool,
}

impl Walker {
    fn expand(&self, pattern: &[u8]) -> Vec<Vec<u8>> {
        let components = split(pattern);
        let mut prefixes: Vec<Vec<u8>> = vec![Vec::new()];
        let mut rest = components.as_slice();
        let mut searched = false;
        if pattern.starts_with(b"/") {
            let slashes = pattern.iter().take_while(|&&c| c == b'/').count();
            prefixes[0] = pattern[..slashes].to_vec();
        }
        while let Some(((component, slashes), tail)) = rest.split_first() {
            let last = tail.is_empty();
            rest = tail;
            // Several slashes stay where nothing was looked for yet.
            let slash = b"/".repeat(if searched { 1 } else { *slashes });
            if component.is_empty() {
                // A trailing slash: only directories.
                prefixes.retain(|p| os::is_dir(p));
                for prefix in &mut prefixes {
                    if !prefix.ends_with(b"/") {
                        prefix.push(b'/');
                    }
                }
                continue;
            }
            let mut next = Vec::new();
            if self.globstar && component == b"**" {
                searched = true;
                for prefix in &prefixes {
                    self.star_star(prefix, last, &mut next);
                }
            } else if has_magic(component, self.extglob) || self.fold && component.iter().any(u8::is_ascii_alphabetic) {
                searched = true;
                let matcher = Pattern::new(component, self.extglob, self.fold);
                let leading_dot = matches_dot(component, self.extglob);
                for prefix in &prefixes {
                    let mut entries = os::read_dir(prefix);
                    if leading_dot && !self.skip_dots {
                        entries.push((b".".to_vec(), os::Kind::Dir));
                        entries.push((b"..".to_vec(), os::Kind::Dir));
                    }
                    for (name, kind) in entries {
                        let hidden = name.first() == Some(&b'.');
                        if hidden && !self.dotglob && !leading_dot {
                            continue;
                        }
                        if hidden && (name == b"." || name == b"..") && (self.skip_dots || !leading_dot) {
                            continue;
                        }
                        if !matcher.matches(&name) {
                            continue;
                        }
                        let mut path = prefix.clone();
                        path.extend_from_slice(&name);
                        if last {
                            next.push(path);
                        } else if kind.may_be_dir(&path) {
                            path.push(b'/');
                            next.push(path);
                        }
                    }
                }
            } else {
                let name = unescape(component);
                for mut path in prefixes {
                    path.extend_from_slice(&name);
                    if last {
                        if os::lstat_ok(&path) {
                            next.push(path);
                        }
                    } else {
                        path.extend_from_slice(&slash);
                        next.push(path);
                    }
                }
            }
            prefixes = next;
            if prefixes.is_empty() {
                return prefixes;
            }
        }
        prefixes
    }

    /// `**`: the directory itself and all below; as the last component also all files.
    fn star_star(&self, prefix: &[u8], last: bool, out: &mut Vec<Vec<u8>>) {
        let mut pending: Vec<(Vec<u8>, usize)> = vec![(prefix.to_vec(), 0)];
        if !last || !prefix.is_empty() {
            out.push(prefix.to_vec());
        }
        while let Some((dir, level)) = pending.pop() {
            if level > MAX_LEVELS {
                continue;
            }
            for (name, kind) in os::read_dir(&dir) {
                if name.first() == Some(&b'.') && !self.dotglob || name == b"." || name == b".." {
                    continue;
                }
                let mut path = dir.clone();
                path.extend_from_slice(&name);
                let is_dir = kind.is_real_dir(&path);
                if last {
                    out.push(path.clone());
                }
                if is_dir {
                    path.push(b'/');
                    if !last {
                        out.push(path.clone());
                    }
                    pending.push((path, level + 1));
                }
            }
        }
    }
}

/// Splits GLOBIGNORE at colons outside of brackets.
fn split_list(text: &[u8]) -> Vec<Vec<u8>> {
    let mut out = vec![Vec::new()];
    let mut bracket = false;
    for (i, &c) in text.iter().enumerate() {
        match c {
            b'[' => bracket = bracket || text[i..].contains(&b']'),
            b']' if (text.get(i.wrapping_sub(1)) != Some(&b':') || text.get(i + 1) == Some(&b']') || bracket)
                // `:]` closes a class, not the bracket expression.
                && text.get(i.wrapping_sub(1)) != Some(&b':') =>
            {
                bracket = false;
            }
            b':' if !bracket => {
                out.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out.retain(|p| !p.is_empty());
    out
}

/// Whether a pattern says by itself that a name begins with a dot; of extended ones, an alternative has to.
fn matches_dot(pattern: &[u8], extglob: bool) -> bool {
    let extended = extglob && matches!(pattern, [b'?' | b'*' | b'+' | b'@' | b'!', b'(', ..]);
    if !extended {
        return pattern.starts_with(b".") || pattern.starts_with(b"\\.");
    }
    let mut depth = 0;
    let mut from = 2;
    for (i, &c) in pattern.iter().enumerate().skip(1) {
        match c {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 || depth == 1 && c == b'|' {
            if matches_dot(&pattern[from..i], extglob) {
                return true;
            }
            from = i + 1;
        }
        if depth == 0 {
            break;
        }
    }
    false
}

/// Splits at slashes that are not escaped; each component with the number of slashes behind it.
fn split(pattern: &[u8]) -> Vec<(Vec<u8>, usize)> {
    let start = pattern.iter().position(|&c| c != b'/').unwrap_or(pattern.len());
    let mut components = Vec::new();
    let mut current = Vec::new();
    let mut i = start;
    while i < pattern.len() {
        match pattern[i] {
            b'/' => {
                let slashes = pattern[i..].iter().take_while(|&&c| c == b'/').count();
                components.push((std::mem::take(&mut current), slashes));
                i += slashes - 1;
            }
            b'\\' if i + 1 < pattern.len() => {
                current.extend_from_slice(&pattern[i..i + 2]);
                i += 1;
            }
            c => current.push(c),
        }
        i += 1;
    }
    components.push((current, 0));
    components
}

fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut i = 0;
    while i < text.len() {
        if text[i] == b'\\' && i + 1 < text.len() {
            i += 1;
        }
        out.push(text[i]);
        i += 1;
    }
    out
}
