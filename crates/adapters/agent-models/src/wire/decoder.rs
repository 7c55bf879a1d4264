use crate::dialogue::ModelReply;
use crate::limits::{ANSWER_BYTES, WHOLE_BYTES};
use crate::wire::fault::Fault;
use crate::wire::sse::{Events, Flow};
use crate::wire::{EventReader, Wire, json};

/// Reads an answer from its bytes, in whatever pieces they come.
///
/// Whether it is a whole one or a stream is told by how it begins: the content type is not believed, and neither is that
/// a server does what it was asked for.
pub(crate) struct Decoder {
    wire: Wire,
    form: Form,
    bytes: usize,
}

enum Form {
    Unknown,
    Whole(Vec<u8>),
    Stream(Events, Box<dyn EventReader>),
}

impl Decoder {
    pub(crate) const fn new(wire: Wire) -> Self {
        Self { wire, form: Form::Unknown, bytes: 0 }
    }

    /// Takes the next bytes. After [`Flow::Done`] no more are wanted.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Flow, Fault> {
        let within = &bytes[..bytes.len().min(ANSWER_BYTES - self.bytes)];
        self.bytes += within.len();
        let flow = self.take(within)?;
        if flow == Flow::More && within.len() < bytes.len() {
            return Err(Fault::too_large("it has too many bytes"));
        }
        Ok(flow)
    }

    fn take(&mut self, mut bytes: &[u8]) -> Result<Flow, Fault> {
        if let Form::Unknown = self.form {
            // A byte order mark may come before a stream.
            let blank = |b: &u8| b.is_ascii_whitespace() || matches!(b, 0xef | 0xbb | 0xbf);
            let Some(start) = bytes.iter().position(|b| !blank(b)) else { return Ok(Flow::More) };
            bytes = &bytes[start..];
            self.form = match bytes {
                [b'{', ..] => Form::Whole(Vec::new()),
                [0x1f, ..] => {
                    return Err(Fault::unreadable("it is compressed, which was not asked for"));
                }
                _ => Form::Stream(Events::default(), self.wire.events()),
            };
        }
        match &mut self.form {
            Form::Whole(body) => {
                if body.len() + bytes.len() > WHOLE_BYTES {
                    return Err(Fault::too_large("it has too many bytes"));
                }
                body.extend_from_slice(bytes);
                Ok(Flow::More)
            }
            Form::Stream(events, reader) => events.push(bytes, &mut |data| reader.event(data)),
            Form::Unknown => Ok(Flow::More),
        }
    }

    /// The answer, once there are no more bytes.
    pub(crate) fn finish(self) -> Result<ModelReply, Fault> {
        match self.form {
            Form::Unknown => Err(Fault::unreadable("it is empty")),
            Form::Whole(body) => {
                let body = json::parse(&body).ok_or_else(|| Fault::unreadable("it is no JSON"))?;
                self.wire.whole(&body)
            }
            Form::Stream(_, reader) => reader.finish(),
        }
    }
}
