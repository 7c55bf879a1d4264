//! Takes assertions apart.

use tree_sitter::Node;

use super::Reader;
use crate::outline::{Check, Relation, Unit, alternatives, is_literal, top_level};
use crate::reading::{Reading as _, Walk};

/// Methods that ask whether there is something at all.
const PRESENCE: [&str; 4] = ["is_ok", "is_err", "is_some", "is_none"];
/// Methods that ask for a part.
const PARTS: [&str; 3] = ["contains", "starts_with", "ends_with"];

impl Reader<'_> {
    /// Adds what an assertion by this name checks. `false` for a macro that asserts nothing.
    pub(super) fn assertion(
        &self,
        name: &str,
        node: Node<'_>,
        tree: Node<'_>,
        unit: &mut Unit,
        walk: &Walk<'_>,
    ) -> bool {
        let name = name.rsplit("::").next().unwrap_or(name);
        let inside = self.of(tree);
        let inside = inside.get(1..inside.len().saturating_sub(1)).unwrap_or("");
        let plain = name.trim_start_matches("debug_").trim_start_matches("prop_");
        let arguments: Vec<&str> =
            top_level(inside, &[","]).into_iter().filter(|part| !part.trim().is_empty()).collect();
        let argument = |at: usize| arguments.get(at).copied().unwrap_or("").trim();
        let (line, shown) = (self.line(node), self.shown(node));
        let make =
            |relation, subject: &str, expected: &str| Check::new(line, shown, relation, subject, expected);
        let checks = match plain {
            "assert_eq" | "assert_equal" | "ensure_eq" => {
                vec![same(make(Relation::Equals, argument(0), argument(1)))]
            }
            "assert_ne" => vec![make(Relation::Differs, argument(0), argument(1))],
            "assert" | "ensure" => conditions(argument(0), &make),
            "assert_matches" => vec![pattern(argument(0), argument(1), &make)],
            _ if plain.contains("snapshot") => {
                let is_inline = |part: &&&str| part.trim_start().starts_with('@');
                let kept = arguments.iter().find(is_inline).copied().unwrap_or("");
                let subject: Vec<&str> = arguments.iter().filter(|part| !is_inline(part)).copied().collect();
                vec![make(Relation::Kept, &subject.join(","), kept.trim())]
            }
            _ if plain.contains("assert")
                && (plain.contains("relative") || plain.contains("abs_diff") || plain.contains("approx")) =>
            {
                let mut check = make(Relation::Near, argument(0), argument(1));
                check.measure = argument(2).rsplit('=').next().unwrap_or("").trim().to_owned();
                vec![check]
            }
            _ if plain.contains("assert") || self.helpers.contains(name) => {
                vec![make(Relation::Helper, &format!("{name}!({inside})"), "")]
            }
            _ => return false,
        };
        for mut check in checks {
            check.is_optional = name.starts_with("debug_");
            check.measure = self.constants.resolve(&check.measure);
            if check.relation == Relation::Ordered {
                check.expected = self.constants.resolve(&check.expected);
            }
            walk.check(check, unit);
        }
        true
    }
}

/// An equality of a thing with itself asks nothing, nor does one of literals.
fn same(check: Check) -> Check {
    let is_vacuous =
        check.subject == check.expected || (is_literal(&check.subject) && is_literal(&check.expected));
    if is_vacuous { Check { relation: Relation::Nothing, ..check } } else { check }
}

fn pattern(subject: &str, shape: &str, make: &impl Fn(Relation, &str, &str) -> Check) -> Check {
    let mut check = make(Relation::Shaped, subject, shape);
    check.measure = "matches".to_owned();
    check.alternatives = alternatives(shape, &["|"]);
    check
}

/// What a condition asks: its parts that must all hold, each taken apart.
fn conditions(text: &str, make: &impl Fn(Relation, &str, &str) -> Check) -> Vec<Check> {
    let text = unwrapped(text);
    let all = top_level(text, &["&&"]);
    if all.len() > 1 && alternatives(text, &["||"]) == 1 {
        return all.into_iter().flat_map(|part| conditions(part, make)).collect();
    }
    vec![condition(text, make)]
}

