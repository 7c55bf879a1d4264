//! What a branch that fails a test asks.

use tree_sitter::Node;

use super::Reader;
use crate::outline::{Check, Relation, is_literal, squeezed, top_level};
use crate::reading::Reading as _;

impl Reader<'_> {
    /// The checks that a branch makes which fails where this condition holds.
    pub(super) fn checks_of_condition(&self, condition: &str, node: Node<'_>) -> Vec<Check> {
        let make = |relation, subject: &str, expected: &str| {
            Check::new(self.line(node), self.shown(node), relation, subject, expected)
        };
        let parts = top_level(condition, &["||"]);
        parts.into_iter().map(|part| failing(part, &make)).collect()
    }
}

/// What is asked by failing where this part holds.
fn failing(part: &str, make: &impl Fn(Relation, &str, &str) -> Check) -> Check {
    let part = part.trim();
    let all = top_level(part, &["&&"]);
    if all.len() > 1 {
        let mut check = failing(all[0], make);
        check.alternatives = u32::try_from(all.len()).unwrap_or(u32::MAX);
        return check;
    }
    if let [one, other] = top_level(part, &["!="])[..] {
        if other.trim() == "nil" {
            return make(Relation::Present, one, "nothing");
        }
        if other.trim() == "\"\"" {
            // The difference of two things, as `cmp.Diff` gives it.
            return make(Relation::Equals, one, "\"\"");
        }
        return equals(one, other, make);
    }
    if let [one, other] = top_level(part, &["=="])[..] {
        let relation = if other.trim() == "nil" { Relation::Present } else { Relation::Differs };
        return make(relation, one, if other.trim() == "nil" { "something" } else { other });
    }
    for (operator, holds) in [("<=", ">"), (">=", "<"), ("<", ">="), (">", "<=")] {
        if let [one, other] = top_level(part, &[operator])[..] {
            let mut check = make(Relation::Ordered, one, other);
            holds.clone_into(&mut check.measure);
            return check;
        }
    }
    if let Some(inner) = part.strip_prefix('!') {
        return held(inner.trim(), make);
    }
    let mut check = make(Relation::Holds, part, "");
    check.is_negated = true;
    check
}

/// What is asked by failing where a condition does not hold.
fn held(text: &str, make: &impl Fn(Relation, &str, &str) -> Check) -> Check {
    let call = text.split_once('(').and_then(|(function, rest)| Some((function, rest.strip_suffix(')')?)));
    let Some((function, inside)) = call else { return make(Relation::Holds, text, "") };
    let parts: Vec<&str> = top_level(inside, &[","]).into_iter().map(str::trim).collect();
    match (function, &parts[..]) {
        (
            "reflect.DeepEqual" | "bytes.Equal" | "slices.Equal" | "maps.Equal" | "cmp.Equal",
            [one, other, ..],
        ) => equals(one, other, make),
        ("errors.Is" | "errors.As", [one, other]) => equals(one, other, make),
        ("strings.Contains" | "strings.HasPrefix" | "strings.HasSuffix", [one, other]) => {
            let mut check = make(Relation::Shaped, one, other);
            "contains".clone_into(&mut check.measure);
            check
        }
        _ => make(Relation::Holds, text, ""),
    }
}

fn equals(one: &str, other: &str, make: &impl Fn(Relation, &str, &str) -> Check) -> Check {
    let is_vacuous = squeezed(one) == squeezed(other) || (is_literal(one) && is_literal(other));
    make(if is_vacuous { Relation::Nothing } else { Relation::Equals }, one, other)
}
