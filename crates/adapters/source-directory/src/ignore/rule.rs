use super::glob::Glob;

/// One line of a `.gitignore` file.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// Whether it takes in again what an earlier rule left out.
    pub(super) negated: bool,
    directories_only: bool,
    /// Whether it is about the path below the directory of the file, and not about names alone.
    anchored: bool,
    pattern: Pattern,
}

#[derive(Clone, Debug)]
enum Pattern {
    Exact(Vec<u8>),
    /// A star and then only these bytes, in a rule about names.
    Ending(Vec<u8>),
    Wild(Glob),
}

impl Rule {
    /// Reads a line; `None` where it is empty, a comment, or can match nothing.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        if line.starts_with(b"#") {
            return None;
        }
        // A string of C ends at its first NUL, and the carriage return belongs to the end of the line.
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let line = without_spaces_at_the_end(line);
        let (negated, line) = match line.strip_prefix(b"!") {
            Some(line) => (true, line),
            None => (false, line),
        };
        let (directories_only, line) = match line.strip_suffix(b"/") {
            Some(line) => (true, line),
            None => (false, line),
        };
        let anchored = line.contains(&b'/');
        let line = line.strip_prefix(b"/").unwrap_or(line);
        if line.is_empty() {
            return None;
        }
        Some(Self { negated, directories_only, anchored, pattern: Pattern::read(line, anchored)? })
    }

    /// Whether the rule is about the entry at `path`, seen from the directory of its file.
    pub(super) fn is_about(&self, path: &[u8], is_directory: bool) -> bool {
        if self.directories_only && !is_directory {
            return false;
        }
        let text = if self.anchored { path } else { file_name(path) };
        match &self.pattern {
            Pattern::Exact(wanted) => wanted == text,
            Pattern::Ending(ending) => text.ends_with(ending),
            Pattern::Wild(glob) => glob.matches(text),
        }
    }
}

impl Pattern {
    fn read(line: &[u8], anchored: bool) -> Option<Self> {
        let is_plain = |bytes: &[u8]| !bytes.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\'));
        if is_plain(line) {
            return Some(Self::Exact(line.to_vec()));
        }
        match line.strip_prefix(b"*") {
            Some(ending) if !anchored && is_plain(ending) => Some(Self::Ending(ending.to_vec())),
            Some(_) | None => Glob::new(line).map(Self::Wild),
        }
    }
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// The line without the spaces at its end, but for one that a backslash takes along.
fn without_spaces_at_the_end(line: &[u8]) -> &[u8] {
    let mut end = 0;
    let mut bytes = line.iter().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b' ' => {}
            b'\\' => end = bytes.next().map_or(at, |(next, _)| next) + 1,
            _ => end = at + 1,
        }
    }
    &line[..end]
}
