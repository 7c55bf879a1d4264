//! Whether an assertion that took the place of another holds for more values.

use ambit_policy::FactKind;

use super::found::Assertion;
use super::lines;
use super::relation::Relation;

/// How few values a relation holds for. A relation with a greater number may stand for one with a smaller.
fn strength(assertion: &Assertion) -> u8 {
    let names_something = !assertion.expected.is_empty();
    match (assertion.relation, assertion.negated) {
        (Relation::Same | Relation::Snapshot, false) => 10,
        (Relation::Alike, false) if assertion.is_primitive => 10,
        (Relation::Fails, true) => 4,
        (Relation::Fails | Relation::CalledWith, _) if names_something => 9,
        (Relation::Alike, false) | (Relation::Called | Relation::There, true) => 9,
        (Relation::Loose, false) | (Relation::CalledTimes, _) => 8,
        (Relation::Own | Relation::Near, _) => 7,
        (Relation::Part, false) | (Relation::Fails, false) => 6,
        (Relation::Bound | Relation::Kind, false) | (Relation::Plan | Relation::Snapshot, _) => 5,
        (Relation::Passes | Relation::CalledWith | Relation::Called, _) => 4,
        (Relation::Truth, _) => 3,
        (Relation::There, false) => 2,
        (
            Relation::Same
            | Relation::Alike
            | Relation::Loose
            | Relation::Part
            | Relation::Kind
            | Relation::Bound,
            true,
        ) => 2,
        (Relation::Never, _) => 1,
    }
}

/// What is told of `after`, which stands where `before` stood. `None` where it is as strong and expects the same.
pub(super) fn told(before: &Assertion, after: &Assertion) -> Option<FactKind> {
    if after.is_vacuous && !before.is_vacuous {
        return Some(FactKind::AssertionTautological);
    }
    if before.is_vacuous || after.relation == Relation::Never {
        return None;
    }
    if lines::are_the_same(before, after) {
        return None;
    }
    let weaker = strength(after) < strength(before);
    let is_own = before.relation == Relation::Own || after.relation == Relation::Own;
    if is_own {
        let same = before.name == after.name && before.relation == after.relation;
        return match same {
            true if before.expected != after.expected => Some(FactKind::ExpectationChanged),
            false if after.relation != Relation::Own && weaker && strength(after) <= 3 => {
                Some(FactKind::AssertionLoosened)
            }
            _ => None,
        };
    }
    if before.relation == Relation::Plan && after.relation == Relation::Plan {
        return (planned(after) < planned(before)).then_some(FactKind::AssertionLoosened);
    }
    if is_property_of_failure(before, after) {
        return None;
    }
    if turns_round(before, after)
        || of_size_alone(before, after)
        || says_less(before, after)
        || (weaker && !is_spelling(before, after))
    {
        return Some(FactKind::AssertionLoosened);
    }
    if after.wild > before.wild {
        return Some(FactKind::AssertionLoosened);
    }
    if before.relation == Relation::Snapshot && after.relation == Relation::Snapshot {
        return (before.expected != after.expected).then_some(FactKind::SnapshotChanged);
    }
    if before.relation == Relation::Near && after.relation == Relation::Near && is_less_near(before, after) {
        return Some(FactKind::AssertionLoosened);
    }
    expects_another(before, after).then_some(FactKind::ExpectationChanged)
}

/// Whether what was compared of a failure that was caught is now what the failure must be like.
fn is_property_of_failure(before: &Assertion, after: &Assertion) -> bool {
    let compares = matches!(before.relation, Relation::Same | Relation::Alike) && !before.negated;
    let written = before.expected.first().filter(|text| text.starts_with('\'') && text.len() > 2);
    let fails = after.relation == Relation::Fails && !after.negated;
    let asks = after.expected.first().is_some_and(|shape| {
        shape.starts_with('{') && written.is_some_and(|written| shape.contains(written.as_str()))
    });
    compares && fails && asks
}

/// How many assertions are planned.
fn planned(assertion: &Assertion) -> u32 {
    match assertion.expected.first() {
        None => 1,
        Some(number) => number.parse().unwrap_or(u32::MAX),
    }
}

/// Whether the one asks for a failure and the other for none.
fn turns_round(before: &Assertion, after: &Assertion) -> bool {
    let fails = |one: &Assertion| match one.relation {
        Relation::Fails => Some(!one.negated),
        Relation::Passes => Some(one.negated),
        _ => None,
    };
    fails(before) == Some(true) && fails(after) == Some(false)
}

