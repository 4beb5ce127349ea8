//! Server-sent events, as the HTML standard defines their stream (section 9.2.6), out of pieces cut anywhere. The mark
//! of the byte order, which may stand before them, is taken off elsewhere.

/// Reads the data of events out of the bytes of a stream.
#[derive(Debug, Default)]
pub struct Reader {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The data of the event that has not ended yet.
    data: Option<Vec<u8>>,
    /// The last byte was a carriage return, so that a line feed now belongs to it.
    after_return: bool,
}

impl Reader {
    /// Takes bytes, and gives the data of the events that end in them.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        if self.after_return && !bytes.is_empty() {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            self.after_return = false;
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&bytes[..end]);
            let is_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if is_return {
                self.after_return = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
            events.extend(self.end_line());
        }
        self.line.extend_from_slice(bytes);
        events
    }

    /// How many bytes are kept until more come.
    pub fn held(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, Vec::len)
    }

    /// The data of an event that the end of the stream ends. The standard has it thrown away; servers that forget the
    /// last empty line mean it.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.data.take()
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.data.take();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        // A line that begins with a colon is a comment; `event`, `id` and `retry` mean nothing to this API.
        if &line[..colon] == b"data" {
            let value = line.get(colon + 1..).unwrap_or_default();
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            }
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn events(stream: &[u8], size: usize) -> Vec<String> {
        let mut reader = Reader::default();
        let mut events: Vec<_> = stream.chunks(size).flat_map(|piece| reader.push(piece)).collect();
        events.extend(reader.finish());
        events.into_iter().map(|data| String::from_utf8(data).unwrap()).collect()
    }

    #[test]
    fn streams_in_pieces_of_every_size() {
        for (stream, wanted) in [
            ("", &[][..]),
            ("data: a\n\ndata: b\n\n", &["a", "b"]),
            ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
            ("data: a\r\rdata: b\r\r", &["a", "b"]),
            ("data: a\r\n\ndata: b\n\r\n", &["a", "b"]),
            (": comment\n\n:\n\ndata: a\n\n", &["a"]),
            ("event: x\nid: 1\nretry: 5\ndata: a\n\n", &["a"]),
            ("data: a\ndata: b\n\n", &["a\nb"]),
            ("data:a\n\ndata:  b \n\n", &["a", " b "]),
            ("data\n\ndata:\n\n", &["", ""]),
            ("database: x\n\ndata x\n\nx\n\n", &[]),
            ("data: é\u{1f600}ü\n\n", &["é\u{1f600}ü"]),
            ("data: a\n\ndata: [DONE]\n", &["a", "[DONE]"]),
            ("data: a\n\ndata: [DONE]", &["a", "[DONE]"]),
            ("\n\n\r\n\n", &[]),
        ] {
            for size in 1..=stream.len().max(1) {
                assert_eq!(events(stream.as_bytes(), size), wanted, "{stream:?} in pieces of {size}");
            }
        }
    }

    #[test]
    fn an_event_is_given_when_it_ends() {
        let mut reader = Reader::default();
        assert_eq!(reader.push(b"data: a\r"), Vec::<Vec<u8>>::new());
        assert_eq!(reader.push(b"\n\r"), [b"a"]);
        assert_eq!(reader.push(b"\ndata: b\n"), Vec::<Vec<u8>>::new());
        assert_eq!(reader.push(b"\n"), [b"b"]);
    }
}
