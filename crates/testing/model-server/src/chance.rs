//! Numbers that look like chance and follow from a seed: the mixing of SplitMix64.

pub(crate) struct Chance {
    state: u64,
}

impl Chance {
    /// Two seeds make one, so that every request has chances of its own.
    pub(crate) fn of(seed: u64, number: u64) -> Self {
        let mut chance = Self { state: seed };
        let first = chance.next();
        Self { state: first ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15) }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to and with `most`.
    pub(crate) fn up_to(&mut self, most: u64) -> u64 {
        match most.checked_add(1) {
            Some(many) => self.next() % many,
            None => self.next(),
        }
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        let last = u64::try_from(length.saturating_sub(1)).unwrap_or(u64::MAX);
        usize::try_from(self.up_to(last)).unwrap_or(0)
    }

    pub(crate) fn percent(&mut self, percent: u8) -> bool {
        self.up_to(99) < u64::from(percent)
    }

    pub(crate) fn words(&mut self, most: usize) -> String {
        const WORDS: [&str; 12] = [
            "the",
            "file",
            "says",
            "“naïve”",
            "\"quoted\"",
            "line\nfeed",
            "日本",
            "\\path",
            "test",
            "fails",
            "{}",
            "🦀",
        ];
        let many = 1 + self.index(most.max(1));
        let words: Vec<_> = (0..many).map(|_| WORDS[self.index(WORDS.len())]).collect();
        words.join(" ")
    }
}
