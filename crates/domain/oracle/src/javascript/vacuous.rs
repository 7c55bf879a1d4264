//! Expressions whose value is known without running anything.

use tree_sitter::Node;

use super::relation::Relation;
use super::said::Said;
use super::text::Text;

/// The expression without the brackets and casts around it.
pub(super) fn plain(node: Node<'_>) -> Node<'_> {
    let mut at = node;
    while matches!(
        at.kind(),
        "parenthesized_expression" | "as_expression" | "satisfies_expression" | "non_null_expression"
    ) {
        let Some(inner) = at.named_child(0) else { break };
        at = inner;
    }
    at
}

/// Whether the expression is true, or false, whatever the program does. `None` where that depends.
pub(super) fn truth(text: Text<'_>, node: Node<'_>) -> Option<bool> {
    let node = plain(node);
    match node.kind() {
        "true" | "regex" | "object" | "array" | "arrow_function" | "function_expression" | "class" => {
            Some(true)
        }
        "false" | "null" | "undefined" => Some(false),
        "identifier" => match text.of(node) {
            "undefined" | "NaN" => Some(false),
            _ => None,
        },
        "number" => Some(!text.of(node).trim_matches(['0', '.', '_', 'x', 'n']).is_empty()),
        "string" => Some(text.of(node).len() > 2),
        "template_string" => match text.of(node).len() > 2 {
            true if node.named_child_count() > 0 && !has_fixed_part(node) => None,
            long => Some(long),
        },
        "unary_expression" => {
            let operator = node.child_by_field_name("operator").map_or("", |operator| text.of(operator));
            let argument = node.child_by_field_name("argument")?;
            match operator {
                "!" => truth(text, argument).map(|truth| !truth),
                "void" => Some(false),
                "typeof" => Some(true),
                _ => None,
            }
        }
        "binary_expression" => {
            let operator = node.child_by_field_name("operator").map_or("", |operator| text.of(operator));
            let (left, right) = (node.child_by_field_name("left")?, node.child_by_field_name("right")?);
            match operator {
                "||" => match (truth(text, left), truth(text, right)) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (Some(false), other) => other,
                    _ => None,
                },
                "&&" => match (truth(text, left), truth(text, right)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), other) => other,
                    _ => None,
                },
                "===" | "==" | "<=" | ">="
                    if is_still(text, left) && text.normal(left) == text.normal(right) =>
                {
                    Some(true)
                }
                "===" | "==" if is_literal(left) && is_literal(right) => {
                    Some(text.normal(left) == text.normal(right))
                }
                ">=" if text.of(right) == "0" && text.of(left).ends_with(".length") => Some(true),
                "<" | ">" | "<=" | ">=" => {
                    let number = |side: Node<'_>| text.of(plain(side)).parse::<f64>().ok();
                    let (left, right) = (number(left)?, number(right)?);
                    Some(match operator {
                        "<" => left < right,
                        ">" => left > right,
                        "<=" => left <= right,
                        _ => left >= right,
                    })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn has_fixed_part(template: Node<'_>) -> bool {
    let mut cursor = template.walk();
    template.named_children(&mut cursor).any(|part| part.kind() == "string_fragment")
}

/// Whether the expression is a literal, of literals throughout.
pub(super) fn is_literal(node: Node<'_>) -> bool {
    let node = plain(node);
    match node.kind() {
        "true" | "false" | "null" | "undefined" | "number" | "string" | "regex" => true,
        "template_string" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).all(|part| part.kind() != "template_substitution")
        }
        "unary_expression" => node.child_by_field_name("argument").is_some_and(is_literal),
        "array" | "object" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).all(|part| match part.kind() {
                "pair" => part.child_by_field_name("value").is_some_and(is_literal),
                "comment" => true,
                _ => is_literal(part),
            })
        }
        _ => false,
    }
}

/// Whether the expression calls nothing, so that it is the same twice.
fn is_still(text: Text<'_>, node: Node<'_>) -> bool {
    let node = plain(node);
    match node.kind() {
        "identifier" => text.of(node) != "NaN",
        "this" => true,
        "member_expression" | "subscript_expression" => {
            node.child_by_field_name("object").is_some_and(|object| is_still(text, object))
        }
        _ => is_literal(node),
    }
}

/// Whether what is said of the subject holds whatever the program does.
pub(super) fn is_vacuous<'t>(text: Text<'t>, said: &Said<'t>, subject: Node<'t>) -> bool {
    match said.relation {
        Relation::Truth => truth(text, subject) == Some(!said.negated),
        Relation::There => {
            is_literal(subject) || matches!(plain(subject).kind(), "arrow_function" | "object" | "array")
        }
        Relation::Bound => {
            let of_length = text.of(subject).ends_with(".length");
            let zero = matches!(said.expected[..], [one] if matches!(text.of(one), "0" | "-1"));
            let bound = said.name.as_str();
            of_length && zero && matches!(bound, "toBeGreaterThanOrEqual" | "isAtLeast" | "least" | "gte")
                || is_literal(subject) && said.expected.iter().all(|one| is_literal(*one))
        }
        Relation::Same
        | Relation::Alike
        | Relation::Loose
        | Relation::Part
        | Relation::Near
        | Relation::Kind => {
            let known = truth(text, subject);
            let expects_truth = match said.expected[..] {
                [] => known_truth(said.by_name),
                [one] => known_truth(text.of(one)),
                _ => None,
            };
            let forced = known.is_some()
                && expects_truth.is_some()
                && !is_literal(subject)
                && !said.negated
                && known == expects_truth;
            let constant = is_literal(subject) && said.expected.iter().all(|one| is_literal(*one));
            let itself = !said.negated
                && matches!(said.expected[..], [one] if is_still(text, subject) && text.normal(one) == said.subject);
            forced || constant || itself
        }
        _ => false,
    }
}

fn known_truth(word: &str) -> Option<bool> {
    match word {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// How many parts of what is expected stand for anything.
pub(super) fn wildness(text: Text<'_>, node: Node<'_>, relation: Relation) -> u32 {
    let mut wild = 0;
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        match node.kind() {
            "call_expression" => {
                let function = node.child_by_field_name("function").map_or("", |function| text.of(function));
                wild += match function.rsplit('.').next().unwrap_or("") {
                    _ if !["expect.", "jasmine.", "sinon.match", "vi.", "td."]
                        .iter()
                        .any(|start| function.starts_with(start)) =>
                    {
                        0
                    }
                    "anything" | "any" | "truthy" | "falsy" => 3,
                    name if name.ends_with("Containing")
                        || name.ends_with("Matching")
                        || name == "closeTo" =>
                    {
                        1
                    }
                    _ => 1,
                };
            }
            "regex" => {
                let pattern = node.child_by_field_name("pattern").map_or("", |pattern| text.of(pattern));
                let says = pattern.chars().filter(|c| c.is_alphanumeric()).count();
                wild += if says == 0 && pattern.len() < 8 { 3 } else { 0 };
            }
            _ => {}
        }
        let mut cursor = node.walk();
        pending.extend(node.named_children(&mut cursor));
    }
    let is_empty = matches!(text.of(node), "{}" | "[]" | "''" | "\"\"" | "``");
    wild + if relation == Relation::Part && is_empty { 3 } else { 0 }
}
