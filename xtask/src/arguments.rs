//! The words after a task's name.

use crate::failure::Failure;

/// Takes flags out one by one; what is left over is refused by [`Arguments::rest`] or taken as names.
pub(crate) struct Arguments {
    words: Vec<String>,
}

impl Arguments {
    pub(crate) fn new(words: &[String]) -> Self {
        Self { words: words.to_vec() }
    }

    /// Whether the flag stands there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.words.len();
        self.words.retain(|word| word != name);
        self.words.len() != before
    }

    /// The word after the flag.
    pub(crate) fn value(&mut self, name: &str) -> Result<Option<String>, Failure> {
        let Some(at) = self.words.iter().position(|word| word == name) else {
            return Ok(None);
        };
        if at + 1 == self.words.len() {
            return Err(Failure::new(format!("{name} needs a value")));
        }
        self.words.remove(at);
        Ok(Some(self.words.remove(at)))
    }

    /// The whole number after the flag.
    pub(crate) fn number(&mut self, name: &str) -> Result<Option<u64>, Failure> {
        self.value(name)?
            .map(|word| {
                word.parse().map_err(|cause| Failure::caused(format!("{name} {word}: not a number"), cause))
            })
            .transpose()
    }

    /// Everything after `--`, taken out.
    pub(crate) fn after_dashes(&mut self) -> Vec<String> {
        let Some(at) = self.words.iter().position(|word| word == "--") else {
            return Vec::new();
        };
        let rest = self.words.split_off(at + 1);
        self.words.pop();
        rest
    }

    /// What is left, as names.
    pub(crate) fn names(self) -> Result<Vec<String>, Failure> {
        match self.words.iter().find(|word| word.starts_with('-')) {
            Some(word) => Err(Failure::new(format!("{word} is not a flag of this task"))),
            None => Ok(self.words),
        }
    }

    /// Refuses anything left.
    pub(crate) fn rest(self) -> Result<(), Failure> {
        match self.words.first() {
            Some(word) => Err(Failure::new(format!("{word} means nothing here"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(text: &str) -> Arguments {
        Arguments::new(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags_values_and_a_filter_are_told_apart() {
        let mut given = arguments("--seed 7 --install -- --install one");
        assert_eq!(given.after_dashes(), ["--install", "one"]);
        assert_eq!(given.number("--seed").unwrap(), Some(7));
        assert!(given.flag("--install"));
        assert!(!given.flag("--install"));
        given.rest().unwrap();
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        assert!(arguments("--seed").number("--seed").is_err());
        assert!(arguments("--seed x").number("--seed").is_err());
        assert!(arguments("--what").names().is_err());
        assert!(arguments("what").rest().is_err());
        assert_eq!(arguments("edges ratchet").names().unwrap(), ["edges", "ratchet"]);
    }
}
