//! Reads `.env` files: `NAME=value` lines, as shells and the usual loaders understand them.
//!
//! - `export ` before a name, blank lines and lines that begin with `#` are allowed; lines without `=` say nothing.
//! - An unquoted value ends at the end of the line or at `#` after a space; spaces around it do not count.
//! - `'…'` is taken as it is, `"…"` knows `\n`, `\r`, `\t`, `\\`, `\"`, `\$` and `` \` ``; both may go over lines.
//! - Nothing is expanded: `$NAME` stays.

use std::collections::BTreeMap;

/// What is wrong with a file, without any of its values.
#[derive(Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Counted from 1.
    pub line: usize,
    pub reason: &'static str,
}

/// Reads a file. A name that is set twice has its last value, as in a shell.
pub fn parse(text: &str) -> Result<BTreeMap<String, String>, SyntaxError> {
    let mut variables = BTreeMap::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut line = 1;
    while !rest.is_empty() {
        let (statement, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let Some((name, value)) = assignment(statement) else {
            rest = after;
            line += 1;
            continue;
        };
        // Where the value begins in what is left, as a quoted one may go on over lines.
        let offset = statement.len() - value.len();
        let (value, length) = match value.as_bytes().first() {
            Some(quote @ (b'\'' | b'"')) => {
                let error = |reason| SyntaxError { line, reason };
                let (value, length) =
                    quoted(&rest[offset..], char::from(*quote)).ok_or_else(|| error("a quote is not closed"))?;
                let tail = rest[offset + length..].split('\n').next().unwrap_or_default().trim();
                if !tail.is_empty() && !tail.starts_with('#') {
                    return Err(error("something follows the closing quote"));
                }
                (value, length)
            }
            _ => (unquoted(value).to_owned(), 0),
        };
        variables.insert(name.to_owned(), value);
        let consumed = &rest[..offset + length];
        line += consumed.matches('\n').count() + 1;
        rest = rest[consumed.len()..].split_once('\n').map_or("", |(_, after)| after);
    }
    Ok(variables)
}

/// The name and what follows `=`, without the spaces before it.
fn assignment(statement: &str) -> Option<(&str, &str)> {
    let (name, value) = statement.split_once('=')?;
    let name = name.trim();
    let name = name.strip_prefix("export").filter(|rest| rest.starts_with([' ', '\t'])).unwrap_or(name).trim_start();
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|each| each.is_ascii_alphanumeric() || each == '_');
    is_name.then(|| (name, value.trim_start_matches([' ', '\t'])))
}

fn unquoted(value: &str) -> &str {
    let comment = value.char_indices().zip(std::iter::once(' ').chain(value.chars()));
    let mut comment = comment.filter(|((_, each), before)| *each == '#' && before.is_whitespace());
    let end = comment.next().map_or(value.len(), |((at, _), _)| at);
    value[..end].trim()
}

/// The value of a text that begins with `quote`, and how many bytes it has with its quotes.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, each)) = characters.next() {
        match each {
            _ if each == quote => return Some((value, at + 1)),
            '\\' if quote == '"' => match characters.next()?.1 {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                known @ ('\\' | '"' | '$' | '`') => value.push(known),
                other => value.extend(['\\', other]),
            },
            _ => value.push(each),
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_value() {
        for (text, wanted) in [
            ("A=b", "b"),
            ("  A = b c \r", "b c"),
            ("export A=b", "b"),
            ("export\tA=b", "b"),
            ("\u{feff}A=b", "b"),
            ("A=", ""),
            ("A=# all comment", ""),
            ("A=b # comment", "b"),
            ("A=b#c", "b#c"),
            ("A=http://h/#x=y", "http://h/#x=y"),
            ("A='b # \"c\" \\n $D'", "b # \"c\" \\n $D"),
            ("A=\"b # 'c' \\\"d\\\" \\\\ \\$E \\q\" # comment", "b # 'c' \"d\" \\ $E \\q"),
            ("A=\"b\\nc\"", "b\nc"),
            ("A='b\nc'\nB=d", "b\nc"),
            ("A=$B", "$B"),
            ("A=b\nA=c", "c"),
            ("# A=x\n\nnothing here\n1A=x\nA-B=x\nA=b=c", "b=c"),
            ("A=é\u{1f600}", "é\u{1f600}"),
        ] {
            let found = parse(text).unwrap();
            assert_eq!(found.get("A").map(String::as_str), Some(wanted), "{text:?}");
        }
        assert_eq!(parse("A='b\nc' # x\r\n\nB=d").unwrap()["B"], "d");
        assert_eq!(parse("exported=1").unwrap()["exported"], "1");
        assert!(parse("A B=1\n=2\n\n").unwrap().is_empty());
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line, reason) in [
            ("B='x\ny'\nA='b", 3, "a quote is not closed"),
            ("A=\"b\\\"", 1, "a quote is not closed"),
            ("A=\"\\", 1, "a quote is not closed"),
            ("\nA='b' c", 2, "something follows the closing quote"),
        ] {
            assert_eq!(parse(text), Err(SyntaxError { line, reason }), "{text:?}");
        }
    }
}
