use linux_raw_sys::{errno, general as nr};

use super::compile::{Instruction, program};
use super::policy::{HIGHEST, Rule, Sharing, rule};

const PASS: u32 = 0x7fff_0000;
const ASK: u32 = 0x7fc0_0000;
const KILL: u32 = 0x8000_0000;
const X86_64: u32 = 0xc000_003e;

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

/// What the policy says, without the compiler.
fn expected(rule: &Rule, arguments: [u64; 6]) -> u32 {
    match rule {
        Rule::Allow => PASS,
        Rule::Ask => ASK,
        Rule::Refuse(errno) => 0x0005_0000 | errno,
        Rule::Where(condition) => {
            let low = u32::try_from(arguments[condition.argument as usize] & 0xffff_ffff).unwrap();
            let told = condition.values.contains(&(low & condition.mask));
            expected(if told { &condition.then } else { &condition.otherwise }, arguments)
        }
    }
}

fn samples() -> Vec<[u64; 6]> {
    let values =
        [0, 1, 2, 3, 6, 8, 10, 16, 17, 0x5412, 0x2000, 0x1000, 0x6000, 0x1000_0000, 1 << 32, u64::MAX];
    let mut samples = Vec::new();
    for first in values {
        for second in values {
            for third in values {
                samples.push([first, second, third, 0, 0, 0]);
            }
        }
    }
    samples
}

// proves E-J13
// break crates/adapters/sandbox-linux/src/filter/compile.rs: `program.extend_from_slice(no);` -> `program.extend_from_slice(yes);`
#[test]
fn the_program_answers_every_call_as_the_policy_says() {
    let samples = samples();
    for sharing in BOTH {
        let program = program(sharing);
        for number in (0..=HIGHEST + 40).chain([1000, 0x3fff_ffff]) {
            for arguments in &samples {
                let (answer, _) = run(&program, X86_64, number, *arguments);
                let rule = rule(number, sharing);
                assert_eq!(answer, expected(rule, *arguments), "call {number} with {arguments:?}");
            }
        }
    }
}

#[test]
fn calls_of_other_processor_families_kill_the_process() {
    let program = program(Sharing::Free);
    for (family, number) in
        [(0x4000_0003, nr::__NR_read), (X86_64, 0x4000_0000), (X86_64, 0x4000_0000 | 56), (0, 0)]
    {
        assert_eq!(run(&program, family, number, [0; 6]).0, KILL, "{family:#x} {number:#x}");
    }
    assert_eq!(run(&program, X86_64, nr::__NR_read, [0; 6]).0, PASS);
}

#[test]
fn what_reaches_the_kernel_deepest_is_refused() {
    let of = |number| [rule(number, Sharing::Free), rule(number, Sharing::Counted)];
    for number in [
        nr::__NR_mount,
        nr::__NR_umount2,
        nr::__NR_fsopen,
        nr::__NR_move_mount,
        nr::__NR_open_tree,
        nr::__NR_mount_setattr,
        nr::__NR_pivot_root,
        nr::__NR_chroot,
        nr::__NR_bpf,
        nr::__NR_io_uring_setup,
        nr::__NR_keyctl,
        nr::__NR_add_key,
        nr::__NR_request_key,
        nr::__NR_ptrace,
        nr::__NR_process_vm_readv,
        nr::__NR_process_vm_writev,
        nr::__NR_perf_event_open,
        nr::__NR_userfaultfd,
        nr::__NR_setns,
        nr::__NR_kexec_load,
        nr::__NR_init_module,
        nr::__NR_finit_module,
        nr::__NR_swapon,
        nr::__NR_reboot,
        nr::__NR_settimeofday,
        nr::__NR_clock_settime,
        nr::__NR_quotactl,
        nr::__NR_pidfd_getfd,
        nr::__NR_open_by_handle_at,
        nr::__NR_fanotify_init,
        nr::__NR_memfd_secret,
        nr::__NR_syslog,
    ] {
        assert_eq!(of(number), [&Rule::Refuse(errno::EPERM); 2], "{number}");
    }
    for number in [nr::__NR_clone3, HIGHEST + 1, 400] {
        assert_eq!(of(number), [&Rule::Refuse(errno::ENOSYS); 2], "{number}");
    }
    for number in [nr::__NR_read, nr::__NR_execve, nr::__NR_futex, nr::__NR_openat2, nr::__NR_mq_open] {
        assert_eq!(of(number), [&Rule::Allow; 2], "{number}");
    }
}

#[test]
fn loading_stays_cheap() {
    for sharing in BOTH {
        let program = program(sharing);
        let longest = (0..=HIGHEST).map(|number| run(&program, X86_64, number, [0; 6]).1).max().unwrap();
        assert!(program.len() < 400, "{} instructions", program.len());
        assert!(longest <= 20, "{longest} steps for one call");
    }
}
