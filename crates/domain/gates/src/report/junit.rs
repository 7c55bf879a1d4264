//! JUnit XML. There is no standard of it; what is read here is what its writers agree on.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

use super::{REPORT_DEPTH, ReportError, ReportProblem, TestOutcome, TestReport};

/// What pytest says of a module that could not be loaded, which it reports as if it were a test.
const NOT_COLLECTED: &str = "collection failure";
/// The class of what unittest reports in place of a module that could not be loaded.
const NOT_LOADED: &str = "unittest.loader._FailedTest";

/// An element that is open.
enum Open {
    /// `testsuites` or `testsuite`: what it declares to have failed, and what failed below it.
    Suite { declared: u32, listed: u32 },
    /// `testcase`. One that stands for what could not be loaded is no test.
    Case { name: String, outcome: TestOutcome, is_test: bool },
    /// Anything else, which tells nothing of a test.
    Other,
}

pub(super) fn read(text: &str, report: &mut TestReport) -> Result<(), ReportError> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Open> = Vec::new();
    let mut has_root = false;
    loop {
        let at = reader.buffer_position();
        let malformed = |what: &dyn std::fmt::Display| {
            ReportError::new(ReportProblem::Malformed, format!("byte {at}: {what}"))
        };
        match reader.read_event().map_err(|error| malformed(&error))? {
            Event::Start(element) => {
                let opened = begin(&element, &mut open, has_root, report).map_err(|what| malformed(&what))?;
                has_root = true;
                if open.len() >= REPORT_DEPTH {
                    let detail = format!("byte {at}: more than {REPORT_DEPTH} elements within each other");
                    return Err(ReportError::new(ReportProblem::TooDeep, detail));
                }
                open.push(opened);
            }
            Event::Empty(element) => {
                let opened = begin(&element, &mut open, has_root, report).map_err(|what| malformed(&what))?;
                has_root = true;
                end(opened, &mut open, report)?;
            }
            // That it is the end of the element that was opened last, the reader checks.
            Event::End(_) => {
                let closed = open.pop().ok_or_else(|| malformed(&"nothing is open that could end"))?;
                end(closed, &mut open, report)?;
            }
            Event::DocType(_) => {
                let detail = format!("byte {at}: a document type");
                return Err(ReportError::new(ReportProblem::Entity, detail));
            }
            Event::GeneralRef(reference) if !is_predefined(&reference) => {
                let detail = format!("byte {at}: an entity of its own");
                return Err(ReportError::new(ReportProblem::Entity, detail));
            }
            Event::Decl(declaration) => {
                let encoding = declaration.encoding().transpose().map_err(|error| malformed(&error))?;
                if encoding.is_some_and(|name| !name.eq_ignore_ascii_case("utf-8")) {
                    return Err(ReportError::new(ReportProblem::NotText, "it says that it is not UTF-8"));
                }
            }
            Event::Text(text) if open.is_empty() && !text.trim().is_empty() => {
                return Err(malformed(&"text outside of the root"));
            }
            Event::Eof if !open.is_empty() => {
                let detail = format!("{} elements are open at its end", open.len());
                return Err(ReportError::new(ReportProblem::Cut, detail));
            }
            Event::Eof if !has_root => {
                return Err(ReportError::new(ReportProblem::Cut, "it has no root"));
            }
            Event::Eof => return Ok(()),
            Event::Text(_) | Event::CData(_) | Event::Comment(_) | Event::PI(_) | Event::GeneralRef(_) => {}
        }
    }
}

/// One of the five entities of XML, or a character by its number.
fn is_predefined(reference: &str) -> bool {
    matches!(reference, "lt" | "gt" | "amp" | "apos" | "quot") || reference.starts_with('#')
}

fn begin(
    element: &BytesStart<'_>,
    open: &mut [Open],
    has_root: bool,
    report: &mut TestReport,
) -> Result<Open, String> {
    let name = element.local_name();
    let name = name.as_ref();
    match open.last_mut() {
        None if has_root => Err("a second root".to_owned()),
        None if !matches!(name, "testsuites" | "testsuite") => Err("its root is no suite".to_owned()),
        // A case that failed and passed when it was run again is not one that passes.
        Some(Open::Case { outcome, is_test, .. }) => {
            match name {
                "error" if attribute(element, "message")?.as_deref() == Some(NOT_COLLECTED) => {
                    (*outcome, *is_test) = (TestOutcome::Failed, false);
                }
                "failure" | "error" | "flakyFailure" | "flakyError" | "rerunFailure" | "rerunError" => {
                    *outcome = TestOutcome::Failed;
                }
                "skipped" if *outcome == TestOutcome::Passed => *outcome = TestOutcome::Skipped,
                "testsuite" | "testcase" => return Err(format!("a {name} within a case")),
                _ => {}
            }
            Ok(Open::Other)
        }
        None | Some(Open::Suite { .. }) => begin_in_suite(name, element, open, report),
        Some(Open::Other) => match name {
            "testsuite" | "testcase" => Err(format!("a {name} within something that is no suite")),
            _ => Ok(Open::Other),
        },
    }
}

fn begin_in_suite(
    name: &str,
    element: &BytesStart<'_>,
    open: &mut [Open],
    report: &mut TestReport,
) -> Result<Open, String> {
    match name {
        "testsuites" | "testsuite" => {
            let declared = count(element, "failures")?.saturating_add(count(element, "errors")?);
            Ok(Open::Suite { declared, listed: 0 })
        }
        "testcase" => {
            let case = attribute(element, "name")?.ok_or("a case without a name")?;
            let class = attribute(element, "classname")?.filter(|class| !class.is_empty());
            let is_test = class.as_deref() != Some(NOT_LOADED);
            let name = class.map_or_else(|| case.clone(), |class| format!("{class}::{case}"));
            Ok(Open::Case { name, outcome: TestOutcome::Passed, is_test })
        }
        "failure" | "error" => {
            report.fail_outside(1);
            if let Some(Open::Suite { listed, .. }) = open.last_mut() {
                *listed = listed.saturating_add(1);
            }
            Ok(Open::Other)
        }
        _ => Ok(Open::Other),
    }
}

fn end(closed: Open, open: &mut [Open], report: &mut TestReport) -> Result<(), ReportError> {
    let failed = match closed {
        Open::Other => return Ok(()),
        Open::Case { name, outcome, is_test } => {
            if is_test {
                report.add(&name, outcome)?;
            } else {
                report.fail_outside(1);
            }
            u32::from(outcome == TestOutcome::Failed || !is_test)
        }
        Open::Suite { declared, listed } => {
            let unlisted = declared.saturating_sub(listed);
            report.fail_outside(unlisted);
            listed.saturating_add(unlisted)
        }
    };
    if let Some(Open::Suite { listed, .. }) = open.last_mut() {
        *listed = listed.saturating_add(failed);
    }
    Ok(())
}

fn count(element: &BytesStart<'_>, name: &str) -> Result<u32, String> {
    match attribute(element, name)?.as_deref().map(str::trim) {
        None | Some("") => Ok(0),
        Some(text) => text.parse().map_err(|_| format!("{name} is no number")),
    }
}

/// The value of an attribute. Two of one name, and an entity that XML does not know by itself, are no value.
fn attribute(element: &BytesStart<'_>, wanted: &str) -> Result<Option<String>, String> {
    let mut found = None;
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if attribute.key.as_ref() == wanted {
            let value =
                attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
            found = Some(value.into_owned());
        }
    }
    Ok(found)
}
