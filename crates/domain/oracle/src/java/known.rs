//! The assertions of JUnit, TestNG, AssertJ and Mockito.

use crate::outline::{Check, Relation, alternatives, is_literal, squeezed, top_level};

/// A check that an exception of a class, or of one below it, is thrown.
pub(super) fn thrown(line: u32, shown: &str, subject: &str, class: &str) -> Check {
    let is_any =
        matches!(class, "Throwable.class" | "Exception.class" | "RuntimeException.class" | "Error.class");
    Check::new(line, shown, if is_any { Relation::Present } else { Relation::Equals }, subject, class)
}

/// What an assertion by this name asks of its arguments. `None` for a method that asserts nothing.
pub(super) fn called(name: &str, parts: &[&str], line: u32, shown: &str) -> Option<Check> {
    // JUnit 4 takes a message before what it compares, JUnit 5 after it.
    let wanted = match name {
        "assertTrue" | "assertFalse" | "assertNull" | "assertNotNull" => 1,
        _ => 2,
    };
    let skip = usize::from(parts.len() > wanted && parts[0].starts_with('"') && wanted == 1);
    let part = |at: usize| parts.get(at + skip).copied().unwrap_or("");
    let make = |relation, subject: &str, expected: &str| Check::new(line, shown, relation, subject, expected);
    let check = match name {
        "assertEquals" | "assertSame" | "assertArrayEquals" | "assertIterableEquals" | "assertLinesMatch" => {
            let is_vacuous =
                squeezed(part(0)) == squeezed(part(1)) || (is_literal(part(0)) && is_literal(part(1)));
            let mut check =
                make(if is_vacuous { Relation::Nothing } else { Relation::Equals }, part(1), part(0));
            if part(2).starts_with(|c: char| c.is_ascii_digit()) {
                check.measure = squeezed(part(2));
            }
            check
        }
        "assertNotEquals" | "assertNotSame" => make(Relation::Differs, part(1), part(0)),
        "assertNull" => make(Relation::Present, part(0), "null"),
        "assertNotNull" => make(Relation::Present, part(0), "something"),
        "assertTrue" | "assertFalse" => condition(part(0), name == "assertFalse", line, shown),
        "assertThrows" | "assertThrowsExactly" | "expectThrows" => thrown(line, shown, part(1), part(0)),
        "assertDoesNotThrow" => make(Relation::Present, part(0), "nothing"),
        "fail" => make(Relation::Fails, "", ""),
        "verify" => make(Relation::Present, part(0), "verified"),
        "assertThat" if parts.len() < 2 => return None,
        // With a matcher of Hamcrest.
        "assertThat" => make(Relation::Helper, part(0), part(1)),
        _ if name.starts_with("assert") || name.starts_with("verify") => {
            make(Relation::Helper, &format!("{name}({})", parts.join(",")), "")
        }
        _ => return None,
    };
    Some(check)
}

fn condition(text: &str, is_negated: bool, line: u32, shown: &str) -> Check {
    let make = |relation, subject: &str, expected: &str| Check {
        is_negated,
        ..Check::new(line, shown, relation, subject, expected)
    };
    let either = top_level(text, &["||"]);
    if either.len() > 1 {
        let is_forced = either.iter().any(|part| part.trim() == "true");
        let alone = condition(either[0].trim(), is_negated, line, shown);
        let relation = if is_forced { Relation::Nothing } else { alone.relation };
        return Check { relation, alternatives: alternatives(text, &["||"]), ..alone };
    }
    if text == if is_negated { "false" } else { "true" } {
        return make(Relation::Nothing, text, "");
    }
    for (operator, relation) in [("==", Relation::Equals), ("!=", Relation::Differs)] {
        if let [one, other] = top_level(text, &[operator])[..] {
            return make(relation, one, other);
        }
    }
    for operator in ["<=", ">=", " < ", " > "] {
        if let [one, other] = top_level(text, &[operator])[..] {
            let mut check = make(Relation::Ordered, one, other);
            operator.trim().clone_into(&mut check.measure);
            return check;
        }
    }
    make(Relation::Holds, text, "")
}

/// What one call of a chain asks of what the chain is about.
pub(super) fn chained(
    root: &str,
    subject: &str,
    name: &str,
    parts: &[&str],
    line: u32,
    shown: &str,
) -> Option<Check> {
    let make = |relation, subject: &str, expected: &str| Check::new(line, shown, relation, subject, expected);
    if root == "verify" {
        return Some(verified(subject, name, parts, line, shown));
    }
    let said = parts.join(",");
    let check = match name {
        "isEqualTo" | "isSameAs" | "is" => {
            let is_vacuous = squeezed(subject) == squeezed(&said);
            make(if is_vacuous { Relation::Nothing } else { Relation::Equals }, subject, &said)
        }
        "hasSize" | "hasLength" => make(Relation::Equals, &format!("{subject}.size()"), &said),
        "containsExactly" | "containsExactlyInAnyOrder" | "hasMessage" | "containsExactlyElementsOf" => {
            make(Relation::Equals, &format!("{subject}.parts()"), &said)
        }
        "containsAnyOf"
        | "contains"
        | "startsWith"
        | "endsWith"
        | "hasMessageContaining"
        | "containsOnly"
        | "matches" => {
            let mut check = make(Relation::Shaped, &format!("{subject}.parts()"), &said);
            "contains".clone_into(&mut check.measure);
            check
        }
        "isNotNull" | "isPresent" | "isNotEmpty" | "isNull" | "isNotBlank" => {
            make(Relation::Present, subject, name)
        }
        "isTrue" | "isFalse" => condition(subject, name == "isFalse", line, shown),
        "isNotEqualTo" => make(Relation::Differs, subject, &said),
        "isGreaterThan" | "isLessThan" | "isGreaterThanOrEqualTo" | "isLessThanOrEqualTo" | "isPositive" => {
            let operator = match name {
                "isGreaterThan" | "isPositive" => ">",
                "isLessThan" => "<",
                "isGreaterThanOrEqualTo" => ">=",
                _ => "<=",
            };
            let mut check = make(Relation::Ordered, subject, if said.is_empty() { "0" } else { &said });
            operator.clone_into(&mut check.measure);
            check
        }
        "isInstanceOf" | "isExactlyInstanceOf" => thrown(line, shown, subject, &said),
        // These say how to compare, and ask nothing.
        "as"
        | "describedAs"
        | "withFailMessage"
        | "extracting"
        | "usingRecursiveComparison"
        | "filteredOn"
        | "asList" => return None,
        _ => make(Relation::Helper, &format!("{subject}.{name}({said})"), ""),
    };
    Some(check)
}

/// How often a call is asked for: a number of times, or less than that.
fn verified(subject: &str, name: &str, parts: &[&str], line: u32, shown: &str) -> Check {
    let arguments = top_level(subject, &[","]);
    let times =
        arguments.get(1).map_or("times(1)", |times| times.trim()).rsplit("Mockito.").next().unwrap_or("");
    let call = format!("{}.{name}({})", arguments[0].trim(), parts.join(","));
    let loose = ["atLeast", "atMost", "any", "timeout"].iter().any(|start| times.starts_with(start));
    Check::new(line, shown, if loose { Relation::Present } else { Relation::Equals }, &call, times)
}
