//! Macros that hold tests, and the values that tests run for.

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::attribute::Attributes;
use super::{Reader, Scope};
use crate::outline::{Case, Limit, Outline, Unit, amount, squeezed, top_level};
use crate::reading::{DEPTH, Reading as _};
use crate::tree::parsed;

impl Reader<'_> {
    /// A macro in the place of an item: one that holds tests, or rows that tests are made of.
    pub(super) fn item_macro(&mut self, node: Node<'_>, attributes: &Attributes, scope: &Scope) {
        let Some(tree) =
            node.named_child(u32::try_from(node.named_child_count().saturating_sub(1)).unwrap_or(0))
        else {
            return;
        };
        let inside = self.of(tree);
        let Some(inside) = inside.get(1..inside.len().saturating_sub(1)) else { return };
        let in_tests = scope.in_tests || attributes.is_for_tests();
        if inside.contains("fn ") {
            let masked = without_parameters(inside);
            let first_line = self.line(tree);
            let limits = limits(inside, first_line);
            let mut reader = Reader {
                text: &masked,
                first_line,
                outline: Outline::default(),
                helpers: self.helpers.clone(),
                limits,
                constants: self.constants.clone(),
            };
            let inner = Scope { in_tests, depth: scope.depth + 20, obstacles: scope.obstacles.clone() };
            let tree =
                if scope.depth < DEPTH { parsed(&tree_sitter_rust::LANGUAGE.into(), &masked) } else { None };
            if let Some(tree) = tree {
                reader.read(&tree, &inner);
                // These macros make a test of every function.
                if self.field(node, "macro").contains("quickcheck") {
                    reader.outline.units.iter_mut().for_each(|unit| unit.is_collected = true);
                }
                self.outline.units.append(&mut reader.outline.units);
                self.outline.findings.append(&mut reader.outline.findings);
            }
        } else if in_tests && !inside.trim().is_empty() {
            let name = self.field(node, "macro");
            self.outline.units.push(Unit {
                name: format!("macro {name}!"),
                line: self.line(node),
                shown: self.shown(node).to_owned(),
                cases: self.rows(tree),
                ..Unit::default()
            });
        }
    }

    /// The rows that a macro is given.
    pub(super) fn rows(&self, tree: Node<'_>) -> Vec<Case> {
        let text = self.of(tree);
        let inside = &text[1..text.len() - 1];
        let separator = if top_level(inside, &[";"]).len() > 1 { ";" } else { "," };
        let rows = top_level(inside, &[separator]).into_iter().filter(|row| !row.trim().is_empty());
        rows.map(|row| {
            let start = row.as_ptr() as usize - text.as_ptr() as usize + row.len() - row.trim_start().len();
            let lines = text[..start].matches('\n').count();
            Case {
                line: self.line(tree).saturating_add(u32::try_from(lines).unwrap_or(u32::MAX)),
                cells: top_level(row, &["=>"]).into_iter().map(squeezed).collect(),
                shown: row.trim().to_owned(),
            }
        })
        .collect()
    }

    /// The elements of a list, as cases of a test.
    pub(super) fn elements(&self, list: Node<'_>) -> Vec<Case> {
        let mut cursor = list.walk();
        let elements = list.named_children(&mut cursor).filter(|element| !element.is_extra());
        elements
            .map(|element| {
                let mut cursor = element.walk();
                let parts: Vec<Node<'_>> = if element.kind() == "tuple_expression" {
                    element.named_children(&mut cursor).collect()
                } else {
                    vec![element]
                };
                let cells = parts.into_iter().map(|part| squeezed(self.of(part))).collect();
                Case { line: self.line(element), cells, shown: self.of(element).to_owned() }
            })
            .collect()
    }
}

/// The text with what stands between the brackets of a function's parameters taken out, where it is no list of
/// parameters but of generators.
fn without_parameters(text: &str) -> String {
    let mut out = text.to_owned();
    for (at, _) in text.match_indices("fn ") {
        let Some(open) = text[at..].find('(').map(|length| at + length) else { continue };
        let inside = top_level(&text[open + 1..], &[")"])[0];
        if inside.contains(" in ") {
            let blank: String = inside
                .chars()
                .flat_map(|c| std::iter::repeat_n(if c == '\n' { '\n' } else { ' ' }, c.len_utf8()))
                .collect();
            out.replace_range(open + 1..open + 1 + inside.len(), &blank);
        }
    }
    out
}

/// How many values a generator is asked for.
fn limits(text: &str, first_line: u32) -> Vec<Limit> {
    let found =
        ["with_cases(", "cases:"].iter().find_map(|word| text.find(word).map(|at| (at, at + word.len())));
    let limit = found.and_then(|(at, end)| {
        let value = amount(text[end..].trim_start().split([')', ',', '}', '\n']).next()?.trim())?;
        let start = text[..at].rfind('\n').map_or(0, |line| line + 1);
        Some(Limit {
            name: "cases",
            line: first_line.saturating_add(u32::try_from(text[..at].matches('\n').count()).unwrap_or(0)),
            shown: text[start..].lines().next().unwrap_or("").trim().to_owned(),
            value,
            kind: FactKind::ParameterDropped,
        })
    });
    limit.into_iter().collect()
}
