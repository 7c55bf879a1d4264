//! Chains whose words are read from left to right: those of chai, of should.js and of Cypress.

use tree_sitter::Node;

use super::chain::{Chain, Link};
use super::relation::{Matcher, Relation, WORDS};
use super::said::{LATE, Reader, Said, arguments};

/// Words of a chain of chai that are assertions without a call.
const UNCALLED: [&str; 14] = [
    "true",
    "false",
    "null",
    "undefined",
    "NaN",
    "ok",
    "exist",
    "empty",
    "called",
    "calledOnce",
    "calledTwice",
    "arguments",
    "rejected",
    "fulfilled",
];

impl<'t> Reader<'_, 't> {
    /// `x.should.equal(y)`, `cy.get(x).should('have.text', y)`, `request(x).expect(200)`.
    pub(super) fn words(&self, node: Node<'t>, chain: &Chain<'t>, from: usize) -> Vec<Said<'t>> {
        let mut found = Vec::new();
        for (at, link) in chain.links.iter().enumerate().skip(from.max(1)) {
            let before = chain.links[at - 1].node;
            let subject = || self.text.at(node.start_byte()..before.end_byte().max(node.start_byte()));
            match (link.name, link.calls.last()) {
                ("should" | "and", Some(call)) => {
                    let mut given = arguments(*call);
                    if given.first().is_some_and(|first| first.kind() == "string") {
                        let chainer = self.text.unquoted(given.remove(0));
                        found.extend(self.chainer(link.node, chainer, given, subject()));
                    } else {
                        found.push(self.said(
                            link.node,
                            "should",
                            Relation::Own,
                            subject().to_owned(),
                            given,
                        ));
                    }
                }
                ("should", None) => {
                    found.extend(self.words_after(node, &chain.links[at + 1..], subject()));
                    return found;
                }
                ("expect", Some(call)) => {
                    let said = self.said(link.node, "expect", Relation::Own, String::new(), arguments(*call));
                    found.push(said);
                }
                _ => {}
            }
        }
        found
    }

    /// `have.text`, `not.be.visible`.
    pub(super) fn chainer(
        &self,
        node: Node<'t>,
        chainer: &'t str,
        given: Vec<Node<'t>>,
        subject: &str,
    ) -> Option<Said<'t>> {
        let last = chainer.rsplit('.').next()?;
        let word = WORDS.iter().find(|word| word.name == last);
        let relation = word.map_or(Relation::Own, |word| word.relation);
        let mut said = self.said(node, last, relation, subject.to_owned(), given);
        said.negated = chainer.split('.').any(|part| part == "not");
        said.by_name = word.map_or("", |word| word.expects);
        Some(said)
    }

    /// The assertions of a chain of words.
    pub(super) fn words_after(&self, node: Node<'t>, links: &[Link<'t>], subject: &str) -> Vec<Said<'t>> {
        let mut found = Vec::new();
        let (mut negated, mut late) = (false, false);
        for link in links {
            match link.name {
                "not" => negated = true,
                name if LATE.contains(&name) => late = true,
                _ => {}
            }
            let Some(word) = WORDS.iter().find(|word| word.name == link.name) else {
                // A word of a plug-in.
                if let Some(call) =
                    link.calls.last().filter(|_| !matches!(link.name, "then" | "catch" | "notify"))
                {
                    let mut said =
                        self.said(node, link.name, Relation::Own, subject.to_owned(), arguments(*call));
                    said.negated = negated;
                    found.push(said);
                }
                continue;
            };
            let call = link.calls.last();
            if call.is_none() && !UNCALLED.contains(&link.name) {
                continue;
            }
            found.push(self.word(node, word, call, (negated, late), subject));
        }
        found
    }

    pub(super) fn word(
        &self,
        node: Node<'t>,
        word: &Matcher,
        call: Option<&Node<'t>>,
        (negated, late): (bool, bool),
        subject: &str,
    ) -> Said<'t> {
        let given = call.map(|call| arguments(*call)).unwrap_or_default();
        let relation = match word.name {
            "property" if given.len() > 1 => Relation::Same,
            _ => word.relation,
        };
        let mut said = self.said(node, word.name, relation, subject.to_owned(), given);
        said.negated = negated;
        said.is_late = late || matches!(word.name, "rejected" | "rejectedWith" | "fulfilled");
        said.by_name = word.expects;
        said
    }
}
