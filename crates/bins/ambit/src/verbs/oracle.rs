//! What a patch does to tests, checks and guarantees, and what the built-in policy answers to it.

use ambit_blueprint::{Document, builtin};
use ambit_ids::{Digest, IdError, PathPattern, PathSet, Scope};
use ambit_oracle::{FileChange, Guard, facts};
use ambit_policy::{Capability, DenialKind, Fact, Request, ToolName, Verdict};
use ambit_policy_rules::RuleEngine;
use ambit_ports::policy::PolicyEngine as _;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::cli::{GuardedArgs, OracleVerb, TESTS};
use crate::failure::{Failure, exit};
use crate::ink::{Ink, Page};
use crate::terminal::{counted, is_read_by_a_person, printable_json};
use crate::verbs::patch::{Judgeable, Unjudged, judgeable};

pub(crate) fn run(verb: &OracleVerb, json: bool) -> Result<Answer, Failure> {
    let OracleVerb::Check { ground, guarded } = verb;
    let told = match judgeable(ground)? {
        Ok(patch) => Told::of(&patch, &guard(guarded)?)?,
        Err(unjudged) => Told::refused(unjudged),
    };
    Ok(told.answer(json))
}

/// Everything is in scope: the verb says what a patch weakens, and not where work may go.
fn guard(guarded: &GuardedArgs) -> Result<Guard, Failure> {
    let all = |patterns: &[&str]| {
        let read: Result<_, _> = patterns.iter().map(|pattern| PathPattern::new(pattern)).collect();
        read.map(PathSet).map_err(|error| Failure::of("ORACLE_PATTERN", &error))
    };
    let tests = if guarded.tests.is_empty() { all(&TESTS)? } else { PathSet(guarded.tests.clone()) };
    Ok(Guard { protected: PathSet(guarded.protect.clone()), tests, scope: all(&["**"])?, ..Guard::default() })
}

/// What is told of a patch.
struct Told {
    verdict: &'static str,
    code: Option<&'static str>,
    message: String,
    patch: Option<Digest>,
    policy: Option<Digest>,
    facts: Vec<Fact>,
    rules: Vec<Rule>,
    approval: Option<Capability>,
}

/// A rule that decided, in its own words.
struct Rule {
    name: String,
    why: String,
    instead: Option<String>,
}

impl Told {
    fn of(patch: &Judgeable, guard: &Guard) -> Result<Self, Failure> {
        let changes: Vec<FileChange<'_>> =
            patch.sides().map(|(path, [before, after])| FileChange { path, before, after }).collect();
        let facts = facts(&changes, guard);
        let document = builtin::GENERATION_TOOLS_V2.parse().map_err(Failure::of_document)?;
        let Document::Bundle(bundle) = &document else {
            return Err(Failure::new("POLICY_UNUSABLE", "the built-in rules are no bundle"));
        };
        let policy = document.digest().map_err(|error| Failure::of("POLICY_UNUSABLE", &error))?;
        let engine = RuleEngine::new(policy, bundle.tool_rules().unwrap_or_default())
            .map_err(|error| Failure::of("POLICY_UNUSABLE", &error))?;
        let decision = engine.decide(&request(policy, patch.digest, facts.clone())?);
        let (verdict, approval) = match decision.verdict {
            Verdict::Allow => ("allow", None),
            Verdict::NeedsApproval(capability) => ("needs-approval", Some(capability)),
            Verdict::Deny(DenialKind::Call) => ("deny-call", None),
            Verdict::Deny(DenialKind::Terminating) => ("deny-terminating", None),
        };
        let rules = engine.explain(&decision).into_iter();
        let rules = rules
            .map(|told| Rule { name: told.rule.to_string(), why: told.why, instead: told.instead })
            .collect();
        let message = match facts.len() {
            0 => "the patch weakens nothing that is known here".to_owned(),
            many => format!("{} about the patch", counted(many, "fact")),
        };
        let (patch, policy) = (patch.digest, Some(policy));
        Ok(Self { verdict, code: None, message, patch, policy, facts, rules, approval })
    }

    fn refused(unjudged: Unjudged) -> Self {
        let Unjudged { code, message, patch } = unjudged;
        let (facts, rules) = (Vec::new(), Vec::new());
        let code = Some(code);
        Self { verdict: "refused", code, message, patch, policy: None, facts, rules, approval: None }
    }

    /// One object with the same members whatever the verdict is.
    fn to_json(&self) -> Value {
        let rules: Vec<Value> = self
            .rules
            .iter()
            .map(|rule| json!({"rule": rule.name, "why": rule.why, "instead": rule.instead}))
            .collect();
        json!({
            "verdict": self.verdict, "code": self.code, "message": self.message, "patch": self.patch,
            "policy": self.policy, "facts": self.facts, "rules": rules, "approval": self.approval,
        })
    }

    fn page(&self) -> Page {
        let mut page = Page::for_output();
        let ink = if self.verdict == "allow" { Ink::Good } else { Ink::Bad };
        page.row(ink, self.verdict, self.code.unwrap_or(&self.message));
        if self.code.is_some() {
            page.row(Ink::Plain, "", &self.message);
        }
        for fact in &self.facts {
            page.row(Ink::Plain, "fact", &fact.to_string());
        }
        for Rule { name, why, instead } in self.rules.iter().filter(|_| self.verdict != "allow") {
            page.row(Ink::Quiet, "rule", &format!("{name}: {why}"));
            if let Some(instead) = instead {
                page.row(Ink::Plain, "instead", instead);
            }
        }
        page
    }

    fn answer(self, json: bool) -> Answer {
        let exit = if self.verdict == "allow" { exit::OK } else { exit::DENIED };
        let value = self.to_json();
        let text = if is_read_by_a_person(json) { self.page().into_text() } else { printable_json(&value) };
        Answer::new(text, value).verbatim().exiting(exit)
    }
}

/// The question that a run would ask. There is no run: what stands for it is in no rule.
fn request(policy: Digest, patch: Option<Digest>, facts: Vec<Fact>) -> Result<Request, Failure> {
    let id = |error: IdError| Failure::of("ORACLE_ID", &error);
    Ok(Request {
        scope: Scope { organization: "oracle".parse().map_err(id)?, project: "oracle".parse().map_err(id)? },
        run: "run_oracle0".parse().map_err(id)?,
        blueprint: Digest::of(b"oracle"),
        policy,
        tool: ToolName::ApplyProjectPatch,
        arguments: patch.unwrap_or(Digest::of(b"oracle")),
        facts,
        asked: None,
        approval: None,
    })
}
