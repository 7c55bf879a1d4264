use ambit_ids::RuleId;
use ambit_policy::{Answer, Capability, DenialKind, ToolName};

use super::{
    EgressPolicy, PolicyBundle, PolicyRules, RetentionPolicy, RuleCondition, RuleEffect, RuleExample,
    RuleException, SecretPolicy, ToolRule, read_facts,
};
use crate::cursor::{Cursor, Distinct, Fields, Read};
use crate::envelope::{DocumentKind, Metadata, read_envelope};
use crate::problem::{Finding, ProblemCode};
use crate::word::Word;

const MAX_RULES: usize = 256;
const MAX_EXAMPLES: usize = 32;
const MAX_WORDS: usize = 32;
const MAX_KEEP_DAYS: u32 = 36_500;

impl PolicyBundle {
    pub(crate) fn read(cursor: &Cursor<'_>) -> Read<Self> {
        let (metadata, spec) = read_envelope(cursor, DocumentKind::PolicyBundle, Metadata::read, read_spec)?;
        Ok(Self { metadata, spec })
    }
}

fn read_spec(cursor: &Cursor<'_>) -> Read<PolicyRules> {
    cursor.one_of(&[
        ("toolRules", &read_tool_rules),
        ("egress", &read_egress),
        ("secrets", &read_secrets),
        ("retention", &read_retention),
    ])
}

fn read_tool_rules(cursor: &Cursor<'_>) -> Read<PolicyRules> {
    let mut ids = Distinct::new();
    cursor.each(1..=MAX_RULES, |rule| read_rule(rule, &mut ids)).map(PolicyRules::ToolRules)
}

fn read_egress(cursor: &Cursor<'_>) -> Read<PolicyRules> {
    let mut fields = cursor.fields()?;
    let default = fields.required("default").and_then(|c| c.word());
    fields.finish()?;
    Ok(PolicyRules::Egress(EgressPolicy { default: default? }))
}

fn read_secrets(cursor: &Cursor<'_>) -> Read<PolicyRules> {
    let mut fields = cursor.fields()?;
    let binding = fields.required("binding").and_then(|c| c.word());
    fields.finish()?;
    Ok(PolicyRules::Secrets(SecretPolicy { binding: binding? }))
}

fn read_retention(cursor: &Cursor<'_>) -> Read<PolicyRules> {
    let mut fields = cursor.fields()?;
    let keep_days = fields.required("keepDays").and_then(|c| c.count(1..=MAX_KEEP_DAYS));
    let erase_by = fields.required("eraseBy").and_then(|c| c.word());
    fields.finish()?;
    Ok(PolicyRules::Retention(RetentionPolicy { keep_days: keep_days?, erase_by: erase_by? }))
}

fn read_rule(cursor: &Cursor<'_>, ids: &mut Distinct<RuleId>) -> Read<ToolRule> {
    let mut fields = cursor.fields()?;
    let id = fields.required("id").and_then(|c| ids.read(&c));
    let answer = read_answer(&mut fields);
    let tools = fields.required("tools").and_then(|c| read_words::<ToolName>(&c));
    let condition =
        fields.required("when").and_then(|c| read_condition(&c, tools.as_deref().unwrap_or_default()));
    let unless = fields.optional("unless").map(|c| read_exception(&c)).transpose();
    let satisfiable = match (&answer, &unless) {
        (Ok(Answer::RequireApproval(needed)), Ok(unless)) => {
            check_satisfiable(cursor, *needed, unless.as_ref())
        }
        _ => Ok(()),
    };
    let why = fields.required("why").and_then(|c| c.prose(1..=500));
    let instead = fields.optional("instead").map(|c| c.prose(1..=500)).transpose();
    let examples = fields.required("examples").and_then(|list| {
        list.each(1..=MAX_EXAMPLES, |item| read_example(item, tools.as_deref().unwrap_or_default()))
    });
    fields.finish()?;
    satisfiable?;
    Ok(ToolRule {
        id: id?,
        answer: answer?,
        tools: tools?,
        when: condition?,
        unless: unless?,
        why: why?,
        instead: instead?,
        examples: examples?,
    })
}

fn read_words<W: Word + Ord>(cursor: &Cursor<'_>) -> Read<Vec<W>> {
    cursor.each_distinct(1..=MAX_WORDS, Cursor::word)
}

