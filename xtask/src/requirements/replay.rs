//! Makes recorded breaks one by one and looks whether their tests go red.

use std::collections::BTreeMap;
use std::time::Instant;

use super::proofs::{Case, TestName};
use super::run_of_test::{self, Ending, log_name, shown};
use super::scratch::Scratch;
use crate::failure::Failure;
use crate::verdict::Verdict;
use crate::workspace::Workspace;

/// The cases of one test binary, which is built once unbroken before its breaks.
type Groups = BTreeMap<(String, Vec<String>), Vec<Case>>;

/// What came of the cases.
#[derive(Debug, Default)]
struct Tally {
    red: usize,
    bad: usize,
    left: usize,
}

/// Replays the cases, ordered so that consecutive ones build the same crates. After `deadline` no further one is begun.
pub(super) fn run(
    workspace: &Workspace,
    cases: Vec<Case>,
    deadline: Option<Instant>,
) -> Result<Verdict, Failure> {
    if cases.is_empty() {
        println!("breaks: none recorded");
        return Ok(Verdict::Green);
    }
    let scratch = Scratch::lay(workspace)?;
    let mut tally = Tally::default();
    let mut index = 0;
    for group in grouped(cases).into_values() {
        let tests: Vec<&TestName> = group.iter().map(|case| &case.test).collect();
        if deadline.is_some_and(|deadline| Instant::now() > deadline) {
            tally.left += group.len();
            continue;
        }
        index += 1;
        let sound = passes_unbroken(workspace, &scratch, index, tests)?;
        for case in &group {
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                tally.left += 1;
                continue;
            }
            index += 1;
            let red = sound && goes_red(workspace, &scratch, index, case)?;
            if red { tally.red += 1 } else { tally.bad += 1 }
        }
    }
    println!("breaks: {} red, {} not red, {} left for want of time", tally.red, tally.bad, tally.left);
    Ok(Verdict::green_if(tally.bad == 0))
}

fn grouped(cases: Vec<Case>) -> Groups {
    let mut groups = Groups::new();
    for case in cases {
        groups.entry((case.test.package.clone(), case.test.target.clone())).or_default().push(case);
    }
    groups
        .values_mut()
        .for_each(|cases| cases.sort_by(|one, other| one.planned.path.cmp(&other.planned.path)));
    groups
}

/// Whether the tests pass before anything is broken: only then does a red one say something.
fn passes_unbroken(
    workspace: &Workspace,
    scratch: &Scratch,
    index: usize,
    mut tests: Vec<&TestName>,
) -> Result<bool, Failure> {
    tests.sort();
    tests.dedup();
    let Some(first) = tests.first() else { return Ok(true) };
    let log = log_name(index, first);
    let ending = run_of_test::run(workspace, scratch, &tests, &log)?;
    if ending != Ending::Passed {
        println!(
            "  NOT GREEN UNBROKEN ({ending:?}) {} {}",
            first.package,
            shown(scratch, &log, &workspace.root)
        );
    }
    Ok(ending == Ending::Passed)
}

fn goes_red(workspace: &Workspace, scratch: &Scratch, index: usize, case: &Case) -> Result<bool, Failure> {
    let log = log_name(index, &case.test);
    let started = Instant::now();
    let ending = scratch
        .broken(workspace, &case.planned, || run_of_test::run(workspace, scratch, &[&case.test], &log))?;
    let (red, word) = judge(ending, case.planned.build);
    println!(
        "  {word} {} {}::{} after {} ({} ms)",
        case.rows.join(" "),
        case.test.package,
        case.test.name,
        case.planned.path,
        started.elapsed().as_millis()
    );
    if !red {
        println!(
            "    `{}` -> `{}`, see {}",
            case.planned.old,
            case.planned.new,
            shown(scratch, &log, &workspace.root)
        );
    }
    Ok(red)
}

fn judge(ending: Ending, meant_not_to_build: bool) -> (bool, &'static str) {
    match ending {
        Ending::Failed => (true, "red"),
        Ending::DidNotBuild if meant_not_to_build => (true, "red (does not build, as it must)"),
        Ending::DidNotBuild => (false, "DID NOT BUILD"),
        Ending::Passed => (false, "STAYED GREEN"),
        Ending::NoSuchTest => (false, "NO SUCH TEST"),
        Ending::TimedOut => (false, "TIMED OUT"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::proofs::Break;
    use super::*;

    #[test]
    fn only_a_test_that_ran_and_failed_is_red() {
        assert!(judge(Ending::Failed, false).0);
        for ending in [Ending::Passed, Ending::NoSuchTest, Ending::DidNotBuild, Ending::TimedOut] {
            assert!(!judge(ending, false).0, "{ending:?}");
        }
        assert!(judge(Ending::DidNotBuild, true).0);
        assert!(!judge(Ending::Passed, true).0);
    }

    #[test]
    fn cases_of_one_test_binary_stand_together_and_by_file() {
        let case = |package: &str, path: &str| Case {
            rows: Vec::new(),
            test: TestName { package: package.to_owned(), target: Vec::new(), name: String::new() },
            planned: Break { path: path.to_owned(), old: "a".to_owned(), new: String::new(), build: false },
        };
        let groups = grouped(vec![case("p", "b"), case("q", "a"), case("p", "a")]);
        let order: Vec<(&str, &str)> = groups
            .values()
            .flatten()
            .map(|case| (case.test.package.as_str(), case.planned.path.as_str()))
            .collect();
        assert_eq!(order, [("p", "a"), ("p", "b"), ("q", "a")]);
    }
}
