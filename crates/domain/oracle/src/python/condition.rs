//! Takes a condition apart into what it checks.

use tree_sitter::Node;

use super::Reader;
use super::nodes::first;
use super::undone::{divided, unwrapped};
use crate::outline::{Check, Relation};
use crate::reading::{DEPTH, Reading as _};

impl Reader<'_> {
    /// What a condition that must hold, or must not, checks.
    pub(super) fn condition(&self, node: Node<'_>, is_negated: bool, depth: u32) -> Vec<Check> {
        let make = |relation, subject: &str, expected: &str| {
            let mut check = Check::new(self.line(node), self.shown(node), relation, subject, expected);
            check.is_negated = is_negated;
            check
        };
        if depth > DEPTH {
            return vec![make(Relation::Holds, &self.plain(node), "")];
        }
        let inner = || first(node).map(|inner| self.condition(inner, is_negated, depth + 1));
        match node.kind() {
            "parenthesized_expression" => inner().unwrap_or_default(),
            "not_operator" => node
                .child_by_field_name("argument")
                .map(|argument| self.condition(argument, !is_negated, depth + 1))
                .unwrap_or_default(),
            "boolean_operator" => self.both(node, is_negated, depth),
            "comparison_operator" => vec![self.comparison(node, is_negated)],
            "true" if is_negated => vec![make(Relation::Fails, "", "")],
            "false" | "none" if !is_negated => vec![make(Relation::Fails, "", "")],
            "integer" if !is_negated && self.of(node) == "0" => vec![make(Relation::Fails, "", "")],
            "true" | "false" | "none" | "integer" | "float" | "lambda" | "generator_expression" => {
                vec![make(Relation::Nothing, "", &self.plain(node))]
            }
            "string" | "list" | "tuple" | "dictionary" | "set" if !is_negated && self.of(node).len() > 2 => {
                vec![make(Relation::Nothing, "", &self.plain(node))]
            }
            "named_expression" => node
                .child_by_field_name("value")
                .map(|value| self.condition(value, is_negated, depth + 1))
                .unwrap_or_default(),
            "call" => self.called_condition(node, is_negated, depth),
            _ => vec![make(Relation::Present, &self.plain(node), "")],
        }
    }

    fn both(&self, node: Node<'_>, is_negated: bool, depth: u32) -> Vec<Check> {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return Vec::new();
        };
        let is_and = self.field(node, "operator") == "and";
        let sides = [left, right].map(|side| self.condition(side, is_negated, depth + 1));
        if is_and != is_negated {
            return sides.concat();
        }
        if sides.iter().any(|side| side.iter().all(Check::is_vacuous)) {
            return vec![Check::new(
                self.line(node),
                self.shown(node),
                Relation::Nothing,
                "",
                &self.plain(node),
            )];
        }
        let [left, right] = sides;
        let alternatives = |side: &[Check]| side.iter().map(|check| check.alternatives).max().unwrap_or(1);
        let count = alternatives(&left) + alternatives(&right);
        // Of alternatives the first is what is looked at.
        let Some(mut check) = left.into_iter().next() else { return right };
        check.alternatives = count;
        vec![check]
    }

    fn comparison(&self, node: Node<'_>, is_negated: bool) -> Check {
        let mut cursor = node.walk();
        let sides: Vec<Node<'_>> = node.named_children(&mut cursor).filter(|side| !side.is_extra()).collect();
        let new = |relation, subject: &str, expected: &str| {
            Check::new(self.line(node), self.shown(node), relation, subject, expected)
        };
        let &[left, right] = sides.as_slice() else {
            let mut check = new(Relation::Holds, &self.plain(node), "");
            check.is_negated = is_negated;
            return check;
        };
        let operator = self.operator(node);
        let (one, other) = (self.plain(left), self.plain(right));
        let operator = if is_negated { turned(&operator) } else { operator.as_str() };
        let is_same = is_the_same(&one, &other);
        match operator {
            "==" | "is" if is_same => new(Relation::Nothing, "", &one),
            "==" | "is" => self.equality(node, &one, &other),
            "!=" | "is not" | "<>" => new(Relation::Differs, &one, &other),
            "in" | "not in" => {
                let is_choice = other.starts_with(['(', '[', '{']);
                let (subject, expected) = if is_choice { (&one, &other) } else { (&other, &one) };
                let mut check = new(Relation::Shaped, subject, expected);
                check.is_negated = operator == "not in";
                (if is_choice { "among" } else { "contains" }).clone_into(&mut check.measure);
                check
            }
            _ => self.order(node, operator, &one, &other),
        }
    }

    /// The operator of a comparison of two sides.
    fn operator(&self, node: Node<'_>) -> String {
        let mut cursor = node.walk();
        let operators = node.children_by_field_name("operators", &mut cursor);
        let words: Vec<String> = operators.map(|operator| self.without_comments(operator)).collect();
        words.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// `a == approx(b)` and `round(a, 2) == b` are near, and everything else is equal.
    fn equality(&self, node: Node<'_>, one: &str, other: &str) -> Check {
        let new = |relation, subject: &str, expected: &str| {
            Check::new(self.line(node), self.shown(node), relation, subject, expected)
        };
        for (approximate, exact) in [(one, other), (other, one)] {
            if let Some((value, tolerance)) = approximated(approximate) {
                let mut check = new(Relation::Near, exact, &value);
                check.measure = tolerance;
                return check;
            }
        }
        if let Some((value, tolerance)) = rounded(one) {
            let mut check = new(Relation::Near, &value, other);
            check.measure = tolerance;
            return check;
        }
        if let Some((value, expected)) = unwrapped(one, other) {
            let mut check = new(Relation::Equals, &value, &expected);
            check.is_optional = true;
            return check;
        }
        if let Some(value) = divided(one, other) {
            let mut check = new(Relation::Equals, value, other);
            check.is_optional = true;
            return check;
        }
        new(Relation::Equals, one, other)
    }

    fn order(&self, node: Node<'_>, operator: &str, one: &str, other: &str) -> Check {
        let new = |relation, subject: &str, expected: &str| {
            Check::new(self.line(node), self.shown(node), relation, subject, expected)
        };
        let distance = one.strip_prefix("abs(").and_then(|rest| rest.strip_suffix(')'));
        if let Some(parts) = distance.map(|inside| crate::outline::top_level(inside, &["-"]))
            && let &[value, expected] = parts.as_slice()
            && operator.starts_with('<')
        {
            let mut check = new(Relation::Near, value, expected);
            other.clone_into(&mut check.measure);
            return check;
        }
        let mut check = new(Relation::Ordered, one, other);
        operator.clone_into(&mut check.measure);
        check
    }

    /// A call as a condition.
    fn called_condition(&self, node: Node<'_>, is_negated: bool, depth: u32) -> Vec<Check> {
        let name = self.tight_field(node, "function");
        let arguments = self.arguments(node);
        let make = |relation, subject: &str, expected: &str, measure: &str| {
            let mut check = Check::new(self.line(node), self.shown(node), relation, subject, expected);
            check.is_negated = is_negated;
            measure.clone_into(&mut check.measure);
            vec![check]
        };
        let last = name.rsplit('.').next().unwrap_or("");
        match (last, arguments.as_slice()) {
            ("bool", [_]) => {
                let inner = node.child_by_field_name("arguments").and_then(|list| first(list));
                inner.map(|inner| self.condition(inner, is_negated, depth + 1)).unwrap_or_default()
            }
            ("isinstance" | "issubclass", [subject, expected]) => {
                let mut checks = make(Relation::Shaped, subject, expected, "type");
                checks[0].alternatives =
                    crate::outline::alternatives(expected.trim_matches(['(', ')']), &[","]);
                checks
            }
            ("isclose" | "allclose", [subject, expected, rest @ ..]) => {
                make(Relation::Near, subject, expected, &tolerance(rest))
            }
            ("startswith" | "endswith", [expected]) if expected == "\"\"" => {
                make(Relation::Nothing, "", "", "")
            }
            ("startswith" | "endswith" | "search" | "match" | "fullmatch", _) if !arguments.is_empty() => {
                make(Relation::Shaped, &name, &arguments.join(","), last)
            }
            ("any", [_]) => {
                let mut checks = make(Relation::Holds, &self.plain(node).replacen("any", "all", 1), "", "");
                checks[0].alternatives = 2;
                checks
            }
            ("all", [_]) => make(Relation::Holds, &self.plain(node), "", ""),
            _ => make(Relation::Present, &self.plain(node), "", ""),
        }
    }

    /// The arguments of a call, in one spelling each.
    pub(super) fn arguments(&self, call: Node<'_>) -> Vec<String> {
        let Some(list) = call.child_by_field_name("arguments") else { return Vec::new() };
        let mut cursor = list.walk();
        let arguments = list.named_children(&mut cursor).filter(|child| !child.is_extra());
        arguments.map(|argument| self.plain(argument)).collect()
    }
}

