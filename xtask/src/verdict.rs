/// Whether what was asked for holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Green,
    Red,
}

impl Verdict {
    pub(crate) fn green_if(holds: bool) -> Self {
        if holds { Self::Green } else { Self::Red }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        if other == Self::Red { other } else { self }
    }
}
