//! Searching bytes, eight at a time.

/// The place of the first byte `c`.
pub fn find(text: &[u8], c: u8) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let wanted = ONES * u64::from(c);
    let mut at = 0;
    while let Some(word) = text.get(at..at + 8).and_then(|w| w.try_into().ok()) {
        // A byte that is equal becomes zero, and the lowest zero byte sets its high bit first.
        let differs = u64::from_le_bytes(word) ^ wanted;
        let zeros = differs.wrapping_sub(ONES) & !differs & HIGH;
        if zeros != 0 {
            return Some(at + zeros.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    text[at..].iter().position(|&b| b == c).map(|i| at + i)
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn every_place_and_neighbour() {
        for length in 0..40 {
            let mut text: Vec<u8> = (0..length).map(|i| 0x80 + i as u8).collect();
            assert_eq!(find(&text, b'x'), None);
            for at in 0..length {
                let before = std::mem::replace(&mut text[at], b'x');
                assert_eq!(find(&text, b'x'), Some(at));
                text[at] = b'y';
                assert_eq!(find(&text, b'x'), None);
                text[at] = before;
            }
        }
        assert_eq!(find(b"aaaaaaaaaxx", b'x'), Some(9));
        assert_eq!(find(b"\x01\x00\x00\x00\x00\x00\x00\x00\x00", 0), Some(1));
    }
}