fn condition(text: &str, make: &impl Fn(Relation, &str, &str) -> Check) -> Check {
    let either = top_level(text, &["||"]);
    if either.len() > 1 {
        let forced = either.iter().any(|part| part.trim() == "true");
        let mut check = make(if forced { Relation::Nothing } else { Relation::Holds }, text, "");
        check.alternatives = u32::try_from(either.len()).unwrap_or(u32::MAX);
        if let Some(first) = either.first() {
            // Compared with what stood alone before.
            let alone = condition(unwrapped(first), make);
            check.subject = alone.subject;
        }
        return check;
    }
    if let Some(inner) = text.strip_prefix('!').filter(|rest| !rest.starts_with('=')) {
        let mut check = condition(unwrapped(inner), make);
        check.is_negated = !check.is_negated;
        if check.relation == Relation::Holds && check.subject.ends_with(".is_empty()") {
            check.relation = Relation::Present;
        }
        // What is not none is some.
        let opposite = match check.expected.as_str() {
            "is_none" => "is_some",
            "is_some" => "is_none",
            "is_ok" => "is_err",
            "is_err" => "is_ok",
            _ => "",
        };
        if check.relation == Relation::Present && !opposite.is_empty() {
            opposite.clone_into(&mut check.expected);
            check.is_negated = !check.is_negated;
        }
        return check;
    }
    if text == "true" || (is_literal(text) && text != "false") {
        return make(Relation::Nothing, text, "");
    }
    compared(text, make).or_else(|| asked(text, make)).unwrap_or_else(|| make(Relation::Holds, text, ""))
}

/// A comparison of two sides.
fn compared(text: &str, make: &impl Fn(Relation, &str, &str) -> Check) -> Option<Check> {
    for (operator, relation) in [("==", Relation::Equals), ("!=", Relation::Differs)] {
        if let [one, other] = top_level(text, &[operator])[..] {
            return Some(same(make(relation, one, other)));
        }
    }
    for operator in ["<=", ">=", " < ", " > "] {
        let [one, other] = top_level(text, &[operator])[..] else { continue };
        let measure = operator.trim();
        if let Some(difference) = one.trim().strip_suffix(".abs()").filter(|_| measure.starts_with('<')) {
            let inner = unwrapped(difference);
            let sides = top_level(inner, &[" - ", "-"]);
            let (subject, expected) = match sides[..] {
                [subject, expected] => (subject, expected),
                _ => (inner, ""),
            };
            let mut check = make(Relation::Near, subject, expected);
            other.trim().clone_into(&mut check.measure);
            return Some(check);
        }
        let never = measure == ">="
            && other.trim() == "0"
            && ["len()", "count()"].iter().any(|end| one.trim().ends_with(end));
        let mut check = make(if never { Relation::Nothing } else { Relation::Ordered }, one, other);
        measure.clone_into(&mut check.measure);
        return Some(check);
    }
    None
}

/// A question that a method or a macro answers.
fn asked(text: &str, make: &impl Fn(Relation, &str, &str) -> Check) -> Option<Check> {
    if let Some(rest) = text.strip_prefix("matches!").or_else(|| text.strip_prefix("std::matches!")) {
        let rest = rest.trim();
        let inside = rest.get(1..rest.len().saturating_sub(1))?;
        let parts = top_level(inside, &[","]);
        let (subject, shape) = (parts.first()?, inside.get(parts[0].len() + 1..)?);
        return Some(pattern(subject, shape.trim(), make));
    }
    let open = text.strip_suffix(')').and_then(|rest| {
        let length = top_level_open(rest)?;
        Some((&rest[..length], &rest[length + 1..]))
    });
    let (receiver, arguments) = open?;
    let (subject, method) = receiver.rsplit_once('.')?;
    let method = method.trim();
    if PRESENCE.contains(&method) && arguments.trim().is_empty() {
        return Some(make(Relation::Present, subject, method));
    }
    if PARTS.contains(&method) && arguments.contains('"') {
        let mut check = make(Relation::Shaped, subject, arguments);
        "contains".clone_into(&mut check.measure);
        return Some(check);
    }
    None
}

/// Where the last bracket of a call opens.
fn top_level_open(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b')' | b']' | b'}' => depth += 1,
            b'(' if depth == 0 => return Some(at),
            b'(' | b'[' | b'{' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The text without brackets around the whole of it.
fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    match text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inside) if top_level(text, &[","]).len() == 1 && balanced(inside) => unwrapped(inside),
        _ => text,
    }
}

fn balanced(text: &str) -> bool {
    let mut depth = 0_i32;
    text.bytes().all(|byte| {
        depth += match byte {
            b'(' => 1,
            b')' => -1,
            _ => 0,
        };
        depth >= 0
    })
}
