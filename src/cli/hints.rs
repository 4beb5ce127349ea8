//! Hints that come from the words of a command, not from what the guest did.

use std::path::Path;

use crate::Sandbox;
use crate::sandbox::host_path_hint;

/// The most hints of this kind.
const MAX: usize = 3;

/// Hints at paths in a command that cannot be in the sandbox, since not even their folder is. Whether they are on the
/// host is not looked at: the answer may go to a model that should not learn it.
pub fn host_paths(argv: &[Vec<u8>], sandbox: &Sandbox) -> Vec<String> {
    let mut hints = Vec::new();
    for word in argv {
        let text = String::from_utf8_lossy(word);
        for path in absolute_paths(&text) {
            let folder = Path::new(path).parent().unwrap_or(Path::new("/"));
            if sandbox.has_folder(folder) || hints.len() == MAX {
                continue;
            }
            let hint = host_path_hint(path);
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
    }
    hints
}

/// What looks like an absolute path of at least two parts: it begins a word or follows a quote, `=`, `:` or `<`.
fn absolute_paths(text: &str) -> impl Iterator<Item = &str> {
    let separator = |c: char| c.is_whitespace() || "'\"`=:<>|&;()[]{},$*?!#\\".contains(c);
    let words = text.split(separator);
    words.filter(|word| word.starts_with('/') && !word.starts_with("//") && word[1..].contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_between_words_and_quotes() {
        let found = |text| absolute_paths(text).collect::<Vec<_>>();
        assert_eq!(found("cat /home/me/a.txt"), ["/home/me/a.txt"]);
        assert_eq!(found("python3 -c 'open(\"/data/x/y.csv\")' --in=/a/b </c/d"), ["/data/x/y.csv", "/a/b", "/c/d"]);
        assert_eq!(found("sed s/a/b/ out/x | grep /x http://example.com/y"), Vec::<&str>::new());
    }
}
