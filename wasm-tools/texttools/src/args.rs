//! Options in the manner of GNU `getopt_long`: bundles, attached values, abbreviations, operands anywhere.

/// What an option takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    No,
    /// A value, attached or the next argument.
    Required,
    /// A value only when attached (`--color=auto`, `-i.bak`).
    Optional,
}

/// A long option, what it takes and the letter it is reported as.
pub type Long = (&'static str, Value, char);

/// A command line taken apart.
pub struct Parsed {
    /// The options in order; the value is there when one was given.
    pub options: Vec<(char, Option<Vec<u8>>)>,
    /// All other arguments in order.
    pub operands: Vec<Vec<u8>>,
}

/// Parses `args`. `shorts` is getopt's string: `a` no value, `b:` required, `c::` optional. Without `permute` the
/// first operand ends the options.
///
/// # Errors
/// The message as getopt prints it, without the program's name.
pub fn parse(args: &[Vec<u8>], shorts: &str, longs: &[Long], permute: bool) -> Result<Parsed, String> {
    let mut parsed = Parsed { options: Vec::new(), operands: Vec::new() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == b"--" {
            parsed.operands.extend(args.cloned());
            break;
        }
        if let Some(long) = arg.strip_prefix(b"--") {
            let (name, value) = match long.iter().position(|byte| *byte == b'=') {
                Some(at) => (&long[..at], Some(long[at + 1..].to_vec())),
                None => (long, None),
            };
            let name = String::from_utf8_lossy(name);
            let (full, takes, id) = find_long(&name, longs)?;
            let value = match (takes, value) {
                (Value::No, Some(_)) => return Err(format!("option '--{full}' doesn't allow an argument")),
                (Value::Required, None) => {
                    Some(args.next().cloned().ok_or_else(|| format!("option '--{full}' requires an argument"))?)
                }
                (_, value) => value,
            };
            parsed.options.push((id, value));
        } else if arg.len() > 1 && arg[0] == b'-' {
            let mut at = 1;
            while at < arg.len() {
                let letter = arg[at] as char;
                at += 1;
                match short_value(letter, shorts) {
                    None => return Err(format!("invalid option -- '{letter}'")),
                    Some(Value::No) => parsed.options.push((letter, None)),
                    Some(takes) => {
                        let attached = (at < arg.len()).then(|| arg[at..].to_vec());
                        at = arg.len();
                        let value = match (takes, attached) {
                            (Value::Required, None) => Some(
                                args.next()
                                    .cloned()
                                    .ok_or_else(|| format!("option requires an argument -- '{letter}'"))?,
                            ),
                            (_, attached) => attached,
                        };
                        parsed.options.push((letter, value));
                    }
                }
            }
        } else {
            parsed.operands.push(arg.clone());
            if !permute {
                parsed.operands.extend(args.cloned());
                break;
            }
        }
    }
    Ok(parsed)
}

fn short_value(letter: char, shorts: &str) -> Option<Value> {
    if letter == ':' {
        return None;
    }
    let rest = &shorts[shorts.find(letter)? + letter.len_utf8()..];
    Some(match rest {
        rest if rest.starts_with("::") => Value::Optional,
        rest if rest.starts_with(':') => Value::Required,
        _ => Value::No,
    })
}

fn find_long(name: &str, longs: &[Long]) -> Result<Long, String> {
    if let Some(exact) = longs.iter().find(|long| long.0 == name) {
        return Ok(*exact);
    }
    let candidates: Vec<&Long> = longs.iter().filter(|long| long.0.starts_with(name)).collect();
    match candidates.as_slice() {
        [] => Err(format!("unrecognized option '--{name}'")),
        [first, rest @ ..] if rest.iter().all(|long| long.2 == first.2) => Ok(**first),
        _ => {
            let list: Vec<String> = candidates.iter().map(|long| format!(" '--{}'", long.0)).collect();
            Err(format!("option '--{name}' is ambiguous; possibilities:{}", list.concat()))
        }
    }
}

/// A value as a number.
pub fn number(value: &[u8]) -> Option<i64> {
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}
