/// A closed vocabulary that the reader can offer as suggestions.
pub(crate) trait Word: Copy + 'static {
    /// Every word.
    const WORDS: &'static [Self];

    /// The word as documents spell it.
    fn spelled(self) -> &'static str;
}
