//! Versions as kernels and runtimes tell them.

/// Three numbers, and before them all candidates for a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) patch: u32,
    /// The number of a release candidate; `u32::MAX` for the release itself, which comes after all of them.
    pub(crate) candidate: u32,
}

impl Version {
    /// A release.
    pub(crate) const fn of(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch, candidate: u32::MAX }
    }

    /// The numbers at the start of a text, with one `v` before them at most; a last number that is absent is 0. `None`
    /// where there are no two, or one is too large.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let (major, rest) = number(text)?;
        let (minor, rest) = number(rest.strip_prefix('.')?)?;
        let (patch, rest) = match rest.strip_prefix('.') {
            Some(after) if after.starts_with(|c: char| c.is_ascii_digit()) => number(after)?,
            _ => (0, rest),
        };
        let rest = rest.strip_prefix(['-', '~']).unwrap_or(rest);
        let candidate = match rest.strip_prefix("rc") {
            Some(after) => number(after.trim_start_matches(['.', '-']))?.0,
            None => u32::MAX,
        };
        Some(Self { major, minor, patch, candidate })
    }

    /// The numbers that the releases of one branch share.
    pub(crate) const fn branch(self) -> (u32, u32) {
        (self.major, self.minor)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if self.candidate == u32::MAX { Ok(()) } else { write!(f, "-rc.{}", self.candidate) }
    }
}

/// A number at the start of a text, and what follows it.
fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

/// The day of a release that is named by it (`release-20240729.0`, `0.0~20240729.0-4`): the first eight digits in a row.
pub(crate) fn date(text: &str) -> Option<u32> {
    let mut runs = text.split(|c: char| !c.is_ascii_digit());
    runs.find(|run| run.len() == 8).and_then(|run| run.parse().ok())
}
