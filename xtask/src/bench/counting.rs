//! What an operation asks of the kernel, counted by `strace`: the same on a quiet machine and on a loaded one.
//!
//! An arm is traced twice, with a few performances and with some more. The difference belongs to the performances alone,
//! with everything that they leave to be done in the background, and without what starting and ending the arm takes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::arm::{Process, Start};
use super::operations::{ArmPlan, Ground, Operation};
use crate::cargo;
use crate::failure::Failure;

/// So many performances in the first trace; what is done once is done by then.
const FEW: u64 = 2;
/// So many more in the second.
const MORE: u64 = 4;

/// Calls that only wait or wake: their number depends on who was faster.
const WAITING: [&str; 13] = [
    "clock_nanosleep",
    "epoll_ctl",
    "epoll_pwait",
    "epoll_wait",
    "futex",
    "nanosleep",
    "poll",
    "ppoll",
    "pselect6",
    "restart_syscall",
    "rt_sigreturn",
    "sched_yield",
    "select",
];

/// What a count is the sum of.
const GROUPS: [(&str, &[&str]); 4] = [
    ("forks", &["clone", "clone3", "fork", "vfork"]),
    ("execs", &["execve", "execveat"]),
    (
        "mounts",
        &[
            "mount",
            "umount2",
            "pivot_root",
            "fsopen",
            "fsconfig",
            "fsmount",
            "move_mount",
            "open_tree",
            "mount_setattr",
        ],
    ),
    ("syncs", &["fsync", "fdatasync", "sync_file_range", "msync", "sync", "syncfs"]),
];

/// The counts of one performance, or why there are none.
pub(super) type Counted = Result<BTreeMap<String, u64>, String>;

/// Counts what an arm does. An arm that is absent has no counts and no reason.
pub(super) fn count(operation: &Operation, plan: &ArmPlan, ground: &Ground) -> Result<Counted, Failure> {
    if !operation.traced {
        return Ok(Err("its calls are not counted".to_owned()));
    }
    if !cargo::answers("strace", &["-V"]) {
        return Ok(Err("not counted: strace is not installed".to_owned()));
    }
    let trace = |performances| traced(operation, plan, ground, performances);
    let (few, more) = match (trace(FEW), trace(FEW + MORE)) {
        (Ok(few), Ok(more)) => (few, more),
        (Err(failure), _) | (_, Err(failure)) => {
            return Ok(Err(format!("not counted: {}", failure.with_causes())));
        }
    };
    Ok(Ok(summary(&few, &more, MORE)))
}

/// How often a call was made, and how often it succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Made {
    calls: u64,
    successes: u64,
}

type Calls = BTreeMap<String, Made>;

fn traced(
    operation: &Operation,
    plan: &ArmPlan,
    ground: &Ground,
    performances: u64,
) -> Result<Calls, Failure> {
    let inner = (plan.program)(ground)?;
    let file = ground.folder.join(format!("{}-{}.strace", operation.name, plan.name));
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-c", "-U", "name,calls,errors", "-o"]).arg(&file);
    command.arg(inner.get_program()).args(inner.get_args());
    command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(&ground.folder);
    {
        let mut arm = match Process::start(plan.name, &mut command)? {
            Start::Ready(arm) => arm,
            Start::Absent(why) => return Err(Failure::new(why)),
        };
        for _ in 0..performances {
            (operation.before)(ground)?;
            arm.operate()?;
        }
    }
    let text = fs::read_to_string(&file).map_err(Failure::at("read", &file))?;
    let calls = parse(&text).ok_or_else(|| unreadable(&file))?;
    let _ = fs::remove_file(&file);
    Ok(calls)
}

fn unreadable(file: &Path) -> Failure {
    Failure::new(format!("{} is no summary of strace", file.display()))
}

