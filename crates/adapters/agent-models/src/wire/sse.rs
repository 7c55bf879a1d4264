//! Server-sent events (the WHATWG HTML standard, section 9.2.6), as far as models use them: only `data` matters, since
//! every vendor repeats the type of an event in it.

use crate::limits::{EVENT_BYTES, STREAM_EVENTS};
use crate::wire::fault::Fault;

/// Whether an answer is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// There is more to come.
    More,
    /// Whatever comes after this is not part of it.
    Done,
}

/// Takes a stream apart, however it was divided on its way.
#[derive(Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_carriage_return: bool,
    count: u32,
}

impl Events {
    /// Takes more of the stream and hands on the data of every event that is complete, until one of them is the last.
    pub(crate) fn push(
        &mut self,
        mut bytes: &[u8],
        each: &mut dyn FnMut(&[u8]) -> Result<Flow, Fault>,
    ) -> Result<Flow, Fault> {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_carriage_return) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', bytes);
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + part.len() > EVENT_BYTES {
                return Err(Fault::too_large("a line of the stream is too long"));
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else { return Ok(Flow::More) };
            self.after_carriage_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if self.end_line(each)? == Flow::Done {
                return Ok(Flow::Done);
            }
        }
        Ok(Flow::More)
    }

    fn end_line(&mut self, each: &mut dyn FnMut(&[u8]) -> Result<Flow, Fault>) -> Result<Flow, Fault> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_event(each);
        }
        let colon = line.iter().position(|b| *b == b':').unwrap_or(line.len());
        if &line[..colon] != b"data" {
            return Ok(Flow::More);
        }
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        if self.data.len() + value.len() >= EVENT_BYTES {
            return Err(Fault::too_large("an event of the stream is too large"));
        }
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
        Ok(Flow::More)
    }

    fn end_event(&mut self, each: &mut dyn FnMut(&[u8]) -> Result<Flow, Fault>) -> Result<Flow, Fault> {
        self.count += 1;
        if self.count > STREAM_EVENTS {
            return Err(Fault::too_large("the stream has too many events"));
        }
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) && !data.is_empty() { each(&data) } else { Ok(Flow::More) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    fn events(chunks: &[&[u8]]) -> Vec<String> {
        let (mut events, mut found) = (Events::default(), Vec::new());
        for chunk in chunks {
            let flow = events.push(chunk, &mut |data| {
                found.push(String::from_utf8_lossy(data).into_owned());
                Ok(if data == b"[DONE]" { Flow::Done } else { Flow::More })
            });
            if flow.unwrap() == Flow::Done {
                break;
            }
        }
        found
    }

    #[test]
    fn every_line_ending_comment_and_field_reads_as_the_standard_says() {
        for (text, expected) in [
            ("data: a\n\ndata:b\r\n\r\ndata:  c\r\r", vec!["a", "b", " c"]),
            (": ping\n\nevent: x\ndata: a\nid: 7\nretry: 1\ndata: b\n\n", vec!["a\nb"]),
            ("data\n\ndata:\n\ndatum: x\n\n\n\n", vec![]),
            ("data: half", vec![]),
            ("data: whole but not ended\n", vec![]),
            ("data: [DONE]\n\ndata: after\n\n", vec!["[DONE]"]),
        ] {
            assert_eq!(events(&[text.as_bytes()]), expected, "{text:?}");
        }
    }

    #[test]
    fn a_stream_has_so_many_events() {
        let blank = vec![b'\n'; STREAM_EVENTS as usize];
        let mut events = Events::default();
        let mut each = |_: &[u8]| Ok(Flow::More);
        assert_eq!(events.push(&blank, &mut each), Ok(Flow::More));
        assert_eq!(events.push(b"\n", &mut each).unwrap_err().code, "MODEL_ANSWER_TOO_LARGE");
    }

    #[test]
    fn a_line_and_an_event_have_a_size() {
        let line = vec![b'x'; EVENT_BYTES + 1];
        let mut each = |_: &[u8]| Ok(Flow::More);
        assert_eq!(Events::default().push(&line, &mut each).unwrap_err().code, "MODEL_ANSWER_TOO_LARGE");
        let mut events = Events::default();
        let half = [b"data: ".as_slice(), &vec![b'x'; EVENT_BYTES / 2], b"\n"].concat();
        assert_eq!(events.push(&half, &mut each), Ok(Flow::More));
        assert_eq!(events.push(&half, &mut each).unwrap_err().code, "MODEL_ANSWER_TOO_LARGE");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

        #[test]
        fn any_division_reads_alike(
            lines in prop::collection::vec("(data: ?[a-z:]{0,6}|:c|event: e|)(\n|\r|\r\n)", 0..24),
            cuts in prop::collection::vec(0usize..240, 0..8),
        ) {
            let text = lines.concat().into_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(events(&chunks), events(&[&text]));
        }
    }
}