/// The operator that holds where this one does not.
fn turned(operator: &str) -> &str {
    match operator {
        "==" => "!=",
        "!=" => "==",
        "is" => "is not",
        "is not" => "is",
        "in" => "not in",
        "not in" => "in",
        "<" => ">=",
        "<=" => ">",
        ">" => "<=",
        ">=" => "<",
        other => other,
    }
}

/// The value and the tolerance of `approx(…)`.
fn approximated(text: &str) -> Option<(String, String)> {
    let inside = text.strip_suffix(')')?;
    let inside = inside.strip_prefix("pytest.approx(").or_else(|| inside.strip_prefix("approx("))?;
    let parts = crate::outline::top_level(inside, &[","]);
    let (value, rest) = parts.split_first()?;
    Some(((*value).to_owned(), tolerance(rest)))
}

/// The value of `round(…, n)`, and what rounding lets pass.
fn rounded(text: &str) -> Option<(String, String)> {
    let inside = text.strip_prefix("round(")?.strip_suffix(')')?;
    match crate::outline::top_level(inside, &[","]).as_slice() {
        [value] => Some(((*value).to_owned(), "1".to_owned())),
        [value, digits] => Some(((*value).to_owned(), format!("1e-{}", digits.trim()))),
        _ => None,
    }
}