/// A line a call: its name, how often it was made, and how often it failed, where it did. The table has a header, rules,
/// and a total, which must be the sum. Before it may stand a word about a process that outlived the trace.
fn parse(text: &str) -> Option<Calls> {
    let mut calls = Calls::new();
    let mut total: Option<u64> = None;
    for line in text.lines().skip_while(|line| !line.starts_with("syscall ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] | ["syscall", "calls", "errors"] => {}
            [first, ..] if first.starts_with("--") => {}
            ["total", count] | ["total", count, _] => total = Some(count.parse().ok()?),
            [name, count] => {
                let calls_made = count.parse().ok()?;
                calls.insert(name.to_owned(), Made { calls: calls_made, successes: calls_made });
            }
            [name, count, errors] => {
                let calls_made: u64 = count.parse().ok()?;
                let successes = calls_made.checked_sub(errors.parse().ok()?)?;
                calls.insert(name.to_owned(), Made { calls: calls_made, successes });
            }
            _ => return None,
        }
    }
    (total? == calls.values().map(|made| made.calls).sum::<u64>()).then_some(calls)
}

/// Of each group what succeeded; of all calls together also what failed.
fn summary(few: &Calls, more: &Calls, performances: u64) -> BTreeMap<String, u64> {
    let each = |wanted: &dyn Fn(&str) -> bool, number: fn(&Made) -> u64| {
        let sum = |calls: &Calls| -> u64 {
            calls.iter().filter(|(name, _)| wanted(name)).map(|(_, made)| number(made)).sum()
        };
        (sum(more).saturating_sub(sum(few)) + performances / 2) / performances
    };
    let all = each(&|name| !WAITING.contains(&name), |made| made.calls);
    let mut counts = BTreeMap::from([("systemCalls".to_owned(), all)]);
    for (group, names) in GROUPS {
        let count = each(&|name| names.contains(&name), |made| made.successes);
        if count > 0 {
            counts.insert(group.to_owned(), count);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
syscall              calls    errors
---------------- --------- ---------
read                    12
futex                    9         3
execve                   4         3
fdatasync                2
---------------- --------- ---------
total                   27         6
";

    #[test]
    fn a_table_of_strace_is_read_and_one_that_is_cut_off_is_refused() {
        let calls = parse(TABLE).unwrap();
        assert_eq!(calls.len(), 4);
        assert_eq!(calls["read"], Made { calls: 12, successes: 12 });
        assert_eq!(calls["execve"], Made { calls: 4, successes: 1 });
        assert_eq!(parse(&format!("7353  ???( <detached ...>\n{TABLE}")), Some(calls));
        let cut: String = TABLE.lines().take(5).map(|line| format!("{line}\n")).collect();
        let more_errors = TABLE.replace("4         3", "4         5");
        for bad in
            ["", &cut, &TABLE.replace("27", "25"), &TABLE.replace("12", "x"), &more_errors, "what is this"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_difference_of_two_traces_is_what_the_performances_cost() {
        let calls = |list: &[(&str, u64, u64)]| -> Calls {
            let made = |(name, calls, successes): &(&str, u64, u64)| {
                ((*name).to_owned(), Made { calls: *calls, successes: *successes })
            };
            list.iter().map(made).collect()
        };
        let few = calls(&[("read", 100, 100), ("fdatasync", 10, 10), ("futex", 5, 5), ("mount", 3, 3)]);
        let more = calls(&[
            ("execve", 40, 4),
            ("read", 108, 108),
            ("fdatasync", 18, 18),
            ("fsync", 4, 4),
            ("futex", 900, 900),
            ("mount", 3, 3),
        ]);
        let counts = summary(&few, &more, 4);
        let expected = [("systemCalls", 15), ("syncs", 3), ("execs", 1)];
        assert_eq!(counts, expected.map(|(name, count)| (name.to_owned(), count)).into());
    }

    #[test]
    fn strace_counts_an_arm_or_says_why_not() {
        let operation = &super::super::operations::OPERATIONS[0];
        let ground = Ground::for_tests();
        let counted = count(operation, &SHELL, &ground).unwrap();
        match counted {
            Ok(counts) => assert_eq!((counts["forks"], counts["execs"]), (1, 1), "{counts:?}"),
            Err(why) => println!("skipped: STRACE_UNUSABLE {why}"),
        }
    }

    static SHELL: ArmPlan = ArmPlan {
        name: "shell",
        role: super::super::operations::Role::Peer,
        lacks: "",
        program: |_| {
            let mut command = Command::new("sh");
            command.args(["-c", "echo ready; while read op; do /bin/true; echo 1; done"]);
            Ok(command)
        },
    };
}
