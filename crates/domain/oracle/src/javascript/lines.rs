//! Text that is expected as one string, and the same text that is expected as a list of lines.

use super::found::Assertion;
use super::relation::Relation;
use super::strength::says;

/// Whether both expect the same lines, the one as a text and the other as a list.
pub(super) fn are_the_same(before: &Assertion, after: &Assertion) -> bool {
    let is_equal = |one: &Assertion| {
        matches!(one.relation, Relation::Same | Relation::Alike | Relation::Loose) && !one.negated
    };
    let is_list = |one: &Assertion| one.expected.first().is_some_and(|text| is_list(text));
    is_equal(before)
        && is_equal(after)
        && is_list(before) != is_list(after)
        && lines(before).len() > 1
        && lines(before) == lines(after)
}

fn is_list(text: &str) -> bool {
    text.starts_with('[') && !text.contains(".join(")
}

/// The lines that are written out, without those that are empty.
fn lines(assertion: &Assertion) -> Vec<String> {
    let text = says(assertion).join("\\n");
    // How a quotation mark is kept in a string depends on where the string ends.
    let plain = |line: &str| line.replace(['\\', '\'', '"'], "");
    text.split("\\n").map(plain).filter(|line| !line.is_empty()).collect()
}
