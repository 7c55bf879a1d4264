//! What an arm keeps apart, seen by a program in it before it is timed: times compare only where as much is held.

use super::arm::Arm;

/// What the program is, for a shell.
const SCRIPT: &str = include_str!("isolation.sh");

/// What it looks for, by its own names, in words.
const PROPERTIES: [(&str, &str); 11] = [
    ("root", "a root that cannot be written"),
    ("processes", "processes of its own"),
    ("network", "no network but its own"),
    ("filter", "a system-call filter"),
    ("privileges", "no new privileges"),
    ("capabilities", "no capability in the bounding set"),
    ("user", "a user of its own"),
    ("workspace", "a place to write"),
    ("files", "a workspace with files in it"),
    ("memory", "a bound on memory"),
    ("forks", "a bound on processes"),
];

/// What was seen of one arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// It is not asked for, or the arm has no place for such a program.
    Unasked,
    /// The program could not be run, and why.
    Unseen(String),
    /// What it found.
    Seen {
        /// In words.
        holds: Vec<&'static str>,
        /// Likewise.
        lacks: Vec<&'static str>,
    },
}

impl Held {
    pub(super) fn by(arm: &mut dyn Arm) -> Self {
        match arm.run(SCRIPT) {
            Ok(None) => Self::Unasked,
            Ok(Some(said)) => Self::read(&said),
            Err(failure) => Self::Unseen(failure.with_causes().replace('\n', " ")),
        }
    }

    /// A property of which nothing was said is not held.
    fn read(said: &str) -> Self {
        let found: Vec<(&str, &str)> =
            said.split_whitespace().filter_map(|word| word.split_once('=')).collect();
        if found.is_empty() {
            return Self::Unseen(format!("it said {said:?}"));
        }
        let is_held = |(name, _): &(&str, &str)| found.contains(&(name, "yes"));
        let (holds, lacks): (Vec<_>, Vec<_>) = PROPERTIES.into_iter().partition(is_held);
        let words =
            |properties: Vec<(_, &'static str)>| properties.into_iter().map(|(_, word)| word).collect();
        Self::Seen { holds: words(holds), lacks: words(lacks) }
    }

    /// The line that tells it; `None` where there is nothing to tell.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Unasked => None,
            Self::Unseen(why) => Some(format!("what it holds could not be seen: {why}")),
            Self::Seen { holds, lacks } if lacks.is_empty() => {
                Some(format!("holds by probes all {} properties", holds.len()))
            }
            Self::Seen { holds, lacks } => Some(format!(
                "holds by probes {} of {} properties, not: {}",
                holds.len(),
                holds.len() + lacks.len(),
                lacks.join("; ")
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_is_not_said_is_not_held_and_nothing_is_not_an_answer() {
        let names = PROPERTIES.map(|(name, _)| format!("{name}=yes"));
        assert!(matches!(Held::read(&names.join(" ")), Held::Seen { lacks, .. } if lacks.is_empty()));
        let Held::Seen { holds, lacks } = Held::read("root=no forks=yes") else { panic!("not seen") };
        assert_eq!((holds, lacks.len()), (vec!["a bound on processes"], PROPERTIES.len() - 1));
        assert!(matches!(Held::read("Segmentation fault"), Held::Unseen(_)));
    }

    /// Outside of every sandbox, and without the two parts that would fill this machine.
    #[test]
    fn the_program_sees_that_nothing_is_held() {
        let harmless = SCRIPT.replace("-lt 26", "-lt 2").replace("-lt 300", "-lt 0");
        assert_ne!(harmless, SCRIPT);
        let said = Command::new("sh").args(["-c", &harmless]).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        let Held::Seen { lacks, .. } = Held::read(&said) else { panic!("{said}") };
        for property in ["a workspace with files in it", "a bound on memory", "a bound on processes"] {
            assert!(lacks.contains(&property), "{said}");
        }
        assert_eq!(said.split_whitespace().count(), PROPERTIES.len(), "{said}");
    }
}