/// Whether only the size is compared of what was compared as a whole.
fn of_size_alone(before: &Assertion, after: &Assertion) -> bool {
    let is_size = after.subject.strip_suffix(".length").or_else(|| after.subject.strip_suffix(".size"));
    is_size == Some(before.subject.as_str())
        && before.relation != Relation::Kind
        && before.expected != after.expected
}

/// Whether part of what was expected is expected no more.
fn says_less(before: &Assertion, after: &Assertion) -> bool {
    let comparable = before.relation == after.relation && before.negated == after.negated;
    comparable && after.expected.len() < before.expected.len() && before.relation != Relation::Same
}

/// Whether the weaker word says the same of this value: `toBe(null)` and `error(x)`, `toBe(true)` and `ok(x)` differ, but
/// `toBe(undefined)` and `not.toBeDefined()` do not.
fn is_spelling(before: &Assertion, after: &Assertion) -> bool {
    let says = |word: &str| before.expected.first().is_some_and(|expected| expected == word);
    match (after.relation, after.negated) {
        (Relation::There, true) => says("undefined"),
        (Relation::Truth, true) => says("null") || says("undefined"),
        (Relation::Passes, _) => before.relation == Relation::Passes,
        // A regular expression that holds the whole of it.
        (Relation::Part, false) => before.relation == Relation::Kind,
        _ => false,
    }
}

fn is_less_near(before: &Assertion, after: &Assertion) -> bool {
    let digits = |one: &Assertion| one.expected.get(1).and_then(|digits| digits.parse::<f64>().ok());
    let is_delta = matches!(before.name.as_str(), "closeTo" | "approximately");
    let (one, other) = (digits(before).unwrap_or(2.0), digits(after).unwrap_or(2.0));
    before.expected.first() == after.expected.first() && if is_delta { other > one } else { other < one }
}

fn expects_another(before: &Assertion, after: &Assertion) -> bool {
    let same_relation = before.relation == after.relation
        || matches!(before.relation, Relation::Same | Relation::Alike | Relation::Loose)
            && matches!(after.relation, Relation::Same | Relation::Alike | Relation::Loose);
    if before.negated != after.negated && same_relation {
        return true;
    }
    same_relation && plainly(before) != plainly(after) && after.wild >= before.wild && !adds(before, after)
}

/// What is written out, whether as a text or as the pattern of that text.
fn plainly(assertion: &Assertion) -> Vec<String> {
    let pattern = match assertion.expected.as_slice() {
        [only] if matches!(assertion.relation, Relation::Part | Relation::Fails) => text_of(only),
        _ => None,
    };
    pattern.map_or_else(|| says(assertion).into_iter().map(str::to_owned).collect(), |text| vec![text])
}

/// The text of a string or of a pattern, without what only keeps its letters from meaning more.
fn text_of(expected: &str) -> Option<String> {
    let made = expected.strip_prefix("new RegExp(").and_then(|rest| rest.strip_suffix(')'));
    let text = made.unwrap_or(expected);
    let string = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let inside = string.or_else(|| text.strip_prefix('/')?.rsplit_once('/').map(|(inside, _)| inside))?;
    Some(inside.replace('\\', ""))
}

/// What is expected, as far as it is written out: other names for the same things expect the same.
pub(super) fn says(assertion: &Assertion) -> Vec<&str> {
    let mut found = Vec::new();
    for expected in &assertion.expected {
        let mut rest = expected.as_str();
        while let Some(at) =
            rest.find(|c: char| c.is_alphanumeric() || matches!(c, '\'' | '/' | '"' | '`' | '_' | '$'))
        {
            rest = &rest[at..];
            let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '/' | '"' | '`'));
            let length = match quote {
                Some(quote) => end_of(rest, quote),
                None => rest
                    .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.')))
                    .unwrap_or(rest.len()),
            };
            let (word, after) = rest.split_at(length);
            let plain = word.trim_matches(['\'', '/', '"', '`']);
            let is_value =
                quote.is_some() || word.starts_with(|c: char| c.is_ascii_digit() || c.is_uppercase());
            if is_value || matches!(plain, "true" | "false" | "null" | "undefined") {
                found.push(plain);
            }
            rest = after;
        }
    }
    found
}

/// Where the string or pattern ends that the text begins with.
fn end_of(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Whether what is expected more comes on top.
fn adds(before: &Assertion, after: &Assertion) -> bool {
    let longer = after.expected.len() > before.expected.len();
    let first = before.expected.iter().zip(&after.expected).all(|(one, other)| one == other);
    let names_more = matches!(before.relation, Relation::Fails)
        && before.expected.len() == 1
        && after.expected.len() == 1
        && after.expected[0].starts_with(&format!("new {}(", before.expected[0]));
    let nearer = before.relation == Relation::Near && before.expected.first() == after.expected.first();
    (longer && first) || names_more || nearer
}
