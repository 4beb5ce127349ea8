//! Patterns of paths.

/// Whether a path fits a pattern: `?` is a character, `*` characters within a component, `**` any.
///
/// Takes time in proportion to the product of both lengths at most, whatever the pattern.
pub fn matches(pattern: &str, path: &str) -> bool {
    let path: Vec<char> = path.chars().collect();
    // Which lengths of the path the pattern so far fits.
    let mut fits = vec![false; path.len() + 1];
    fits[0] = true;
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let any = rest.strip_prefix("**");
        let within = rest.strip_prefix('*');
        if let Some(after) = any.or(within) {
            for at in 0..path.len() {
                let passes = any.is_some() || path[at] != '/';
                fits[at + 1] |= fits[at] && passes;
            }
            // `**/x` is `x` too.
            if let Some(after) = any.and(after.strip_prefix('/')) {
                for at in (1..=path.len()).rev() {
                    fits[at] = fits[at] && path[at - 1] == '/';
                }
                rest = after;
            } else {
                rest = after;
            }
            continue;
        }
        for at in (0..path.len()).rev() {
            fits[at + 1] = fits[at] && (path[at] == c || c == '?' && path[at] != '/');
        }
        fits[0] = false;
        rest = &rest[c.len_utf8()..];
    }
    fits[path.len()]
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        for (pattern, path, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a?", "ab", true),
            ("a?", "a/", false),
            ("*.md", "x.md", true),
            ("*.md", "d/x.md", false),
            ("**/*.md", "d/e/x.md", true),
            ("**/*.md", "x.md", true),
            ("d/**", "d/e/x", true),
            ("d/**", "e/x", false),
            ("d/**/x", "d/x", true),
            ("d/**/x", "d/e/f/x", true),
            ("d/**/x", "d/ex", false),
            ("**", "", true),
            ("é*", "éa", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
        assert!(!matches(&"*a".repeat(1000), &"a".repeat(999)));
    }
}
