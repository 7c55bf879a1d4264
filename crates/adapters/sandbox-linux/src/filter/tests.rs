use std::collections::BTreeSet;

use ambit_system_calls::samples::partition;
use ambit_system_calls::{HIGHEST, Rule, Sharing, rule};
use linux_raw_sys::general as nr;

use super::compile::{Instruction, X32, program};

mod kernel;

const PASS: u32 = 0x7fff_0000;
const ASK: u32 = 0x7fc0_0000;
const KILL: u32 = 0x8000_0000;
const X86_64: u32 = 0xc000_003e;

/// What may pass: see what the counts are before any of these is raised.
const MOST_INSTRUCTIONS: usize = 420;
const MOST_FOR_ONE: usize = 22;
const MOST_FOR_COMMON: usize = 19;
const MOST_TO_LOAD: usize = 5900;

const BOTH: [Sharing; 2] = [Sharing::Free, Sharing::Counted];

/// A machine for the part of classic BPF that the compiler writes.
fn run(program: &[Instruction], family: u32, number: u32, arguments: [u64; 6]) -> (u32, usize) {
    let mut data = Vec::new();
    data.extend(number.to_le_bytes());
    data.extend(family.to_le_bytes());
    data.extend([0; 8]);
    arguments.iter().for_each(|argument| data.extend(argument.to_le_bytes()));
    let (mut at, mut value, mut steps) = (0, 0_u32, 0);
    loop {
        let instruction = program[at];
        steps += 1;
        at += 1;
        let jump = |taken| usize::from(if taken { instruction.if_true } else { instruction.if_false });
        match instruction.code {
            0x20 => {
                let offset = instruction.value as usize;
                value = u32::from_le_bytes(data[offset..offset + 4].try_into().unwrap());
            }
            0x54 => value &= instruction.value,
            0x05 => at += instruction.value as usize,
            0x15 => at += jump(value == instruction.value),
            0x35 => at += jump(value >= instruction.value),
            0x06 => return (instruction.value, steps),
            other => panic!("the compiler does not write {other:#x}"),
        }
    }
}

/// What the policy says, in the kernel's numbers.
fn expected(rule: &Rule, arguments: [u64; 6]) -> u32 {
    match rule.answer(arguments) {
        Rule::Allow => PASS,
        Rule::Ask | Rule::Report => ASK,
        Rule::Refuse(errno) => 0x0005_0000 | errno,
        Rule::Where(_) => panic!("an answer is no question"),
    }
}

/// The numbers 0 to 600, and of all others one of every range that the program can tell apart: it compares numbers with
/// constants and nothing else.
fn numbers(program: &[Instruction]) -> BTreeSet<u32> {
    let constants = program.iter().map(|instruction| instruction.value);
    let around = constants.flat_map(|value| [value.wrapping_sub(1), value, value.wrapping_add(1)]);
    (0..=600).chain(around).chain([u32::MAX]).collect()
}

// proves E-J13
// break crates/adapters/sandbox-linux/src/filter/compile.rs: `program.extend_from_slice(no);` -> `program.extend_from_slice(yes);`
#[test]
fn the_program_answers_every_call_as_the_tables_say() {
    for sharing in BOTH {
        let program = program(sharing);
        let mut looked_at = 0;
        for number in numbers(&program) {
            let rule = rule(number, sharing);
            for arguments in partition(rule) {
                let (answer, _) = run(&program, X86_64, number, arguments);
                let expected = if number < X32 { expected(rule, arguments) } else { KILL };
                assert_eq!(answer, expected, "call {number} with {arguments:x?}");
                looked_at += 1;
            }
        }
        assert!(looked_at > 10_000, "{looked_at}");
    }
}

#[test]
fn calls_of_other_processor_families_kill_the_process() {
    const I386: u32 = 0x4000_0003;
    for sharing in BOTH {
        let program = program(sharing);
        let constants = program.iter().map(|instruction| instruction.value);
        // ARM of 64 bits and of 32, and every family that the program could take for another.
        let families: BTreeSet<u32> = constants
            .flat_map(|value| [value.wrapping_sub(1), value, value.wrapping_add(1)])
            .chain([I386, 0xc000_00b7, 0x4000_0028, 0, u32::MAX])
            .filter(|family| *family != X86_64)
            .collect();
        for family in families {
            for number in 0..=600 {
                assert_eq!(run(&program, family, number, [0; 6]).0, KILL, "{family:#x} {number}");
            }
        }
        for number in 0..=600 {
            assert_eq!(run(&program, X86_64, X32 | number, [0; 6]).0, KILL, "{number}");
        }
        assert_eq!(run(&program, X86_64, nr::__NR_read, [0; 6]).0, PASS);
    }
}

/// The kernel walks the program once for every number when it is loaded, and once more for a call whose answer depends on
/// its arguments.
#[test]
fn a_call_passes_few_instructions() {
    const COMMON: [u32; 12] = [
        nr::__NR_read,
        nr::__NR_write,
        nr::__NR_openat,
        nr::__NR_close,
        nr::__NR_newfstatat,
        nr::__NR_mmap,
        nr::__NR_munmap,
        nr::__NR_futex,
        nr::__NR_clone,
        nr::__NR_execve,
        nr::__NR_ioctl,
        nr::__NR_socket,
    ];
    for sharing in BOTH {
        let program = program(sharing);
        let passed = |number| run(&program, X86_64, number, [1; 6]).1;
        let longest = (0..=HIGHEST).map(passed).max().unwrap();
        let common = COMMON.map(passed);
        let in_all: usize = (0..=HIGHEST).map(passed).sum();
        println!("{sharing:?}: {} instructions, {in_all} to load, {common:?}", program.len());
        assert!(program.len() <= MOST_INSTRUCTIONS, "{} instructions", program.len());
        assert!(longest <= MOST_FOR_ONE, "{longest} for one call");
        assert!(common.iter().all(|passed| *passed <= MOST_FOR_COMMON), "{common:?}");
        assert!(in_all <= MOST_TO_LOAD, "{in_all} to load");
    }
}
