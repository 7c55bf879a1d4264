//! Whether a check that took the place of another is the weaker one.

use ambit_policy::FactKind;

use super::check::{Check, Relation};
use super::spelling::is_same_value;
use super::terms::is_literal;

/// What is told of a check that stands in the place of another. `None` where it is as strong.
pub(super) fn weaker(before: &Check, after: &Check) -> Option<FactKind> {
    if before.is_vacuous() {
        return None;
    }
    if after.is_vacuous() {
        return Some(FactKind::AssertionTautological);
    }
    if after.is_optional && !before.is_optional {
        return Some(FactKind::AssertionLoosened);
    }
    let taken_apart = |check: &Check| !matches!(check.relation, Relation::Helper | Relation::Fails);
    if !taken_apart(before) || !taken_apart(after) {
        let is_left = before.relation != Relation::Fails && after.relation == Relation::Present;
        return is_left.then_some(FactKind::AssertionLoosened);
    }
    if after.alternatives > before.alternatives || falls(before, after) {
        if asks_for_a_failure(before) == asks_for_a_failure(after) {
            return Some(FactKind::AssertionLoosened);
        }
        // `warning.category == X` and a call that must warn of `X` ask for the same.
        let same = !before.expected.is_empty() && before.expected == after.expected;
        return (!same).then_some(FactKind::ExpectationChanged);
    }
    if is_compared_with_itself(after) && !is_compared_with_itself(before) && before.expected == after.expected
    {
        return Some(FactKind::AssertionTautological);
    }
    let same_subject = before.subject == after.subject || before.resolved.0 == after.resolved.0;
    if before.relation != after.relation || !same_subject {
        return None;
    }
    same_relation(before, after)
}

/// Whether a check asks for an error or a warning.
fn asks_for_a_failure(check: &Check) -> bool {
    check.relation == Relation::Shaped
        && matches!(check.subject.as_str(), "raises" | "warns" | "deprecated_call")
}

/// Whether the value that is expected is the one that is looked at, by another name.
fn is_compared_with_itself(check: &Check) -> bool {
    check.relation == Relation::Equals && check.resolved.0 == check.resolved.1
}

/// How much a relation asks.
const fn rank(relation: Relation) -> u8 {
    match relation {
        Relation::Nothing => 0,
        Relation::Present => 1,
        Relation::Differs | Relation::Ordered => 2,
        Relation::Near | Relation::Shaped | Relation::Holds => 3,
        Relation::Equals | Relation::Kept | Relation::Fails | Relation::Helper => 4,
    }
}

/// Whether the relation after asks less than the one before.
fn falls(before: &Check, after: &Check) -> bool {
    if rank(after.relation) >= rank(before.relation) {
        return false;
    }
    let same_text = |one: &str| one == before.expected || one == before.resolved.1;
    match (before.relation, after.relation) {
        // `x == true` is `x`, and a condition may hold both sides.
        (Relation::Equals, Relation::Holds) => {
            let held = [&before.expected, &before.resolved.1].into_iter().any(|expected| {
                after.subject.contains(expected.as_str()) || after.resolved.0.contains(expected.as_str())
            });
            !held && !matches!(before.expected.as_str(), "true" | "false")
        }
        // What holds a key answers when it is asked for it.
        (Relation::Shaped, Relation::Differs) => {
            let asks = after.expected == "None" && after.subject.contains(&before.expected);
            !(asks && before.measure == "contains" && !before.is_negated && is_literal(&before.expected))
        }
        (Relation::Equals, Relation::Shaped) => {
            after.measure != "matches" || !(same_text(&after.expected) || same_text(&after.resolved.1))
        }
        // `x == None` is `x.is_none()`, and no other value is told by asking whether there is one.
        (Relation::Equals, Relation::Present) => !matches!(
            before.expected.as_str(),
            "None" | "Ok(())" | "nil" | "null" | "0" | "[]" | "\"\"" | "true" | "false"
        ),
        // A condition that was not taken apart may be the same one.
        (Relation::Holds, Relation::Differs | Relation::Ordered) => false,
        (Relation::Holds, Relation::Present) => before.resolved.0 == after.resolved.0,
        _ => true,
    }
}

