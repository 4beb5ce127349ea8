//! The positional parameters.

use std::ops::Deref;

/// `$1` and all after it. `shift` leaves a gap in front, so that shifting through many takes time proportional to them.
#[derive(Debug, Default)]
pub struct Positional {
    words: Vec<Vec<u8>>,
    /// Where `$1` is.
    from: usize,
}

impl Positional {
    /// Drops the first `n`, which must be there.
    pub fn shift(&mut self, n: usize) {
        let to = (self.from + n).min(self.words.len());
        for word in &mut self.words[self.from..to] {
            *word = Vec::new();
        }
        self.from = to;
        if self.from > self.words.len() / 2 {
            self.words.drain(..self.from);
            self.from = 0;
        }
    }
}

impl From<Vec<Vec<u8>>> for Positional {
    fn from(words: Vec<Vec<u8>>) -> Self {
        Self { words, from: 0 }
    }
}

impl Clone for Positional {
    fn clone(&self) -> Self {
        self.to_vec().into()
    }
}

impl Deref for Positional {
    type Target = [Vec<u8>];

    fn deref(&self) -> &[Vec<u8>] {
        &self.words[self.from..]
    }
}
