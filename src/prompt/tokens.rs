//! How many tokens a text costs.

/// About how many tokens a text has: the tokenisers of the large models make one of four bytes of English or code, and
/// one of a character or two of scripts that UTF-8 needs three bytes for.
///
/// ```
/// assert_eq!(wskill::prompt::estimate_tokens("Prints the first Fibonacci numbers."), 9);
/// assert_eq!(wskill::prompt::estimate_tokens(""), 0);
/// ```
pub fn estimate_tokens(text: &str) -> usize {
    let (narrow, wide) = text.chars().fold((0, 0), |(narrow, wide), c| match c.len_utf8() {
        1 | 2 => (narrow + c.len_utf8(), wide),
        _ => (narrow, wide + 1),
    });
    narrow.div_ceil(4) + wide
}
