use ambit_policy::FactKind;

use super::terms::{is_value, squeezed};

/// How what is looked at and what is expected stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Relation {
    /// Nothing is asked that could fail.
    Nothing,
    /// It is there, or well, or an error, whatever it is.
    Present,
    /// It is another value than one.
    Differs,
    /// It lies on one side of a value: the operator is among the texts.
    Ordered,
    /// It lies near a value.
    Near,
    /// It has a shape, contains a part, or is an error of a kind.
    Shaped,
    /// A condition holds that is not taken apart.
    Holds,
    /// It is a value.
    Equals,
    /// It is what was kept.
    Kept,
    /// Reaching this place is a failure.
    Fails,
    /// A function checks it.
    Helper,
}

/// Something between a check and the test that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Obstacle {
    /// What is told of it.
    pub(crate) kind: FactKind,
    /// By what it is found again on the other side.
    pub(crate) key: String,
    /// The line, from 1.
    pub(crate) line: u32,
    /// Its text, as it is shown.
    pub(crate) shown: String,
}

/// One thing that a test checks.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    /// The line, from 1.
    pub(crate) line: u32,
    /// Its text, as it is shown.
    pub(crate) shown: String,
    /// How subject and expected stand to each other.
    pub(crate) relation: Relation,
    /// Whether the relation is turned round: not near, not shaped so, does not hold.
    pub(crate) is_negated: bool,
    /// What is looked at.
    pub(crate) subject: String,
    /// What it is held against. Empty where nothing is.
    pub(crate) expected: String,
    /// Subject and expected with the values of variables in their place.
    pub(crate) resolved: (String, String),
    /// The operator of an order; the tolerance of nearness.
    pub(crate) measure: String,
    /// How many alternatives satisfy it.
    pub(crate) alternatives: u32,
    /// Whether some builds leave it out, or it looks at a part of the value alone.
    pub(crate) is_optional: bool,
    /// What stands between it and its test.
    pub(crate) obstacles: Vec<Obstacle>,
}

impl Check {
    /// A check of a subject against what is expected.
    pub(crate) fn new(line: u32, shown: &str, relation: Relation, subject: &str, expected: &str) -> Self {
        let (mut subject, mut expected) = (squeezed(subject), squeezed(expected));
        // Of two sides the literal one is what is expected.
        if matches!(relation, Relation::Equals | Relation::Differs | Relation::Near)
            && is_value(&subject)
            && !is_value(&expected)
        {
            std::mem::swap(&mut subject, &mut expected);
        }
        Self {
            line,
            shown: shown.to_owned(),
            relation,
            is_negated: false,
            resolved: (subject.clone(), expected.clone()),
            subject,
            expected,
            measure: String::new(),
            alternatives: 1,
            is_optional: false,
            obstacles: Vec::new(),
        }
    }

    /// What it says, by which it is found again. Sides that may be exchanged stand in one order.
    pub(crate) fn key(&self) -> String {
        self.key_of(&self.subject, &self.expected)
    }

    /// The same, of the values of its variables.
    pub(crate) fn resolved_key(&self) -> String {
        self.key_of(&self.resolved.0, &self.resolved.1)
    }

    fn key_of(&self, subject: &str, expected: &str) -> String {
        let (one, other) = match self.relation {
            Relation::Equals | Relation::Differs if expected < subject => (expected, subject),
            _ => (subject, expected),
        };
        let Self { relation, is_negated, measure, alternatives, is_optional, .. } = self;
        format!("{relation:?} {is_negated} {measure} {alternatives} {is_optional} {one} | {other}")
    }

    /// Whether it can never fail.
    pub(crate) fn is_vacuous(&self) -> bool {
        self.relation == Relation::Nothing
    }
}
