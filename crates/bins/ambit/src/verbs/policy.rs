//! Bundles of tool rules, looked at without a run.

use std::path::{Path, PathBuf};

use ambit_blueprint::{
    Document, ExpectedVerdict, PolicyBundle, PolicyRef, RuleExample, ToolRule, builtin, read_typed,
};
use ambit_ids::{Digest, RuleId, limits};
use ambit_policy::{Capability, Decision, Fact, ToolName, Verdict};
use ambit_policy_cedar::{CedarEngine, CedarError, Difference, Side, cedar_text, differences, standing_text};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::cli::{CallArgs, PolicyVerb};
use crate::failure::{Failure, exit};
use crate::input_file::{read_bytes, read_document};
use crate::terminal::counted;

pub(crate) fn run(verb: &PolicyVerb) -> Result<Answer, Failure> {
    match verb {
        PolicyVerb::Check { bundle, cedar } => check(&Loaded::named(bundle)?, *cedar),
        PolicyVerb::Test { bundle, cases } => test(&Loaded::named(bundle)?, cases.as_deref()),
        PolicyVerb::Explain { bundle, call } => explain(&Loaded::named(bundle)?, call),
        PolicyVerb::Diff { old, new } => diff(&Loaded::named(old)?, &Loaded::named(new)?),
    }
}

/// A bundle with its engine.
struct Loaded {
    name: String,
    digest: Digest,
    rules: Vec<ToolRule>,
    engine: CedarEngine,
}

impl Loaded {
    fn named(named: &str) -> Result<Self, Failure> {
        let bundle = match named.parse::<PolicyRef>() {
            Ok(reference) => brought(&reference)?,
            Err(_) => read_document(&PathBuf::from(named), PolicyBundle::parse)?,
        };
        let rules = bundle.tool_rules().map(<[ToolRule]>::to_vec).ok_or_else(|| {
            Failure::new("POLICY_WITHOUT_TOOL_RULES", format!("{named} has no rules for tool calls"))
        })?;
        let name = reference_of(&bundle);
        let document = Document::Bundle(bundle);
        let digest = document.digest().map_err(|error| Failure::of("DOCUMENT_NOT_CANONICAL", &error))?;
        let engine = CedarEngine::new(digest, &rules).map_err(|error| refused(&error))?;
        Ok(Self { name, digest, rules, engine })
    }

    fn side(&self) -> Side<'_> {
        Side { rules: &self.rules, engine: &self.engine }
    }
}

fn refused(error: &CedarError) -> Failure {
    Failure::of(error.code(), error)
}

/// A bundle that comes along.
fn brought(reference: &PolicyRef) -> Result<PolicyBundle, Failure> {
    let wanted = reference.to_string();
    let mut known = Vec::new();
    for document in builtin::parse_all().map_err(Failure::of_document)? {
        if let Document::Bundle(bundle) = document {
            let name = reference_of(&bundle);
            if name == wanted {
                return Ok(bundle);
            }
            known.push(name);
        }
    }
    Err(Failure::new("POLICY_UNRESOLVED", format!("no bundle {wanted} comes with this program"))
        .help("a file of another can be named")
        .meant(&wanted, known.iter().map(String::as_str)))
}

/// How references name the bundle.
fn reference_of(bundle: &PolicyBundle) -> String {
    format!("policy://{}/v{}", bundle.metadata.name, bundle.metadata.version)
}

