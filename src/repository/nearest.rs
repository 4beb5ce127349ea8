//! Names that were probably meant.

/// Most characters of a name that are compared.
const LONGEST: usize = 64;

/// The names that are most like `wanted`, the best first: equal but for case and separators, or a few edits away, or one
/// within the other. At most `most`.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let wanted = folded(wanted);
    let mut found: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let other = folded(name);
            let edits = distance(&wanted, &other);
            let within =
                wanted.len() >= 3 && contains(&other, &wanted) || other.len() >= 3 && contains(&wanted, &other);
            let near = edits <= wanted.len().max(other.len()) / 3;
            (near || within).then_some((if within { edits.min(2) } else { edits }, name))
        })
        .collect();
    found.sort();
    found.truncate(most);
    found.into_iter().map(|(_, name)| name).collect()
}

/// Letters and digits in lower case.
fn folded(name: &str) -> Vec<char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(LONGEST).collect()
}

fn contains(text: &[char], part: &[char]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// How many insertions, deletions and replacements make one of the other.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn typos_separators_and_parts_are_near() {
        let names = ["csv-insight", "log-triage", "python-math", "report-summary", "user-file-ops"];
        for (wanted, expected) in [
            ("python_math", &["python-math"][..]),
            ("PythonMath", &["python-math"]),
            ("pyton-math", &["python-math"]),
            ("csv", &["csv-insight"]),
            ("log-triage-v2", &["log-triage"]),
            ("zzz", &[]),
            ("", &[]),
        ] {
            assert_eq!(nearest(wanted, names.into_iter(), 3), expected, "{wanted}");
        }
    }
}
