//! What the first process tells of a command, as the line it comes in.

use ambit_gates::NotStarted;
use ambit_verdict::{EndedBy, How};

/// What the first process tells at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// How the command ended.
    pub(crate) account: ambit_verdict::Account,
    /// The error number of the step that failed before the command could be one.
    pub(crate) not_confined: Option<u8>,
    /// Processes that outlived the command and were killed.
    pub(crate) killed: u32,
    /// From start to end.
    pub(crate) wall_us: u64,
}

impl Told {
    /// Reads the line `ended HOW NUMBER BY KILLED MICROSECONDS`; `None` where it is anything else.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let ["ended", how, number, by, killed, wall_us] = words[..] else { return None };
        let number = number.parse().ok()?;
        let how = match how {
            "exited" => How::Exited(number),
            "signalled" => How::Signalled(number),
            "not-found" => How::NotStarted(NotStarted::CommandNotFound),
            "not-executable" => How::NotStarted(NotStarted::NotExecutable),
            "not-confined" => How::NotConfined,
            "no-workdir" => How::NotStarted(NotStarted::WorkdirMissing),
            _ => return None,
        };
        let by = match by {
            "itself" => EndedBy::Itself,
            "request" => EndedBy::Request,
            "deadline" => EndedBy::Deadline,
            _ => return None,
        };
        let not_confined = (how == How::NotConfined).then_some(number);
        let account = ambit_verdict::Account { how, by };
        Some(Self { account, not_confined, killed: killed.parse().ok()?, wall_us: wall_us.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_told_as_it_is() {
        let account = |line: &str| Told::parse(line).map(|told| (told.account.how, told.account.by));
        assert_eq!(account("ended exited 7 itself 0 12"), Some((How::Exited(7), EndedBy::Itself)));
        assert_eq!(account("ended signalled 9 request 3 12"), Some((How::Signalled(9), EndedBy::Request)));
        assert_eq!(account("ended signalled 9 deadline 3 12"), Some((How::Signalled(9), EndedBy::Deadline)));
        let absent = How::NotStarted(NotStarted::CommandNotFound);
        assert_eq!(account("ended not-found 0 itself 0 12"), Some((absent, EndedBy::Itself)));
        let told = Told::parse("ended exited 0 itself 3 12").unwrap();
        assert_eq!((told.killed, told.wall_us, told.not_confined), (3, 12, None));
        assert_eq!(Told::parse("ended not-confined 1 itself 0 0").unwrap().not_confined, Some(1));
    }

    #[test]
    fn what_is_not_a_whole_account_is_none() {
        for cut in [
            "",
            "ended",
            "ended exited 0 itself 0",
            "ended exited 0 itself 0 x",
            "ended exited 300 itself 0 1",
            "ended exited 0 nobody 0 1",
            "ended exited 0 itself 0 1 2",
        ] {
            assert_eq!(Told::parse(cut), None, "{cut:?}");
        }
    }
}