fn check(loaded: &Loaded, cedar: bool) -> Result<Answer, Failure> {
    let examples = loaded.rules.iter().map(|rule| rule.examples.len()).sum();
    let text = cedar.then(|| format!("{}\n{}", standing_text(), cedar_text(&loaded.rules)));
    let json = json!({
        "valid": true,
        "name": loaded.name,
        "digest": loaded.digest,
        "engine": ambit_policy_cedar::ENGINE,
        "rules": loaded.rules.len(),
        "standing": loaded.engine.policies() - loaded.rules.len(),
        "examples": examples,
        "cedar": text,
    });
    if let Some(text) = text {
        return Ok(Answer::new(text, json).verbatim());
    }
    let text = format!(
        "{} can be used\n{}\n{}, {} that come out, and {} around every bundle; Cedar takes them all\n",
        loaded.name,
        loaded.digest,
        counted(loaded.rules.len(), "rule"),
        counted(examples, "example"),
        counted(loaded.engine.policies() - loaded.rules.len(), "standing rule"),
    );
    Ok(Answer::new(text, json).prose())
}

/// Cases of one's own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    cases: Vec<Case>,
}

/// A call, what the bundle must answer, and by which rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    tool: ToolName,
    facts: Vec<Fact>,
    asked: Option<Capability>,
    approved: Option<Capability>,
    expect: ExpectedVerdict,
    by: Option<Vec<RuleId>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tried {
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<RuleId>,
    number: usize,
    call: RuleExample,
    found: ExpectedVerdict,
    by: Vec<RuleId>,
    holds: bool,
}

fn test(loaded: &Loaded, cases: Option<&Path>) -> Result<Answer, Failure> {
    let mut tried = Vec::new();
    for rule in &loaded.rules {
        for (number, example) in (1..).zip(&rule.examples) {
            tried.push(try_one(loaded, Some(rule.id.clone()), number, example.clone(), None)?);
        }
    }
    let brought = match cases {
        Some(file) => {
            let bytes = read_bytes(file, limits::DOCUMENT_BYTES)?;
            read_typed::<Cases>(&file.to_string_lossy(), &bytes).map_err(Failure::of_document)?.0.cases
        }
        None => Vec::new(),
    };
    for (number, case) in (1..).zip(brought) {
        let Case { tool, facts, asked, approved, expect, by } = case;
        let call = RuleExample { tool, facts, asked, approved, expect };
        tried.push(try_one(loaded, None, number, call, by)?);
    }
    let wrong = tried.iter().filter(|it| !it.holds).count();
    let mut text = String::new();
    for it in tried.iter().filter(|it| !it.holds) {
        let (expected, found) = (it.call.expect, it.found);
        text.push_str(&format!("WRONG case {}: {}\n", it.number, shown(&it.call)));
        text.push_str(&format!("      expected {expected}, and it is {found} by {}\n", cited(&it.by)));
    }
    text.push_str(&format!("{} of {} come out\n", tried.len() - wrong, counted(tried.len(), "case")));
    let json = json!({"name": loaded.name, "digest": loaded.digest, "cases": tried, "wrong": wrong});
    Ok(Answer::new(text, json).prose().exiting(if wrong == 0 { exit::OK } else { exit::RUN_FAILED }))
}

fn try_one(
    loaded: &Loaded,
    rule: Option<RuleId>,
    number: usize,
    call: RuleExample,
    by: Option<Vec<RuleId>>,
) -> Result<Tried, Failure> {
    let decision = loaded.engine.decide_example(&call).map_err(|error| refused(&error))?;
    let found = ExpectedVerdict::from(decision.verdict);
    let holds = found == call.expect && by.is_none_or(|by| by == decision.rules);
    Ok(Tried { rule, number, call, found, by: decision.rules, holds })
}

