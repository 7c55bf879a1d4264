use std::fmt::Write as _;

use ambit_verify_trace::{Eligibility, Report, Standing};

use crate::verify::BundleReport;

/// The most members that are told one by one.
const TOLD: usize = 20;

/// The report of a bundle as a page.
#[must_use]
pub fn page(report: &BundleReport) -> String {
    let mut page = report_page(&report.report);
    if let Some(eligibility) = &report.eligibility {
        page.push_str(&standing(eligibility));
    }
    if !report.not_covered.is_empty() {
        let _ = writeln!(
            page,
            "not covered by any check, {} of {} members:",
            report.not_covered.len(),
            report.members
        );
        for name in report.not_covered.iter().take(TOLD) {
            let _ = writeln!(page, "  {name}");
        }
        if let Some(more) = report.not_covered.len().checked_sub(TOLD).filter(|more| *more > 0) {
            let _ = writeln!(page, "  and {more} more");
        }
    }
    page
}

fn standing(eligibility: &Eligibility) -> String {
    let mut line = format!("{}: {}", eligibility.revision, eligibility.standing);
    if let Some(tree) = eligibility.tree {
        let _ = write!(line, ", tree {tree}");
    }
    if let Some(missing) = &eligibility.missing {
        let _ = write!(line, "; {}", missing.finding);
    }
    line + "\n"
}

/// A report as a page: each check, and under it what keeps it from being proved.
#[must_use]
pub fn report_page(report: &Report) -> String {
    let mut page = format!("{}: {}\n", report.subject, report.verdict.as_str());
    for check in &report.checks {
        let mark = match check.standing {
            Standing::Proved => "ok     ",
            Standing::Refuted => "REFUTED",
            Standing::NotChecked => "unknown",
        };
        let _ = writeln!(page, "  {mark} {:<18} {}", check.id.as_str(), check.title);
        for finding in &check.findings {
            let _ = writeln!(page, "          {finding}");
        }
    }
    for flag in &report.flags {
        let _ = writeln!(page, "  odd     {flag}");
    }
    for run in &report.runs {
        page.push_str(&report_page(run));
    }
    page
}
