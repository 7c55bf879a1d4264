//! Rules and requests, chosen and random.

use ambit_blueprint::{ExpectedVerdict, RuleCondition, RuleExample, RuleException, ToolRule};
use ambit_ids::{Digest, OrganizationId, ProjectId, RuleId, RunId, Scope, UnixMs};
use ambit_policy::{Answer, ApprovalInHand, Capability, DenialKind, Fact, FactKind, Request, ToolName};

/// A name.
#[must_use]
pub fn rule_id(name: &str) -> RuleId {
    RuleId::new(name).unwrap()
}

/// The policy set of every request here.
#[must_use]
pub fn policy() -> Digest {
    Digest::of(b"the policy set")
}

/// The arguments of every call here.
#[must_use]
pub fn arguments() -> Digest {
    Digest::of(b"the arguments")
}

/// A call of which this is true.
#[must_use]
pub fn call(tool: ToolName, facts: &[Fact]) -> Request {
    Request {
        scope: Scope {
            organization: OrganizationId::new("acme").unwrap(),
            project: ProjectId::new("todo").unwrap(),
        },
        run: RunId::new("run_abcdef").unwrap(),
        blueprint: Digest::of(b"the blueprint"),
        policy: policy(),
        tool,
        arguments: arguments(),
        facts: facts.to_vec(),
        asked: None,
        approval: None,
    }
}

/// A call that asks for a capability.
#[must_use]
pub fn asking(capability: Capability) -> Request {
    Request { asked: Some(capability), ..call(ToolName::RequestScopedApproval, &[]) }
}

/// The call with an approval in hand.
#[must_use]
pub fn with_approval(request: Request, capability: Capability, subject: Digest) -> Request {
    let approval = ApprovalInHand { capability, subject, expires: UnixMs::new(1) };
    Request { approval: Some(approval), ..request }
}

/// A dependency that nobody approved.
#[must_use]
pub fn dependency() -> Fact {
    fact(FactKind::DependencyAdded)
}

/// A fact of each kind.
#[must_use]
pub fn fact(kind: FactKind) -> Fact {
    kind.example().unwrap()
}

/// An example of a call without an approval.
#[must_use]
pub fn example(tool: ToolName, facts: &[Fact], expect: ExpectedVerdict) -> RuleExample {
    RuleExample { tool, facts: facts.to_vec(), asked: None, approved: None, expect }
}

/// A rule about one tool with one example, which no approval lifts.
#[must_use]
pub fn rule(id: &str, answer: Answer, tool: ToolName, when: RuleCondition, example: RuleExample) -> ToolRule {
    ToolRule {
        id: rule_id(id),
        answer,
        tools: vec![tool],
        when,
        unless: None,
        why: format!("The reason of {id}."),
        instead: None,
        examples: vec![example],
    }
}

/// Numbers that follow from a seed.
pub struct Chance(u64);

impl Chance {
    /// The numbers of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Up to `most` of them, each at most once.
    fn some_of<T: Copy + PartialEq>(&mut self, all: &[T], least: usize, most: usize) -> Vec<T> {
        let count = least + self.below(most - least + 1);
        let mut chosen = Vec::new();
        while chosen.len() < count.min(all.len()) {
            let one = self.one_of(all);
            if !chosen.contains(&one) {
                chosen.push(one);
            }
        }
        chosen
    }
}

/// Up to nine rules of any kind. Each has an example that always comes out: a call that cannot be classified.
#[must_use]
pub fn any_rules(chance: &mut Chance) -> Vec<ToolRule> {
    let count = chance.below(10);
    (0..count).map(|at| any_rule(chance, &format!("rule-{at}"))).collect()
}

fn any_rule(chance: &mut Chance, id: &str) -> ToolRule {
    let approvable: Vec<Capability> =
        Capability::ALL.iter().copied().filter(|capability| capability.is_approvable()).collect();
    let answer = match chance.below(3) {
        0 => Answer::Permit,
        1 => Answer::RequireApproval(chance.one_of(&approvable)),
        _ => Answer::Forbid(chance.one_of(DenialKind::ALL)),
    };
    let when = match chance.below(3) {
        0 => RuleCondition::Always,
        1 => RuleCondition::AnyFact(chance.some_of(FactKind::ALL, 1, 3)),
        _ => RuleCondition::Asked(chance.some_of(Capability::ALL, 1, 5)),
    };
    let unless = (chance.below(2) == 0).then(|| RuleException { approved: chance.one_of(Capability::ALL) });
    let unclassified = [fact(FactKind::Unclassified)];
    let certain = example(ToolName::ApplyProjectPatch, &unclassified, ExpectedVerdict::DenyTerminating);
    let tools = chance.some_of(ToolName::ALL, 1, ToolName::ALL.len());
    ToolRule { tools, unless, ..rule(id, answer, ToolName::ApplyProjectPatch, when, certain) }
}

/// A request with up to three facts, with or without something that is asked for or approved.
#[must_use]
pub fn any_request(chance: &mut Chance) -> Request {
    let facts: Vec<Fact> = chance.some_of(FactKind::ALL, 0, 3).into_iter().map(fact).collect();
    let asked = (chance.below(3) == 0).then(|| chance.one_of(Capability::ALL));
    let request = Request { asked, ..call(chance.one_of(ToolName::ALL), &facts) };
    match chance.below(3) {
        0 => with_approval(request, chance.one_of(Capability::ALL), arguments()),
        1 => with_approval(request, chance.one_of(Capability::ALL), Digest::of(b"other arguments")),
        _ => request,
    }
}
