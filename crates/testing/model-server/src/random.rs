//! Answers that nobody wrote: what they say, call and cost follows from a seed and the number of the request.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chance::Chance;
use crate::fault::Fault;
use crate::sample;
use crate::script::{Stop, Turn, UsageGiven};
use crate::wire::{Asked, MayCall};

/// How answers are made up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RandomPlan {
    /// Where all chance comes from.
    pub seed: u64,
    /// Of a hundred answers that may call a tool, how many do.
    pub call_percent: u8,
    /// Of a hundred answers, how many begin with thoughts.
    pub thinking_percent: u8,
    /// The conversation ends, with words alone, once a request repeats so many answers.
    pub most_answers: usize,
    /// The most output tokens of one answer; never more than the request allows.
    pub most_output_tokens: u64,
    /// Of a hundred answers, how many go wrong in one of the ways in `faults`.
    pub fault_percent: u8,
    /// The ways to go wrong.
    pub faults: Vec<Fault>,
}

impl Default for RandomPlan {
    fn default() -> Self {
        Self {
            seed: 0,
            call_percent: 70,
            thinking_percent: 30,
            most_answers: 6,
            most_output_tokens: 4096,
            fault_percent: 0,
            faults: Vec::new(),
        }
    }
}

impl RandomPlan {
    /// A plan with this seed, without faults.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }
}

pub(crate) fn turn(
    plan: &RandomPlan,
    number: u64,
    asked: &Asked,
    body_bytes: usize,
) -> (Turn, Option<Fault>) {
    let mut chance = Chance::of(plan.seed, number);
    let mut turn = Turn::default();
    if chance.percent(plan.thinking_percent) {
        turn.thinking = Some(chance.words(12));
    }
    if let Some((name, arguments)) = call(plan, &mut chance, asked) {
        turn = turn.and_call(&name, arguments);
    }
    if turn.calls.is_empty() || chance.percent(50) {
        turn.text = Some(chance.words(20));
    }
    let most = asked.max_output_tokens.unwrap_or(u64::MAX).min(plan.most_output_tokens);
    turn.usage = usage(&mut chance, body_bytes, most);
    if turn.usage.output == Some(most) && turn.calls.is_empty() {
        turn.stop = Some(Stop::Length);
    }
    let fault = (!plan.faults.is_empty() && chance.percent(plan.fault_percent))
        .then(|| plan.faults[chance.index(plan.faults.len())].clone());
    (turn, fault)
}

fn call(plan: &RandomPlan, chance: &mut Chance, asked: &Asked) -> Option<(String, Value)> {
    let calls = match asked.may_call {
        MayCall::None => false,
        MayCall::Any => asked.answers < plan.most_answers && chance.percent(plan.call_percent),
        MayCall::Must | MayCall::Named(_) => true,
    };
    if !calls || asked.tools.is_empty() {
        return None;
    }
    let tool = match &asked.may_call {
        MayCall::Named(name) => asked.tools.iter().find(|tool| tool.name == *name)?,
        _ => &asked.tools[chance.index(asked.tools.len())],
    };
    Some((tool.name.clone(), sample::arguments(&tool.schema, chance)))
}

/// Never more input than bytes came, since a token is a byte at the least, and never more output than is allowed.
fn usage(chance: &mut Chance, body_bytes: usize, most_output: u64) -> UsageGiven {
    let bytes = u64::try_from(body_bytes).unwrap_or(u64::MAX);
    let whole = 1 + chance.up_to(bytes.saturating_sub(1));
    let cache_read = if chance.percent(50) { chance.up_to(whole) } else { 0 };
    let cache_write = if chance.percent(30) { chance.up_to(whole - cache_read) } else { 0 };
    let output = match chance.up_to(9) {
        0 => most_output,
        1 => 1,
        _ => 1 + chance.up_to(most_output.saturating_sub(1)),
    };
    UsageGiven {
        input: Some(whole - cache_read - cache_write),
        cache_read: Some(cache_read),
        cache_write: Some(cache_write),
        output: Some(output),
        reasoning: Some(if chance.percent(40) { chance.up_to(output) } else { 0 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::DeclaredTool;
    use serde_json::json;

    #[test]
    fn the_same_seed_makes_the_same_answers_within_what_was_asked() {
        let schema =
            json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
        let tools = vec![DeclaredTool { name: "read".to_owned(), schema }];
        let asked = Asked { tools, max_output_tokens: Some(50), ..Asked::default() };
        let plan = RandomPlan::of(7);
        let (mut calls, mut full) = (0, 0);
        for number in 0..500 {
            let (made, fault) = turn(&plan, number, &asked, 100);
            assert_eq!(made, turn(&plan, number, &asked, 100).0);
            assert_eq!(fault, None);
            let usage = made.usage;
            assert!(usage.output.unwrap() >= 1 && usage.output.unwrap() <= 50);
            assert!(usage.reasoning <= usage.output);
            let input = usage.input.unwrap() + usage.cache_read.unwrap() + usage.cache_write.unwrap();
            assert!((1..=100).contains(&input));
            full += usize::from(usage.output == Some(50));
            calls += made.calls.len();
            assert!(made.calls.iter().all(|call| call.name == "read" && call.arguments["path"].is_string()));
        }
        assert!((250..450).contains(&calls), "{calls}");
        assert!(full > 10, "{full}");
        assert_ne!(turn(&plan, 1, &asked, 100), turn(&RandomPlan::of(8), 1, &asked, 100));
    }

    #[test]
    fn what_the_request_says_of_calls_is_kept() {
        let tool = |name: &str| DeclaredTool { name: name.to_owned(), schema: json!({"type": "object"}) };
        let mut asked = Asked { tools: vec![tool("a"), tool("b")], ..Asked::default() };
        let plan = RandomPlan { most_answers: 0, ..RandomPlan::of(1) };
        for number in 0..50 {
            let mut calls = |may_call| {
                asked.may_call = may_call;
                turn(&plan, number, &asked, 100).0.calls
            };
            assert!(calls(MayCall::None).is_empty());
            assert!(calls(MayCall::Any).is_empty());
            assert_eq!(calls(MayCall::Must).len(), 1);
            assert_eq!(calls(MayCall::Named("b".to_owned()))[0].name, "b");
        }
    }
}
