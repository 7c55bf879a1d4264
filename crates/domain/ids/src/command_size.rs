use crate::limits::{COMMAND_WORD_BYTES, COMMAND_WORDS};

/// What the arguments and the variables of a command come to, counted as the kernel counts them when a program is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandSize {
    /// How many they are.
    pub words: usize,
    /// How many bytes they take: each its own, those between the name and the value of a variable and at its end, and
    /// those of the pointer to it.
    pub bytes: usize,
}

/// Why a command cannot be handed to any sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommandTooLarge {
    /// Too many words.
    #[error("the command has {0} arguments and variables, and at most {COMMAND_WORDS} can be handed over")]
    Words(usize),
    /// Too many bytes.
    #[error(
        "the arguments and variables of the command take {0} bytes, and at most {COMMAND_WORD_BYTES} can be handed over"
    )]
    Bytes(usize),
}

impl CommandSize {
    /// The size of these arguments and variables.
    #[must_use]
    pub fn of<'a>(
        argv: impl IntoIterator<Item = &'a str>,
        environment: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let arguments = argv.into_iter().map(str::len);
        let variables = environment.into_iter().map(|(name, value)| name.len() + 1 + value.len());
        arguments.chain(variables).fold(Self::default(), |size, len| Self {
            words: size.words + 1,
            bytes: size.bytes.saturating_add(len + 1 + size_of::<u64>()),
        })
    }

    /// Refuses what is larger than [`COMMAND_WORDS`] or [`COMMAND_WORD_BYTES`].
    ///
    /// # Errors
    /// [`CommandTooLarge`], which names the limit.
    pub const fn check(self) -> Result<(), CommandTooLarge> {
        if self.words > COMMAND_WORDS {
            return Err(CommandTooLarge::Words(self.words));
        }
        if self.bytes > COMMAND_WORD_BYTES {
            return Err(CommandTooLarge::Bytes(self.bytes));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts_with_what_ends_it_and_points_to_it() {
        let size = CommandSize::of(["a", ""], [("N", "value")]);
        assert_eq!(size, CommandSize { words: 3, bytes: (1 + 9) + 9 + (7 + 9) });
        let filled = |bytes: usize| CommandSize::of([&"x".repeat(bytes - 9)[..]], []);
        assert_eq!(filled(COMMAND_WORD_BYTES).check(), Ok(()));
        let over = COMMAND_WORD_BYTES + 1;
        assert_eq!(filled(over).check(), Err(CommandTooLarge::Bytes(over)));
        let many = |words: usize| CommandSize::of(std::iter::repeat_n("", words), []);
        assert_eq!(many(COMMAND_WORDS).check(), Ok(()));
        assert_eq!(many(COMMAND_WORDS + 1).check(), Err(CommandTooLarge::Words(COMMAND_WORDS + 1)));
    }
}