fn explain(loaded: &Loaded, call: &CallArgs) -> Result<Answer, Failure> {
    let facts: Option<Vec<Fact>> = call.facts.iter().map(|kind| kind.example()).collect();
    let facts =
        facts.ok_or_else(|| Failure::new("POLICY_ENGINE_UNUSABLE", "a kind of fact has no example"))?;
    let (asked, approved) = (call.asked, call.approved);
    let expect = ExpectedVerdict::DenyTerminating;
    let example = RuleExample { tool: call.tool, facts, asked, approved, expect };
    let decision: Decision = loaded.engine.decide_example(&example).map_err(|error| refused(&error))?;
    let verdict = ExpectedVerdict::from(decision.verdict);
    let capability = match decision.verdict {
        Verdict::NeedsApproval(capability) => Some(capability),
        Verdict::Allow | Verdict::Deny(_) => None,
    };
    let told = loaded.engine.explain(&decision);
    let mut text = format!("{}\n", outcome(decision.verdict));
    if told.is_empty() {
        text.push_str("no rule speaks of the call, and what no rule speaks of ends the run\n");
    }
    for rule in &told {
        text.push_str(&format!("  {}\n    {}\n", rule.rule, rule.why));
        if let Some(instead) = &rule.instead {
            text.push_str(&format!("    instead: {instead}\n"));
        }
    }
    let json = json!({
        "bundle": loaded.digest,
        "engine": decision.engine,
        "verdict": verdict,
        "capability": capability,
        "rules": told,
    });
    let exit = if decision.verdict == Verdict::Allow { exit::OK } else { exit::DENIED };
    Ok(Answer::new(text, json).prose().exiting(exit))
}

fn outcome(verdict: Verdict) -> String {
    match ExpectedVerdict::from(verdict) {
        ExpectedVerdict::Allow => "the call may proceed".to_owned(),
        ExpectedVerdict::NeedsApproval => match verdict {
            Verdict::NeedsApproval(capability) => {
                format!("a person must approve {capability} for exactly this call")
            }
            Verdict::Allow | Verdict::Deny(_) => String::new(),
        },
        ExpectedVerdict::DenyCall => "the call is denied, and the run goes on".to_owned(),
        ExpectedVerdict::DenyTerminating => "the call is denied, and the run ends".to_owned(),
    }
}

fn diff(old: &Loaded, new: &Loaded) -> Result<Answer, Failure> {
    let found = differences(old.side(), new.side()).map_err(|error| refused(&error))?;
    let (wider, narrower): (Vec<Difference>, Vec<Difference>) = found.into_iter().partition(|it| it.widens);
    let mut text = String::new();
    for (title, part) in [("lets more through", &wider), ("lets less through", &narrower)] {
        if !part.is_empty() {
            text.push_str(&format!("{} {title}\n", new.name));
        }
        for it in part {
            text.push_str(&format!("  {}\n", shown(&it.call)));
            text.push_str(&format!("    was {} by {}\n", it.was, cited(&it.was_by)));
            text.push_str(&format!("    is  {} by {}\n", it.call.expect, cited(&it.now_by)));
        }
    }
    if wider.is_empty() && narrower.is_empty() {
        text.push_str("both answer every call alike\n");
    }
    let listed = |part: &[Difference]| part.iter().map(in_json).collect::<Vec<Value>>();
    let json = json!({
        "old": {"name": old.name, "digest": old.digest},
        "new": {"name": new.name, "digest": new.digest},
        "widened": listed(&wider),
        "narrowed": listed(&narrower),
    });
    Ok(Answer::new(text, json).prose().exiting(if wider.is_empty() { exit::OK } else { exit::DENIED }))
}

fn in_json(it: &Difference) -> Value {
    json!({"call": it.call, "was": it.was, "wasBy": it.was_by, "now": it.call.expect, "nowBy": it.now_by})
}

/// A call in one line.
fn shown(call: &RuleExample) -> String {
    let mut text = call.tool.to_string();
    if !call.facts.is_empty() {
        let kinds: Vec<String> = call.facts.iter().map(|fact| fact.kind().to_string()).collect();
        text.push_str(&format!(" with {}", kinds.join(", ")));
    }
    if let Some(asked) = call.asked {
        text.push_str(&format!(" for {asked}"));
    }
    if let Some(approved) = call.approved {
        text.push_str(&format!(", {approved} approved"));
    }
    text
}

fn cited(rules: &[RuleId]) -> String {
    if rules.is_empty() {
        return "no rule".to_owned();
    }
    rules.iter().map(RuleId::as_str).collect::<Vec<_>>().join(", ")
}
