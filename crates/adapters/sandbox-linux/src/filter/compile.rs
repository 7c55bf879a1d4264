use ambit_system_calls::{Condition, HIGHEST, Rule, Sharing, rule};

/// Where the kernel puts what the filter looks at: the number, the processor family, and the low half of an argument.
const NUMBER_AT: u32 = 0;
const FAMILY_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;

const FAMILY_X86_64: u32 = 0xc000_003e;
/// Set in the numbers of the x32 variant, whose calls this policy does not know.
pub(super) const X32: u32 = 0x4000_0000;

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const ANSWER: u16 = 0x06;

const KILL_PROCESS: u32 = 0x8000_0000;
const FAIL: u32 = 0x0005_0000;
const ASK: u32 = 0x7fc0_0000;
const PASS: u32 = 0x7fff_0000;

/// One instruction of classic BPF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instruction {
    pub(super) code: u16,
    pub(super) if_true: u8,
    pub(super) if_false: u8,
    pub(super) value: u32,
}

impl Instruction {
    const fn plain(code: u16, value: u32) -> Self {
        Self { code, if_true: 0, if_false: 0, value }
    }

    pub(super) fn to_bytes(self) -> [u8; 8] {
        let [code_low, code_high] = self.code.to_le_bytes();
        let [a, b, c, d] = self.value.to_le_bytes();
        [code_low, code_high, self.if_true, self.if_false, a, b, c, d]
    }
}

/// A run of call numbers with one rule, from its first number on.
struct Range {
    first: u32,
    rule: &'static Rule,
}

pub(super) fn program(sharing: Sharing) -> Vec<Instruction> {
    let mut program = vec![
        Instruction::plain(LOAD, FAMILY_AT),
        Instruction { code: IF_EQUAL, if_true: 1, if_false: 0, value: FAMILY_X86_64 },
        Instruction::plain(ANSWER, KILL_PROCESS),
        Instruction::plain(LOAD, NUMBER_AT),
        Instruction { code: IF_AT_LEAST, if_true: 0, if_false: 1, value: X32 },
        Instruction::plain(ANSWER, KILL_PROCESS),
    ];
    program.extend(tree(&ranges(sharing)));
    program
}

fn ranges(sharing: Sharing) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    for number in 0..=HIGHEST + 1 {
        let rule = rule(number, sharing);
        if ranges.last().is_none_or(|last| last.rule != rule) {
            ranges.push(Range { first: number, rule });
        }
    }
    ranges
}

/// The search for the range of the number. The lower half follows its question, the upper half lies behind it.
fn tree(ranges: &[Range]) -> Vec<Instruction> {
    match ranges {
        [] => Vec::new(),
        [range] => answer(range.rule),
        _ => {
            let (lower, upper) = ranges.split_at(ranges.len() / 2);
            branch(IF_AT_LEAST, upper[0].first, &tree(upper), &tree(lower))
        }
    }
}

fn answer(rule: &Rule) -> Vec<Instruction> {
    match rule {
        Rule::Allow => vec![Instruction::plain(ANSWER, PASS)],
        Rule::Ask | Rule::Report => vec![Instruction::plain(ANSWER, ASK)],
        Rule::Refuse(errno) => vec![Instruction::plain(ANSWER, FAIL | errno)],
        Rule::Where(condition) => question(condition),
    }
}

fn question(condition: &Condition) -> Vec<Instruction> {
    let mut program = vec![Instruction::plain(LOAD, ARGUMENTS_AT + 8 * condition.argument)];
    if condition.mask != u32::MAX {
        program.push(Instruction::plain(AND, condition.mask));
    }
    let then = answer(&condition.then);
    let otherwise = answer(&condition.otherwise);
    let decided = condition
        .values
        .iter()
        .rfold(otherwise, |otherwise, value| branch(IF_EQUAL, *value, &then, &otherwise));
    program.extend(decided);
    program
}

/// A conditional jump over `no` to `yes`. Its distance is one byte, so a longer way takes a plain jump.
fn branch(code: u16, value: u32, yes: &[Instruction], no: &[Instruction]) -> Vec<Instruction> {
    let mut program = match u8::try_from(no.len()) {
        Ok(distance) => vec![Instruction { code, if_true: distance, if_false: 0, value }],
        Err(_) => vec![
            Instruction { code, if_true: 0, if_false: 1, value },
            Instruction::plain(JUMP, u32::try_from(no.len()).unwrap_or(u32::MAX)),
        ],
    };
    program.extend_from_slice(no);
    program.extend_from_slice(yes);
    program
}