/// The largest tolerance among arguments; that of the libraries where there is none.
pub(super) fn tolerance<S: AsRef<str>>(arguments: &[S]) -> String {
    let named = arguments.iter().filter_map(|argument| {
        let (name, value) = argument.as_ref().split_once('=')?;
        matches!(name.trim(), "abs" | "rel" | "abs_tol" | "rel_tol" | "atol" | "rtol" | "delta")
            .then_some(value)
    });
    let plain = arguments.iter().map(AsRef::as_ref).filter(|argument| !argument.contains('='));
    // A name may be a constant of the module, whose value is put in its place later.
    let by_name = named.clone().find(|value| value.chars().all(|c| c.is_alphanumeric() || c == '_'));
    let by_name = by_name.filter(|value| value.starts_with(char::is_alphabetic));
    let values = named.chain(plain).filter_map(|value| Some((crate::outline::amount(value)?, value)));
    values
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, value)| value)
        .or(by_name)
        .map_or("1e-6".to_owned(), str::to_owned)
}

/// Whether both sides are one value, since they are one text and nothing in it changes from one time to the next.
pub(super) fn is_the_same(one: &str, other: &str) -> bool {
    const CHANGING: [&str; 10] =
        ["next(", "random", "pop(", "time", "read", "uuid", "now(", "input(", "send(", "hash("];
    one == other && !CHANGING.iter().any(|call| one.contains(call))
}