fn same_relation(before: &Check, after: &Check) -> Option<FactKind> {
    let same_expected = before.expected == after.expected
        || before.resolved.1 == after.resolved.1
        || is_same_value(&before.expected, &after.expected);
    if before.is_negated != after.is_negated && same_expected {
        return Some(FactKind::ExpectationChanged);
    }
    match before.relation {
        Relation::Near if is_larger(&after.measure, &before.measure) => Some(FactKind::AssertionLoosened),
        Relation::Ordered => order(before, after, same_expected),
        Relation::Shaped if !same_expected => shape(before, after),
        Relation::Shaped if before.measure == "matches" && after.measure == "contains" => {
            Some(FactKind::AssertionLoosened)
        }
        Relation::Equals if before.measure != after.measure => {
            let stays = before.measure.is_empty() || is_larger(&before.measure, &after.measure);
            (!stays).then_some(FactKind::AssertionLoosened)
        }
        Relation::Kept if !same_expected => Some(FactKind::SnapshotChanged),
        Relation::Present if !same_expected => Some(FactKind::ExpectationChanged),
        Relation::Equals | Relation::Near
            if !same_expected && says_a_value(&before.expected, &after.expected) =>
        {
            Some(FactKind::ExpectationChanged)
        }
        _ => None,
    }
}

fn order(before: &Check, after: &Check, same_expected: bool) -> Option<FactKind> {
    let (was, is) = (before.measure.as_str(), after.measure.as_str());
    if same_expected {
        return match (was, is) {
            _ if was == is => None,
            ("<", "<=") | (">", ">=") => Some(FactKind::AssertionLoosened),
            ("<=", "<") | (">=", ">") => None,
            _ => Some(FactKind::ExpectationChanged),
        };
    }
    let (one, other) = (number(&before.expected)?, number(&after.expected)?);
    let is_upper = is.starts_with('<');
    if was.starts_with('<') != is_upper {
        return Some(FactKind::ExpectationChanged);
    }
    ((is_upper && other > one) || (!is_upper && other < one)).then_some(FactKind::AssertionLoosened)
}

fn shape(before: &Check, after: &Check) -> Option<FactKind> {
    let (was, is) = (before.expected.as_str(), after.expected.as_str());
    // Of any error, or of any kind at all, every kind is one.
    if before.measure == "type"
        && matches!(was, "Exception" | "BaseException" | "object")
        && !before.is_negated
    {
        return None;
    }
    let open = |text: &str| {
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        text.matches("..").count() + words.filter(|word| *word == "_").count()
    };
    // Bytes that are decoded hold the same text.
    let text = |text: &str| text.trim_start_matches(['b', 'u']).trim_matches('"').to_owned();
    if before.measure == after.measure && was.contains('"') && text(was) == text(is) {
        return None;
    }
    let is_part = !is.is_empty() && was.trim_matches('"').contains(is.trim_matches('"'));
    if open(is) > open(was)
        || is == "_"
        || is_part
        || is.trim_matches('"').is_empty()
        || (is.len() < was.len() && open(is) > 0)
    {
        return Some(FactKind::AssertionLoosened);
    }
    // A longer pattern that holds the shorter one asks for more.
    let tighter = is.trim_matches('"').contains(was.trim_matches('"')) || open(is) < open(was);
    (!tighter).then_some(FactKind::ExpectationChanged)
}

/// Whether what is expected is a value that the test says itself, on both sides.
fn says_a_value(before: &str, after: &str) -> bool {
    let says = |text: &str| {
        is_literal(text)
            || is_constant_path(text)
            || text.ends_with(".class")
            || text.contains('"')
            || number(text).is_some()
    };
    let holds_literal = |text: &str| {
        text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| word.starts_with(|c: char| c.is_ascii_digit()))
    };
    (says(before) || holds_literal(before)) && (says(after) || holds_literal(after))
}

/// `Kind::Variant`, `Some(Kind::Variant)`: names that start with a capital letter at their end.
fn is_constant_path(text: &str) -> bool {
    let name = text.rsplit(['.', ':', '(']).next().unwrap_or(text).trim_end_matches(')');
    name.starts_with(char::is_uppercase) && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn is_larger(one: &str, other: &str) -> bool {
    matches!((number(one), number(other)), (Some(one), Some(other)) if one > other)
}

/// The number that a literal says, whatever its type.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text: String = text.chars().filter(|c| *c != '_').collect();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | 'e' | 'E')))
        .unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    let is_suffix = suffix.len() <= 5 && suffix.chars().all(char::is_alphanumeric);
    digits.trim_end_matches('.').parse().ok().filter(|_| is_suffix)
}
