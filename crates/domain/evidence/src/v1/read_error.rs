/// Why a record of a run has no event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The record belongs to no run.
    #[error("the record belongs to no run")]
    NotOfARun,
    /// A word that this version does not know.
    #[error("`{word}` is no known {what}")]
    UnknownWord {
        /// What it should be.
        what: &'static str,
        /// The word.
        word: String,
    },
    /// Fields that contradict each other.
    #[error("the fields of the {0} contradict each other")]
    Inconsistent(&'static str),
}
