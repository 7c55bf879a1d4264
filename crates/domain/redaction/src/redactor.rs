use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::known::{self, Known};
use crate::redactions::Redactions;
use crate::rule::{FORMS, Left, Rule};
use crate::scan::{Ahead, Look, look};
use crate::stream::Stream;

/// Takes secrets out of text. Cheap to clone; it shows nothing of the keys that it knows.
#[derive(Clone)]
pub struct Redactor(Arc<Looked>);

/// What is looked for, by its first two bytes.
struct Looked {
    known: Vec<Known>,
    /// For each pair of bytes, one more than the place of its list below; 0 where nothing begins with them.
    pairs: Box<[u16; 1 << 16]>,
    lists: Vec<Candidates>,
    /// Behind what each byte may begin anything; [`None`] where nothing begins with it.
    firsts: [Option<Left>; 256],
}

#[derive(Default)]
struct Candidates {
    forms: Vec<usize>,
    known: Vec<usize>,
}

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<T> {
    /// The text.
    pub text: T,
    /// What was taken out.
    pub redactions: Redactions,
}

impl Redactor {
    /// Looks for what the rules know.
    #[must_use]
    pub fn by_rules() -> Self {
        static RULES: OnceLock<Redactor> = OnceLock::new();
        RULES.get_or_init(|| Self::knowing([])).clone()
    }

    /// Looks for these keys too.
    #[must_use]
    pub fn knowing<'k>(keys: impl IntoIterator<Item = &'k str>) -> Self {
        let known: Vec<Known> = keys.into_iter().flat_map(known::forms).collect();
        let mut looked = Looked {
            known: Vec::new(),
            pairs: Box::new([0; 1 << 16]),
            lists: Vec::new(),
            firsts: [None; 256],
        };
        for (at, form) in FORMS.iter().enumerate() {
            let start = form.start.as_bytes();
            looked.list([start[0], start[1]], form.left).forms.push(at);
        }
        for (at, known) in known.iter().enumerate() {
            looked.list(known.start(), Left::Anywhere).known.push(at);
        }
        looked.known = known;
        Self(Arc::new(looked))
    }

    /// Begins a text that arrives in pieces.
    #[must_use]
    pub fn stream(&self) -> Stream {
        Stream::new(self.clone())
    }

    /// The bytes without secrets.
    #[must_use]
    pub fn bytes(&self, bytes: &[u8]) -> Redacted<Vec<u8>> {
        let (mut stream, mut text) = (self.stream(), Vec::with_capacity(bytes.len()));
        stream.push(bytes, &mut text);
        Redacted { redactions: stream.finish(&mut text), text }
    }

    /// The text without secrets; the text itself where it has none.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Redacted<Cow<'t, str>> {
        let Redacted { text: clean, redactions } = self.bytes(text.as_bytes());
        if redactions.total() == 0 {
            return Redacted { text: Cow::Borrowed(text), redactions };
        }
        let clean =
            String::from_utf8(clean).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        Redacted { text: Cow::Owned(clean), redactions }
    }

    /// Whether anything may begin with this byte, of which nothing is known that follows.
    pub(crate) fn may_begin_with(&self, byte: u8, before: [u8; 3]) -> bool {
        self.0.firsts[usize::from(byte)].is_some_and(|left| left.fits(before))
    }

    /// The first place from `at` on where anything may begin; the last byte is not looked at, since it is half of a pair.
    pub(crate) fn next(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let pairs = &self.0.pairs;
        let tail = bytes.get(at..)?;
        let mut high = usize::from(*tail.first()?) << 8;
        for (place, byte) in tail[1..].iter().enumerate() {
            let pair = high | usize::from(*byte);
            if pairs[pair] != 0 {
                return Some(at + place);
            }
            high = (pair & 0xff) << 8;
        }
        None
    }

    /// What begins at the start of `ahead`, of which at least two bytes are there.
    pub(crate) fn look(&self, ahead: Ahead<'_>, before: [u8; 3]) -> (Look, Rule) {
        let pair = usize::from(ahead.bytes[0]) << 8 | usize::from(ahead.bytes[1]);
        let Some(list) = usize::from(self.0.pairs[pair]).checked_sub(1).map(|place| &self.0.lists[place])
        else {
            return (Look::Nothing, Rule::Key);
        };
        let forms = list.forms.iter().map(|at| (look(&FORMS[*at], ahead, before), FORMS[*at].rule));
        let known = list.known.iter().map(|at| (self.0.known[*at].look(ahead), Rule::Key));
        forms.chain(known).find(|(look, _)| *look != Look::Nothing).unwrap_or((Look::Nothing, Rule::Key))
    }
}

impl Looked {
    fn list(&mut self, [first, second]: [u8; 2], left: Left) -> &mut Candidates {
        let widest = &mut self.firsts[usize::from(first)];
        *widest = Some(widest.map_or(left, |known| known.max(left)));
        let pair = usize::from(first) << 8 | usize::from(second);
        if self.pairs[pair] == 0 {
            self.lists.push(Candidates::default());
            self.pairs[pair] = u16::try_from(self.lists.len()).unwrap_or(u16::MAX);
        }
        &mut self.lists[usize::from(self.pairs[pair]) - 1]
    }
}

impl Default for Redactor {
    fn default() -> Self {
        Self::by_rules()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

/// The same redactor is the same.
impl PartialEq for Redactor {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Redactor {}
