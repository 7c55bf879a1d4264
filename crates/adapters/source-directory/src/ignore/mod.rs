//! The rules of `.gitignore` files, as git reads and applies them to what it does not track.
//!
//! Names compare by their bytes, in their own case. `**` right after other bytes is a star like any other, as the
//! documentation of git has it.

mod glob;
mod rule;

pub(crate) use rule::Rule;

use crate::limits::IGNORE_RULES;
use crate::{EntryPath, ImportError};

/// The rules in force at one place: those of its directory and of all above it.
#[derive(Default)]
pub(crate) struct IgnoreRules {
    directories: Vec<DirectoryRules>,
    count: usize,
}

struct DirectoryRules {
    /// Where the paths below the directory begin within paths as they are asked for.
    start: usize,
    rules: Vec<Rule>,
}

/// Reads a `.gitignore` file. What can match nothing is no rule.
pub(crate) fn parse(file: &[u8]) -> Vec<Rule> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    file.split(|byte| *byte == b'\n').filter_map(Rule::read).collect()
}

impl IgnoreRules {
    /// Enters a directory with the rules of its own file.
    pub(crate) fn enter(&mut self, directory: &EntryPath, rules: Vec<Rule>) -> Result<(), ImportError> {
        self.count += rules.len();
        if self.count > IGNORE_RULES {
            return Err(ImportError::TooManyIgnoreRules { path: directory.below(b".gitignore") });
        }
        let length = directory.as_bytes().len();
        self.directories.push(DirectoryRules { start: length + usize::from(length > 0), rules });
        Ok(())
    }

    /// Leaves the directory that was entered last.
    pub(crate) fn leave(&mut self) {
        if let Some(directory) = self.directories.pop() {
            self.count -= directory.rules.len();
        }
    }

    /// Whether the entry is left out. The last rule that is about it decides, in the file nearest to it.
    pub(crate) fn leave_out(&self, path: &EntryPath, is_directory: bool) -> bool {
        self.directories
            .iter()
            .rev()
            .find_map(|directory| {
                let below = path.as_bytes().get(directory.start..).unwrap_or_default();
                directory.rules.iter().rev().find(|rule| rule.is_about(below, is_directory))
            })
            .is_some_and(|rule| !rule.negated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(file: &str, path: &str, is_directory: bool) -> bool {
        let mut rules = IgnoreRules::default();
        rules.enter(&EntryPath::top(), parse(file.as_bytes())).unwrap();
        rules.leave_out(&EntryPath::top().below(path.as_bytes()), is_directory)
    }

    #[test]
    fn lines_are_read_as_git_reads_them() {
        for (file, path, expected) in [
            ("a", "x/a", true),
            ("/a", "x/a", false),
            ("/a", "a", true),
            ("x/a", "y/x/a", false),
            ("*.o\n!b.o", "b.o", false),
            ("!b.o\n*.o", "b.o", true),
            ("#a", "#a", false),
            ("\\#a", "#a", true),
            ("\\!a", "!a", true),
            ("a  ", "a", true),
            ("a\\  ", "a ", true),
            ("a\\ ", "a", false),
            ("a\\\\ ", "a\\", true),
            ("\u{feff}a", "a", true),
            ("a\r\nb", "a", true),
            ("a\t", "a", false),
            ("a\0b", "a", true),
            (" ", " ", false),
            ("/", "a", false),
            ("!", "!", false),
            ("*", "a/b", true),
            ("{a,b}", "a", false),
            ("{a,b}", "{a,b}", true),
        ] {
            assert_eq!(left_out(file, path, false), expected, "{file:?} {path:?}");
        }
        assert!(left_out("a/", "a", true));
        assert!(!left_out("a/", "a", false));
    }

    #[test]
    fn the_rules_of_all_files_above_a_place_are_counted() {
        let half = || parse("a\n".repeat(IGNORE_RULES / 2).as_bytes());
        let mut rules = IgnoreRules::default();
        rules.enter(&EntryPath::top(), half()).unwrap();
        let below = EntryPath::top().below(b"d");
        rules.enter(&below, half()).unwrap();
        let error = rules.enter(&below.below(b"d"), parse(b"a")).unwrap_err();
        assert_eq!(error.code(), "IMPORT_TOO_MANY_IGNORE_RULES");
        let mut siblings = IgnoreRules::default();
        for _ in 0..3 {
            siblings.enter(&below, half()).unwrap();
            siblings.leave();
        }
    }
}
