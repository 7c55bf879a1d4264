use ambit_ids::{CaseId, ProbeId, vocabulary};
use ambit_policy::{Capability, Fact, ToolName};
use serde::Serialize;

use crate::bundle::read_facts;
use crate::cursor::{Cursor, Distinct, Read};
use crate::one_word_name::{Archetype, WorkArea};

/// A proposal of another kind of application, and what the contract must answer to it. It is a test of shapes and of
/// policy: nothing is executed for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArchetypeProbe {
    /// Its name within the blueprint.
    pub id: ProbeId,
    /// The kind of application that it stands for.
    pub archetype: Archetype,
    /// What is proposed.
    pub case: ProbeCase,
    /// What the answer must be.
    pub expect: ExpectedOutcome,
}

/// What a probe proposes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProbeCase {
    /// A step of a plan.
    PlanStep {
        /// The kind of work that it declares.
        work: WorkArea,
        /// The acceptance cases that it cites, known or not.
        cases: Vec<CaseId>,
    },
    /// A call.
    ToolCall {
        /// The tool.
        tool: ToolName,
        /// What is true of the call.
        facts: Vec<Fact>,
    },
    /// A request for a capability.
    Capability(Capability),
}

vocabulary!(
    /// What the answer to a probe must be.
    ExpectedOutcome {
        /// It may proceed.
        Allowed = "allowed",
        /// It may proceed once a person has approved exactly it.
        NeedsApproval = "needs-approval",
        /// It may not, in either way of denying.
        Denied = "denied",
    }
);

pub(super) fn read_probe(cursor: &Cursor<'_>, ids: &mut Distinct<ProbeId>) -> Read<ArchetypeProbe> {
    let mut fields = cursor.fields()?;
    let id = fields.required("id").and_then(|c| ids.read(&c));
    let archetype = fields.required("archetype").and_then(|c| c.parsed());
    let case = fields.required("case").and_then(|c| read_case(&c));
    let expect = fields.required("expect").and_then(|c| c.word());
    fields.finish()?;
    Ok(ArchetypeProbe { id: id?, archetype: archetype?, case: case?, expect: expect? })
}

fn read_case(cursor: &Cursor<'_>) -> Read<ProbeCase> {
    cursor.one_of(&[
        ("planStep", &read_plan_step),
        ("toolCall", &read_tool_call),
        ("capability", &|c| c.word().map(ProbeCase::Capability)),
    ])
}

fn read_plan_step(cursor: &Cursor<'_>) -> Read<ProbeCase> {
    let mut fields = cursor.fields()?;
    let work = fields.required("work").and_then(|c| c.parsed());
    let cases = fields.required("cases").and_then(|c| c.each_distinct(0..=32, Cursor::parsed));
    fields.finish()?;
    Ok(ProbeCase::PlanStep { work: work?, cases: cases? })
}

fn read_tool_call(cursor: &Cursor<'_>) -> Read<ProbeCase> {
    let mut fields = cursor.fields()?;
    let tool = fields.required("tool").and_then(|c| c.word());
    let facts = fields.required("facts").and_then(|c| read_facts(&c));
    fields.finish()?;
    Ok(ProbeCase::ToolCall { tool: tool?, facts: facts? })
}