/// A forbid says what kind of denial it is, a required approval says of what, and neither says the other's.
fn read_answer(fields: &mut Fields<'_>) -> Read<Answer> {
    let (denial, capability) = (fields.optional("denial"), fields.optional("capability"));
    let effect = fields.required("effect").and_then(|c| c.word());
    match effect? {
        RuleEffect::Permit => {
            refuse_beside(RuleEffect::Permit, denial)?;
            refuse_beside(RuleEffect::Permit, capability)?;
            Ok(Answer::Permit)
        }
        RuleEffect::Forbid => {
            refuse_beside(RuleEffect::Forbid, capability)?;
            let denial: DenialKind = fields.required("denial").and_then(|c| c.word())?;
            Ok(Answer::Forbid(denial))
        }
        RuleEffect::RequireApproval => {
            refuse_beside(RuleEffect::RequireApproval, denial)?;
            let capability: Capability = fields.required("capability").and_then(|c| c.word())?;
            Ok(Answer::RequireApproval(capability))
        }
    }
}

fn refuse_beside(effect: RuleEffect, field: Option<Cursor<'_>>) -> Read<()> {
    match field {
        None => Ok(()),
        Some(field) => {
            let message = format!("{} has no meaning beside the effect `{effect}`", field.name());
            Err(field.refuse_key(Finding::new(ProblemCode::Contradiction, message, "remove it")))
        }
    }
}

fn read_condition(cursor: &Cursor<'_>, tools: &[ToolName]) -> Read<RuleCondition> {
    cursor.one_of(&[
        ("anyFact", &|c| read_words(c).map(RuleCondition::AnyFact)),
        ("asked", &|c| read_asked(c, tools)),
        ("always", &|c| c.affirmed().map(|()| RuleCondition::Always)),
    ])
}

fn read_asked(cursor: &Cursor<'_>, tools: &[ToolName]) -> Read<RuleCondition> {
    if tools.iter().all(|tool| *tool == ToolName::RequestScopedApproval) {
        return read_words(cursor).map(RuleCondition::Asked);
    }
    let message = "a rule about what is asked for applies to `request_scoped_approval` alone";
    let finding = Finding::new(ProblemCode::Contradiction, message, "no other tool asks for a capability");
    Err(cursor.refuse_key(finding))
}

fn read_exception(cursor: &Cursor<'_>) -> Read<RuleException> {
    let mut fields = cursor.fields()?;
    let approved = fields.required("approved").and_then(|c| c.word());
    fields.finish()?;
    Ok(RuleException { approved: approved? })
}

/// A rule that goes on asking after the approval was given is a denial that looks like a question.
fn check_satisfiable(cursor: &Cursor<'_>, needed: Capability, unless: Option<&RuleException>) -> Read<()> {
    if unless.is_some_and(|exception| exception.approved == needed) {
        return Ok(());
    }
    let message =
        format!("{} would still require the approval of `{needed}` after it was given", cursor.name());
    let label = format!("add `unless: {{approved: {needed}}}`");
    Err(cursor.refuse(Finding::new(ProblemCode::Contradiction, message, label)))
}

fn read_example(cursor: &Cursor<'_>, tools: &[ToolName]) -> Read<RuleExample> {
    let mut fields = cursor.fields()?;
    let tool = fields.required("tool").and_then(|c| {
        let tool = c.word()?;
        if tools.is_empty() || tools.contains(&tool) {
            return Ok(tool);
        }
        let message = format!("the rule does not apply to `{tool}`");
        Err(c.refuse(Finding::new(ProblemCode::UnknownReference, message, "name one of the rule's `tools`")))
    });
    let facts = fields.required("facts").and_then(|c| read_facts(&c));
    let asked = fields.optional("asked");
    let consistent = tool.and_then(|tool| check_asked(cursor, tool, asked.as_ref()));
    let asked = asked.map(|c| c.word()).transpose();
    let approved = fields.optional("approved").map(|c| c.word()).transpose();
    let expect = fields.required("expect").and_then(|c| c.word());
    fields.finish()?;
    consistent?;
    Ok(RuleExample { tool: tool?, facts: facts?, asked: asked?, approved: approved?, expect: expect? })
}

fn check_asked(cursor: &Cursor<'_>, tool: ToolName, asked: Option<&Cursor<'_>>) -> Read<()> {
    match (tool, asked) {
        (ToolName::RequestScopedApproval, None) => {
            let message = format!("{} does not say which capability the call asks for", cursor.name());
            Err(cursor.refuse(Finding::new(ProblemCode::MissingField, message, "`asked` must stand here")))
        }
        (ToolName::RequestScopedApproval, Some(_)) | (_, None) => Ok(()),
        (_, Some(asked)) => {
            let message = format!("a call of `{tool}` asks for no capability");
            Err(asked.refuse_key(Finding::new(ProblemCode::Contradiction, message, "remove it")))
        }
    }
}
