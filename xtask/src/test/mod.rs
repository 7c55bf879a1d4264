//! `cargo xtask test`: every test, the cheap rules, the fuzzed properties for some seconds, and a sample of breaks
//! replayed.

mod debian;
mod failed;
mod locked;
mod needs;
mod output;
mod tally;

use std::time::{Duration, Instant};

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::seeded::seed_of;
use crate::verdict::Verdict;
use crate::workspace::Workspace;
use crate::{check, fuzz, requirements};
use tally::Tally;

/// Breaks replayed after the tests.
const BREAKS: u64 = 10;
/// After this no further break is begun: the whole must end within 25 minutes, also where the last one takes its time.
const BREAKS_UNTIL: Duration = Duration::from_secs(15 * 60);

/// For how long each fuzzed property is tried, in seconds.
const FUZZ_SECONDS: u64 = 3;

/// What the parts answered; `None` where one was not asked.
struct Parts {
    tests: Verdict,
    rules: Option<Verdict>,
    fuzz: Option<Verdict>,
    breaks: Option<Verdict>,
}

pub(crate) fn run(words: &[String]) -> Result<Verdict, Failure> {
    let started = Instant::now();
    let mut arguments = Arguments::new(words);
    let filter = arguments.after_dashes();
    let install = arguments.flag("--install");
    let seed = arguments.number("--seed")?;
    arguments.rest()?;

    let workspace = Workspace::open()?;
    let seed = seed.unwrap_or_else(|| seed_of(workspace.texts.values().map(String::as_str)));
    let missing = if install { needs::install_missing(&workspace)? } else { needs::missing(&workspace) };
    let (ended_well, tally) = output::run_tests(&workspace, &filter)?;
    let tests = Verdict::green_if(ended_well && tally.ran() > 0).and(cases_verdict(&workspace, &tally));
    let mut parts = Parts { tests, rules: None, fuzz: None, breaks: None };
    if filter.is_empty() {
        parts.rules = Some(check::run_cheap(&workspace)?);
        if fuzz::can_run() {
            parts.fuzz = Some(fuzz::bounded(&workspace, FUZZ_SECONDS, seed)?);
        }
        if parts.tests == Verdict::Green {
            let deadline = started + BREAKS_UNTIL;
            parts.breaks = Some(requirements::replay_sample(&workspace, BREAKS, seed, deadline)?);
        }
    }
    close(&tally, &missing, &parts, started.elapsed());
    Ok([parts.rules, parts.fuzz, parts.breaks].into_iter().flatten().fold(parts.tests, Verdict::and))
}

/// Red where cases are required and were not there.
fn cases_verdict(workspace: &Workspace, tally: &Tally) -> Verdict {
    let required = std::env::var_os("AMBIT_REQUIRE_CASES").is_some_and(|value| value == "1");
    let absent = !workspace.cases_folder().is_dir() || tally.skipped_for("CASES_ABSENT");
    if required && absent {
        println!("the cases are required and absent: set AMBIT_CASES to their folder");
    }
    Verdict::green_if(!(required && absent))
}

fn close(tally: &Tally, missing: &[&needs::Need], parts: &Parts, took: Duration) {
    println!();
    tally.print();
    for need in missing {
        println!("missing: {}; {}", need.name, need.tests);
    }
    tally.print_failures();
    let said = |verdict: Option<Verdict>| match verdict {
        Some(Verdict::Green) => "ok",
        Some(Verdict::Red) => "RED",
        None => "not asked",
    };
    let [tests, rules, fuzz, breaks] = [Some(parts.tests), parts.rules, parts.fuzz, parts.breaks].map(said);
    println!("tests {tests}, rules {rules}, fuzz {fuzz}, breaks {breaks}");
    println!("{}", tally.closing_line());
    println!("took {} s", took.as_secs());
}
