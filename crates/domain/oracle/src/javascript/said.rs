//! What a chain asserts.

use tree_sitter::Node;

use super::chain::{Chain, Link};
use super::names::{Library, Names, Role};
use super::relation::{ALIASES, MATCHERS, METHODS, Relation, Shape};
use super::text::Text;
use super::vacuous;

/// One thing that a chain asserts.
pub(super) struct Said<'t> {
    /// The name by which the library knows it, with what changes its meaning: `not.toBe`, `deepEqual`.
    pub(super) name: String,
    pub(super) relation: Relation,
    pub(super) negated: bool,
    /// What it looks at.
    pub(super) subject: String,
    /// What it expects, as it is written.
    pub(super) expected: Vec<Node<'t>>,
    /// What it expects by its name.
    pub(super) by_name: &'static str,
    /// Whether it is made only once a promise is settled.
    pub(super) is_late: bool,
    /// Whether it holds whatever the program does.
    pub(super) is_vacuous: bool,
    /// Where it stands: the chain, or the link of it.
    pub(super) node: Node<'t>,
}

/// Matchers of Playwright that wait for a page.
const OF_BROWSER: [&str; 22] = [
    "toHaveText",
    "toContainText",
    "toHaveURL",
    "toHaveTitle",
    "toBeVisible",
    "toBeHidden",
    "toHaveCount",
    "toHaveValue",
    "toHaveValues",
    "toHaveAttribute",
    "toHaveClass",
    "toHaveCSS",
    "toHaveId",
    "toBeAttached",
    "toBeChecked",
    "toBeEnabled",
    "toBeDisabled",
    "toBeEditable",
    "toBeEmpty",
    "toBeFocused",
    "toHaveScreenshot",
    "toBeInViewport",
];
/// Words of a chain of chai that settle a promise first.
pub(super) const LATE: [&str; 5] = ["resolves", "rejects", "eventually", "poll", "element"];
/// Reads chains of one file.
#[derive(Clone, Copy)]
pub(super) struct Reader<'r, 't> {
    pub(super) text: Text<'t>,
    pub(super) names: &'r Names<'t>,
    /// What tests call the object that they are given.
    pub(super) objects: &'r [&'t str],
    /// What tests call the methods that they take from it.
    pub(super) methods: &'r [(&'t str, &'t str)],
}

