//! Decorators: the values that a test runs for, how hard it tries, and what it replaces.

use ambit_policy::FactKind;
use tree_sitter::Node;

use super::Reader;
use super::nodes::first;
use crate::outline::{Case, Limit, Unit, amount, distinct, top_level};
use crate::reading::Reading as _;

/// How many values hypothesis makes where nobody says a number.
const EXAMPLES: f64 = 100.0;

fn is_given(decorator: &str) -> bool {
    decorator.starts_with("@given(") || decorator.starts_with("@hypothesis.given(")
}

/// An item and the decorators above it.
pub(super) fn taken_apart(node: Node<'_>) -> (Node<'_>, Vec<Node<'_>>) {
    if node.kind() != "decorated_definition" {
        return (node, Vec::new());
    }
    let mut cursor = node.walk();
    let decorators = node.named_children(&mut cursor).filter(|child| child.kind() == "decorator").collect();
    (node.child_by_field_name("definition").unwrap_or(node), decorators)
}

/// What decorators put another thing in the place of, by its last name.
pub(super) fn patched(reader: &Reader<'_>, decorators: &[Node<'_>]) -> Vec<String> {
    decorators.iter().filter_map(|decorator| replaced(&reader.tight(*decorator))).collect()
}

/// What a call of `patch` replaces with a value, by its last name.
pub(super) fn replaced(call: &str) -> Option<String> {
    let says_what = call.contains("return_value=") || call.contains("lambda") || call.contains("new=");
    let at = call.find("patch(").or_else(|| call.find("patch.object(")).filter(|_| says_what)?;
    let arguments = &call[at + call[at..].find('(')? + 1..];
    let mut parts = top_level(arguments, &[","]).into_iter();
    let first = parts.next()?.trim();
    let target = if call[at..].starts_with("patch.object") { parts.next()?.trim() } else { first };
    let name = target.trim_matches(['"', '\'']).rsplit('.').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

impl Reader<'_> {
    pub(super) fn decorators(&self, decorators: &[Node<'_>], unit: &mut Unit) {
        for decorator in decorators {
            let text = self.tight(*decorator);
            if text.contains("parametrize(") || text.contains("expand(") || text.contains("ddt.data(") {
                unit.cases.extend(distinct(self.parameters(*decorator)));
            }
            let number = text.split("max_examples=").nth(1);
            let number = number.and_then(|rest| amount(rest.split([',', ')']).next().unwrap_or("")));
            if number.is_some() || is_given(&text) {
                let limit = Limit {
                    name: "max_examples",
                    line: self.line(*decorator),
                    shown: self.shown(*decorator).to_owned(),
                    value: number.unwrap_or(EXAMPLES),
                    kind: FactKind::AssertionLoosened,
                };
                // A number that is said stands before the one that holds otherwise.
                let place = if number.is_some() { 0 } else { unit.limits.len() };
                unit.limits.insert(place, limit);
            }
            if is_given(&text) {
                let is_one_value = ["just(", "nothing()", ".none()"].iter().any(|only| text.contains(only));
                unit.limits.push(Limit {
                    name: "strategies",
                    line: self.line(*decorator),
                    shown: self.shown(*decorator).to_owned(),
                    value: if is_one_value { 1.0 } else { EXAMPLES },
                    kind: FactKind::ParameterDropped,
                });
            }
            let name = text.trim_start_matches('@').split('(').next().unwrap_or("");
            let last = name.rsplit('.').next().unwrap_or("");
            if matches!(last, "flaky" | "retry" | "rerun" | "repeat_until_pass") {
                unit.obstacles.push(self.obstacle(FactKind::AssertionSwallowed, "again", *decorator));
            }
        }
    }

    /// The rows of a table of parameters.
    fn parameters(&self, decorator: Node<'_>) -> Vec<Case> {
        let Some(call) = first(decorator).filter(|call| call.kind() == "call") else {
            return Vec::new();
        };
        let Some(arguments) = call.child_by_field_name("arguments") else { return Vec::new() };
        // The first argument of `parametrize` is the names, which may stand in a tuple as well.
        let names = usize::from(self.field(call, "function").ends_with("parametrize"));
        let mut cursor = arguments.walk();
        let table = arguments
            .named_children(&mut cursor)
            .filter(|argument| !argument.is_extra())
            .skip(names)
            .map(|argument| {
                let named = Some(argument).filter(|argument| argument.kind() == "keyword_argument");
                named.and_then(|named| named.child_by_field_name("value")).unwrap_or(argument)
            })
            .find_map(|argument| self.table(argument));
        table.unwrap_or_default()
    }

    /// The elements of a list, or of the module's list of this name.
    pub(super) fn table(&self, node: Node<'_>) -> Option<Vec<Case>> {
        match node.kind() {
            "list" | "tuple" | "set" => Some(self.elements(node)),
            "identifier" => {
                let name = self.of(node);
                let range = self.lists.iter().find(|(list, _)| list == name)?.1.clone();
                let list = self.tree.root_node().descendant_for_byte_range(range.start, range.end)?;
                Some(self.elements(list))
            }
            "subscript" => {
                let mut rows = self.table(node.child_by_field_name("value")?)?;
                let cut = self.tight_field(node, "subscript");
                // What is cut by what is not said here may be cut to nothing.
                let kept = cut.strip_prefix(':').and_then(|end| end.parse().ok()).unwrap_or(0);
                rows.truncate(kept);
                Some(rows)
            }
            _ => None,
        }
    }

    fn elements(&self, list: Node<'_>) -> Vec<Case> {
        let mut cursor = list.walk();
        let elements = list.named_children(&mut cursor).filter(|child| !child.is_extra());
        elements
            .map(|element| {
                let text = self.plain(element);
                let inside = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(&text);
                let inside = inside
                    .strip_prefix("pytest.param(")
                    .and_then(|rest| rest.strip_suffix(')'))
                    .unwrap_or(inside);
                let parts = top_level(inside, &[","]).into_iter().map(str::trim);
                let cells =
                    parts.filter(|part| !part.is_empty() && !part.starts_with("id=")).map(str::to_owned);
                Case { line: self.line(element), cells: cells.collect(), shown: text.clone() }
            })
            .collect()
    }
}