impl<'t> Reader<'_, 't> {
    /// What the chain asserts, from left to right.
    pub(super) fn read(&self, node: Node<'t>, chain: &Chain<'t>) -> Vec<Said<'t>> {
        let chain = &chain.unsettled();
        let root = chain.root();
        match root.name {
            "expect" | "expectAsync" | "expectTypeOf" | "chai" => return self.expectation(node, chain),
            "cy" => return self.words(node, chain, 1),
            _ => {}
        }
        if let Some(Role::Asserting(library, method)) = self.names.role(root.name)
            && chain.links.len() == 1
        {
            return self.method(node, method, root, library).into_iter().collect();
        }
        let taken = self.methods.iter().rev().find(|(local, _)| *local == root.name);
        if let Some((_, method)) = taken.filter(|_| chain.links.len() == 1 && !root.calls.is_empty()) {
            return self.method(node, method, root, Library::Strict).into_iter().collect();
        }
        let is_object = self.objects.contains(&root.name) || self.names.role(root.name) == Some(Role::Runner);
        let library = match self.names.role(root.name) {
            _ if is_object => Some(Library::Strict),
            Some(Role::Asserts(library)) => Some(library),
            _ => None,
        };
        if let Some(library) = library {
            return self.of_library(node, chain, library, is_object);
        }
        if chain.links.iter().skip(1).any(|link| matches!(link.name, "should" | "expect")) {
            return self.words(node, chain, 0);
        }
        self.own(node, chain).into_iter().collect()
    }

    /// `assert(x)`, `assert.equal(x, y)`, `t.assert.equal(x, y)`, `t.is(x, y)`.
    fn of_library(
        &self,
        node: Node<'t>,
        chain: &Chain<'t>,
        library: Library,
        is_object: bool,
    ) -> Vec<Said<'t>> {
        let last = chain.last();
        let between = &chain.links[1..chain.links.len().max(2) - 1];
        if chain.links.len() == 1 {
            let is_assert = !is_object && !last.calls.is_empty();
            return if is_assert {
                self.method(node, "ok", last, library).into_iter().collect()
            } else {
                Vec::new()
            };
        }
        if between.iter().any(|link| !matches!(link.name, "assert" | "strict")) {
            return Vec::new();
        }
        let library = match between.iter().map(|link| link.name).collect::<Vec<_>>()[..] {
            [.., "strict"] => Library::Strict,
            ["assert"] if is_object => Library::Loose,
            _ => library,
        };
        self.method(node, last.name, last, library).into_iter().collect()
    }

    fn method(&self, node: Node<'t>, name: &str, link: &Link<'t>, library: Library) -> Option<Said<'t>> {
        let arguments = arguments(*link.calls.last()?);
        if name == "plan" {
            return Some(self.said(node, name, Relation::Plan, String::new(), arguments));
        }
        let Some(method) = METHODS.iter().find(|method| method.name == name) else {
            let is_own = name.to_ascii_lowercase().starts_with("assert");
            return is_own.then(|| self.said(node, name, Relation::Own, String::new(), arguments));
        };
        let relation = match (library, name) {
            (Library::Loose, "equal" | "deepEqual" | "notEqual" | "notDeepEqual") => Relation::Loose,
            (Library::Chai, "equal" | "notEqual") => Relation::Loose,
            _ => method.relation,
        };
        let first = arguments.first().copied();
        let subject = first.map(|first| self.text.normal(first)).unwrap_or_default();
        let expected = match method.shape {
            Shape::Two => arguments.get(1..2),
            Shape::Failing => arguments.get(1..).map(|rest| &rest[..rest.len().min(1)]),
            Shape::One | Shape::None => None,
        };
        let mut said = self.said(node, name, relation, subject, expected.unwrap_or_default().to_vec());
        said.negated = method.negated;
        said.is_late = matches!(
            name,
            "rejects" | "doesNotReject" | "throwsAsync" | "notThrowsAsync" | "resolves" | "resolveMatch"
        );
        said.by_name = match name {
            "true" | "isTrue" | "isNotTrue" => "true",
            "false" | "isFalse" | "isNotFalse" => "false",
            "isNull" | "isNotNull" => "null",
            "isUndefined" => "undefined",
            _ => "",
        };
        if let Some(first) = first.filter(|_| method.shape != Shape::Failing) {
            self.decompose(&mut said, first);
        }
        Some(said)
    }

    /// `expect(x).not.toBe(y)`, `expect(x).to.deep.equal(y)`, `expect.assertions(2)`.
    fn expectation(&self, node: Node<'t>, chain: &Chain<'t>) -> Vec<Said<'t>> {
        let Some(at) = chain.links.iter().position(|link| !link.calls.is_empty()) else { return Vec::new() };
        let opening = &chain.links[at];
        let given = arguments(opening.calls[0]);
        match opening.name {
            "assertions" => return vec![self.said(node, "plan", Relation::Plan, String::new(), given)],
            "hasAssertions" => {
                return vec![self.said(node, "hasAssertions", Relation::Plan, String::new(), Vec::new())];
            }
            "fail" | "unreachable" => {
                return vec![self.said(node, "fail", Relation::Never, String::new(), given)];
            }
            "expect" | "expectAsync" | "expectTypeOf" | "soft" | "poll" | "element" | "configure" => {}
            _ => return Vec::new(),
        }
        let Some(first) = given.first().copied() else { return Vec::new() };
        let rest = &chain.links[at + 1..];
        let Some(last) = rest.last() else { return Vec::new() };
        let is_matcher = last.name.len() > 2
            && (last.name.starts_with("to") && last.name.as_bytes()[2].is_ascii_uppercase()
                || ALIASES.iter().any(|(alias, _)| *alias == last.name));
        if !is_matcher {
            let mut said = self.words_after(node, rest, &self.text.normal(first));
            for said in &mut said {
                self.decompose(said, first);
            }
            return said;
        }
        let Some(call) = last.calls.last() else { return Vec::new() };
        let mut said = self.matcher(node, last.name, arguments(*call));
        said.subject = self.text.normal(first);
        if matches!(said.name.as_str(), "toHaveLength" | "toHaveSize") {
            said.subject.push_str(".length");
            said.relation = Relation::Same;
        }
        let words = chain.links[..chain.links.len() - 1].iter().map(|link| link.name);
        for word in words {
            said.negated ^= word == "not";
            said.is_late |= LATE.contains(&word) || word == "expectAsync";
        }
        said.is_late |= self.names.is_of_browser && OF_BROWSER.contains(&said.name.as_str());
        self.decompose(&mut said, first);
        vec![said]
    }

    fn matcher(&self, node: Node<'t>, name: &'t str, arguments: Vec<Node<'t>>) -> Said<'t> {
        let plain = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, plain)| plain);
        let found = MATCHERS.iter().find(|matcher| matcher.name == plain);
        let relation = found.map_or(Relation::Own, |matcher| matcher.relation);
        let mut said = self.said(node, plain, relation, String::new(), arguments);
        said.negated = found.is_some_and(|matcher| matcher.negated);
        said.by_name = found.map_or("", |matcher| matcher.expects);
        said
    }

    /// A function whose name says that it asserts.
    fn own(&self, node: Node<'t>, chain: &Chain<'t>) -> Option<Said<'t>> {
        let last = chain.last();
        let call = last.calls.last()?;
        let plain = last.name.trim_start_matches('_').to_ascii_lowercase();
        let asserts = plain.starts_with("assert") || (plain.starts_with("expect") && plain.len() > 6);
        asserts.then(|| self.said(node, last.name, Relation::Own, String::new(), arguments(*call)))
    }

    pub(super) fn said(
        &self,
        node: Node<'t>,
        name: &str,
        relation: Relation,
        subject: String,
        expected: Vec<Node<'t>>,
    ) -> Said<'t> {
        Said {
            name: name.to_owned(),
            relation,
            negated: false,
            subject,
            expected,
            by_name: "",
            is_late: false,
            is_vacuous: false,
            node,
        }
    }

    /// `assert(a === b)` and `expect(a === b).toBe(true)` say of `a` that it is `b`.
    fn decompose(&self, said: &mut Said<'t>, subject: Node<'t>) {
        said.is_vacuous = vacuous::is_vacuous(self.text, said, subject);
        let asks_truth = said.relation == Relation::Truth
            || (said.relation == Relation::Same && self.expects(said) == Some("true"));
        if said.is_vacuous || !asks_truth {
            return;
        }
        let inner = vacuous::plain(subject);
        let turned =
            inner.child_by_field_name("operator").is_some_and(|operator| self.text.of(operator) == "!");
        if let Some(argument) =
            inner.child_by_field_name("argument").filter(|_| turned && said.relation == Relation::Truth)
        {
            said.negated ^= true;
            said.subject = self.text.normal(vacuous::plain(argument));
            return;
        }
        if let Some((object, part)) = self.asked_for_a_part(inner) {
            said.relation = Relation::Part;
            said.subject = self.text.normal(object);
            said.expected = vec![part];
            said.by_name = "";
            return;
        }
        if inner.kind() != "binary_expression" {
            return;
        }
        let operator = inner.child_by_field_name("operator").map_or("", |operator| self.text.of(operator));
        let (Some(left), Some(right)) =
            (inner.child_by_field_name("left"), inner.child_by_field_name("right"))
        else {
            return;
        };
        let (relation, negated) = match operator {
            "===" => (Relation::Same, false),
            "==" => (Relation::Loose, false),
            "!==" => (Relation::Same, true),
            "!=" => (Relation::Loose, true),
            "<" | ">" | "<=" | ">=" => (Relation::Bound, false),
            "instanceof" => (Relation::Kind, false),
            _ => return,
        };
        said.relation = relation;
        said.negated ^= negated;
        said.subject = self.text.normal(left);
        said.expected = vec![right];
        said.by_name = "";
    }

    /// `x.includes(y)`: a thing that is asked whether it holds another.
    fn asked_for_a_part(&self, node: Node<'t>) -> Option<(Node<'t>, Node<'t>)> {
        let function = node.child_by_field_name("function").filter(|_| node.kind() == "call_expression")?;
        let name = function.child_by_field_name("property").map(|name| self.text.of(name))?;
        let object = function.child_by_field_name("object").filter(|_| name == "includes")?;
        match arguments(node.child_by_field_name("arguments")?)[..] {
            [part] => Some((object, part)),
            _ => None,
        }
    }

    /// What is expected, where it is one plain thing.
    pub(super) fn expects(&self, said: &Said<'t>) -> Option<&'t str> {
        match said.expected[..] {
            [] if !said.by_name.is_empty() => Some(said.by_name),
            [one] => Some(self.text.of(one)),
            _ => None,
        }
    }
}

/// The arguments of a call.
pub(super) fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    if call.kind() != "arguments" {
        return vec![call];
    }
    let mut cursor = call.walk();
    call.named_children(&mut cursor).filter(|argument| argument.kind() != "comment").collect()
}
