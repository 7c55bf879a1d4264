//! The system-call filter, in the words of the OCI runtime specification.
//!
//! The kernel looks at 32 bits of most arguments, a filter sees 64: every comparison here is of the low 32 under a mask, so
//! that no value means one thing to the filter and another to the kernel. The specification has no "all but these values"
//! under a mask; [`except`] says it as the set of masks that cover all others.
//!
//! What is allowed is the policy of `ambit-system-calls`: every way through its tables that ends with a call being made
//! becomes one rule.

use ambit_system_calls::{ALLOWED, CONDITIONAL, Call, HIDDEN_ARGUMENTS, Rule as Policy};
use serde::Serialize;

use crate::runtime::Kind;

const EPERM: u32 = 1;
const ENOSYS: u32 = 38;
const ALL_BITS: u32 = u32::MAX;
/// Calls by which the kernel holds memory that is no process's own: absent where no control group counts it.
const UNCOUNTED: [&str; 5] = ["memfd_create", "vmsplice", "shmget", "msgget", "semget"];

/// `MAP_SHARED`, a bit of `MAP_SHARED_VALIDATE` as well; `MAP_ANONYMOUS`; `MAP_HUGETLB`.
const SHARED: u32 = 0x1;
const ANONYMOUS: u32 = 0x20;
const HUGE: u32 = 0x4_0000;
/// Mappings whose pages stay when no process has them any more, and those of pages that are no memory of a process: likewise.
const UNCOUNTED_MAPPINGS: [u32; 5] =
    [SHARED | ANONYMOUS, HUGE, HUGE | SHARED, HUGE | ANONYMOUS, HUGE | SHARED | ANONYMOUS];

/// A filter: what becomes of calls by name and arguments, and of all others.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Filter {
    default_action: Action,
    default_errno_ret: u32,
    architectures: [&'static str; 1],
    syscalls: Vec<Rule>,
}

#[derive(Clone, Copy, Debug, Serialize)]
enum Action {
    #[serde(rename = "SCMP_ACT_ALLOW")]
    Allow,
    #[serde(rename = "SCMP_ACT_ERRNO")]
    Refuse,
    /// Left to a tracer. There is none, and then a call is answered like one that does not exist.
    #[serde(rename = "SCMP_ACT_TRACE")]
    Trace,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    names: Vec<&'static str>,
    action: Action,
    #[serde(skip_serializing_if = "Option::is_none")]
    errno_ret: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    args: Vec<Argument>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Argument {
    index: u32,
    /// The mask.
    value: u64,
    /// The value under the mask.
    value_two: u64,
    op: &'static str,
}

const fn under(index: u32, mask: u32, value: u32) -> Argument {
    Argument { index, value: mask as u64, value_two: value as u64, op: "SCMP_CMP_MASKED_EQ" }
}

/// Masks and values that together cover every value under `seen` but these.
fn except(index: u32, seen: u32, excluded: &[u32]) -> Vec<Argument> {
    /// `bits` are those of `seen` that are not decided yet, the highest last.
    fn cover(bits: &[u32], (mask, prefix): (u32, u32), excluded: &[u32], found: &mut Vec<(u32, u32)>) {
        if !excluded.iter().any(|value| value & mask == prefix) {
            found.push((mask, prefix));
        } else if let Some((bit, rest)) = bits.split_last() {
            cover(rest, (mask | bit, prefix), excluded, found);
            cover(rest, (mask | bit, prefix | bit), excluded, found);
        }
    }
    let bits: Vec<u32> = (0..u32::BITS).map(|bit| 1 << bit).filter(|bit| seen & bit != 0).collect();
    let mut found = Vec::new();
    cover(&bits, (0, 0), excluded, &mut found);
    found.into_iter().map(|(mask, value)| under(index, mask, value)).collect()
}

/// What is known of one argument on the way to an answer: under a mask it is this value, or none of these.
#[derive(Clone)]
struct Known {
    argument: u32,
    mask: u32,
    is: Option<u32>,
    is_not: Vec<u32>,
}

impl Known {
    /// What is known once a second question about the same argument was answered; `None` where both cannot be, or the
    /// specification cannot say both: of two comparisons of one argument some runtimes ask only for either.
    fn and(&self, also: &Self) -> Option<Self> {
        if self.mask != also.mask {
            return None;
        }
        let is_not: Vec<u32> = self.is_not.iter().chain(&also.is_not).copied().collect();
        let is = self.is.or(also.is);
        let agrees = |one: Option<u32>| one == is || one.is_none();
        let can_be = is.is_none_or(|value| !is_not.contains(&value));
        (agrees(self.is) && agrees(also.is) && can_be).then_some(Self { is, is_not, ..*self })
    }

    /// The comparisons of which one must hold. A kernel of a runtime's own has room for few rules: where a whole argument
    /// may be all but some values, there it must be 0, which is the process itself.
    fn comparisons(&self, kind: Kind) -> Vec<Argument> {
        match self.is {
            Some(value) => vec![under(self.argument, self.mask, value)],
            None if kind.has_own_kernel() && self.mask == ALL_BITS && !self.is_not.contains(&0) => {
                vec![under(self.argument, self.mask, 0)]
            }
            None => except(self.argument, self.mask, &self.is_not),
        }
    }
}

/// Every way through a policy on which the call is made.
fn ways(policy: &Policy, known: &[Known], found: &mut Vec<Vec<Known>>) {
    let Policy::Where(condition) = policy else {
        if *policy == Policy::Allow {
            found.push(known.to_vec());
        }
        return;
    };
    let told = condition.values.iter().map(|value| (Some(*value), Vec::new(), &condition.then));
    let other = (None, condition.values.to_vec(), &condition.otherwise);
    for (is, is_not, next) in told.chain([other]) {
        let fresh = Known { argument: condition.argument, mask: condition.mask, is, is_not };
        let (same, mut known): (Vec<Known>, Vec<Known>) =
            known.iter().cloned().partition(|earlier| earlier.argument == fresh.argument);
        let Some(both) = same.iter().try_fold(fresh, |fresh, earlier| earlier.and(&fresh)) else { continue };
        known.push(both);
        ways(next, &known, found);
    }
}

/// Each set of arguments for which a call is made.
fn arguments(policy: &Policy, kind: Kind) -> Vec<Vec<Argument>> {
    let mut found = Vec::new();
    ways(policy, &[], &mut found);
    let spell = |way: Vec<Known>| {
        way.iter().fold(vec![Vec::new()], |spelled: Vec<Vec<Argument>>, known| {
            let comparisons = known.comparisons(kind);
            let with = |one: &Vec<Argument>| {
                let one = one.clone();
                comparisons
                    .iter()
                    .map(move |next| one.iter().copied().chain([*next]).collect())
                    .collect::<Vec<_>>()
            };
            spelled.iter().flat_map(with).collect()
        })
    };
    found.into_iter().flat_map(spell).collect()
}

/// Each call that is made for some arguments, with every set of arguments for which it is.
fn conditional(kind: Kind) -> Vec<(&'static str, Vec<Argument>)> {
    // Every one of them goes to the runtime's own kernel, which has no terminals here.
    let is_harmless = |call: &Call| kind.has_own_kernel() && call.name() == "ioctl";
    CONDITIONAL
        .iter()
        .flat_map(|(call, policy)| {
            let sets = if is_harmless(call) { vec![Vec::new()] } else { arguments(policy, kind) };
            sets.into_iter().map(|set| (call.name(), set))
        })
        .collect()
}

impl Filter {
    /// The filter of a container; without root, memory that nobody could count is not to be had.
    pub(crate) fn of_commands(kind: Kind, rootless: bool) -> Self {
        let whole =
            |names: Vec<&'static str>, action, errno_ret| Rule { names, action, errno_ret, args: Vec::new() };
        let uncounted: &[&str] = if rootless { &UNCOUNTED } else { &[] };
        // A kernel of the runtime's own keeps all of it in files that are counted.
        let maps_less = rootless && !kind.has_own_kernel();
        let allowed = ALLOWED.iter().copied().flatten().map(|call| call.name());
        let is_uncounted = |name: &str| uncounted.contains(&name) || maps_less && name == "mmap";
        let allowed = allowed.filter(|name| !is_uncounted(name));
        let allowed = allowed.collect();
        let hidden =
            HIDDEN_ARGUMENTS.iter().map(|call| call.name()).chain(uncounted.iter().copied()).collect();
        // Libraries fall back to an older call where one does not exist, and only there. Runsc refuses with one number alone,
        // which is another.
        let absent = match kind.has_own_kernel() {
            true => whole(hidden, Action::Trace, None),
            false => whole(hidden, Action::Refuse, Some(ENOSYS)),
        };
        let mut syscalls = vec![whole(allowed, Action::Allow, None), absent];
        let mappings =
            if maps_less { except(3, SHARED | ANONYMOUS | HUGE, &UNCOUNTED_MAPPINGS) } else { Vec::new() };
        let mappings = mappings.into_iter().map(|argument| ("mmap", vec![argument]));
        syscalls.extend(conditional(kind).into_iter().chain(mappings).map(|(name, args)| Rule {
            names: vec![name],
            action: Action::Allow,
            errno_ret: None,
            args,
        }));
        Self {
            default_action: Action::Refuse,
            default_errno_ret: EPERM,
            architectures: ["SCMP_ARCH_X86_64"],
            syscalls,
        }
    }
}

#[cfg(test)]
mod tests {
    use ambit_system_calls::samples::partition;

    use super::*;

    fn fits(arguments: &[Argument], value: u32) -> bool {
        arguments.iter().any(|argument| u64::from(value) & argument.value == argument.value_two)
    }

    #[test]
    fn every_value_but_the_excluded_is_covered_once() {
        let excluded = [1, 0x5412, 0x8000_0000];
        let cover = except(0, ALL_BITS, &excluded);
        for value in excluded {
            assert!(!fits(&cover, value), "{value:#x}");
        }
        let near = excluded.iter().flat_map(|value| (0..32).map(move |bit| value ^ 1 << bit));
        for value in near.filter(|value| !excluded.contains(value)).chain([0, ALL_BITS]) {
            let covering =
                cover.iter().filter(|argument| u64::from(value) & argument.value == argument.value_two);
            assert_eq!(covering.count(), 1, "{value:#x}");
        }
        assert_eq!(except(0, ALL_BITS, &[]).len(), 1);
    }

    #[test]
    fn a_call_is_allowed_whole_or_for_some_arguments_and_never_both() {
        let whole: Vec<&str> = ALLOWED.iter().copied().flatten().map(|call| call.name()).collect();
        for (name, _) in conditional(Kind::Crun).into_iter().chain(conditional(Kind::Runsc)) {
            assert!(!whole.contains(&name), "{name} would be allowed whatever its arguments");
        }
        for never in ["mount", "bpf", "ptrace", "io_uring_setup", "keyctl", "setns", "open_by_handle_at"] {
            assert!(!whole.contains(&never), "{never}");
        }
    }

    /// Whether a filter makes a call with these arguments, as the runtimes read one.
    fn makes(filter: &Filter, name: &str, arguments: [u64; 6]) -> bool {
        let holds =
            |argument: &Argument| arguments[argument.index as usize] & argument.value == argument.value_two;
        filter.syscalls.iter().any(|rule| {
            matches!(rule.action, Action::Allow) && rule.names.contains(&name) && rule.args.iter().all(holds)
        })
    }

    // proves E-J13
    // break crates/adapters/sandbox-oci/src/seccomp.rs: `None => except(self.argument, self.mask, &self.is_not),` -> `None => except(self.argument, self.mask, &[]),`
    #[test]
    fn the_profile_makes_exactly_the_calls_that_the_tables_allow() {
        let filter = Filter::of_commands(Kind::Runc, false);
        let mut looked_at = 0;
        for (call, policy) in &CONDITIONAL {
            for arguments in partition(policy) {
                let expected = *policy.answer(arguments) == Policy::Allow;
                assert_eq!(
                    makes(&filter, call.name(), arguments),
                    expected,
                    "{} {arguments:x?}",
                    call.name()
                );
                looked_at += 1;
            }
        }
        assert!(looked_at > 5_000, "{looked_at}");
        for call in ALLOWED.iter().copied().flatten() {
            assert!(makes(&filter, call.name(), [0; 6]), "{}", call.name());
        }
        let known = ALLOWED.iter().copied().flatten().chain(CONDITIONAL.iter().map(|(call, _)| call));
        let known: Vec<&str> = known.map(|call| call.name()).collect();
        let made = filter.syscalls.iter().filter(|rule| matches!(rule.action, Action::Allow));
        assert!(made.flat_map(|rule| &rule.names).all(|name| known.contains(name)));
    }

    #[test]
    fn without_root_no_memory_is_mapped_that_outlives_its_pages() {
        let maps = |kind, rootless, flags: u32| {
            makes(&Filter::of_commands(kind, rootless), "mmap", [0, 0, 3, u64::from(flags), 0, 0])
        };
        let (private, validated) = (0x2, 0x3);
        for kind in [Kind::Crun, Kind::Runc] {
            for flags in [private | ANONYMOUS, private, SHARED, validated] {
                assert!(maps(kind, true, flags) && maps(kind, false, flags), "{flags:#x}");
            }
            for flags in
                [SHARED | ANONYMOUS, validated | ANONYMOUS, private | ANONYMOUS | HUGE, SHARED | HUGE]
            {
                assert!(!maps(kind, true, flags) && maps(kind, false, flags), "{flags:#x}");
            }
        }
        assert!(maps(Kind::Runsc, true, SHARED | ANONYMOUS));
    }

    #[test]
    fn the_profile_for_a_kernel_of_a_runtimes_own_is_narrower_but_for_terminals() {
        let filter = Filter::of_commands(Kind::Runsc, false);
        for (call, policy) in CONDITIONAL.iter().filter(|(call, _)| call.name() != "ioctl") {
            for arguments in partition(policy) {
                if makes(&filter, call.name(), arguments) {
                    assert_eq!(policy.answer(arguments), &Policy::Allow, "{} {arguments:x?}", call.name());
                }
            }
        }
        assert!(filter.syscalls.len() < 100, "{} rules", filter.syscalls.len());
    }

    #[test]
    fn one_argument_is_compared_once_in_a_rule() {
        for kind in [Kind::Crun, Kind::Runsc] {
            for (name, set) in conditional(kind) {
                let indices: std::collections::BTreeSet<u32> =
                    set.iter().map(|argument| argument.index).collect();
                assert_eq!(indices.len(), set.len(), "{name}");
            }
        }
    }

    #[test]
    fn an_absent_call_is_told_as_absent_by_either_kernel() {
        let told = |kind| {
            let filter = serde_json::to_value(Filter::of_commands(kind, false)).unwrap();
            let rules = filter["syscalls"].as_array().unwrap().clone();
            let rule = rules.into_iter().find(|rule| rule["names"][0] == "clone3").unwrap();
            (rule["action"].clone(), rule["errnoRet"].as_u64())
        };
        assert_eq!(told(Kind::Runc), ("SCMP_ACT_ERRNO".into(), Some(u64::from(ENOSYS))));
        assert_eq!(told(Kind::Runsc), ("SCMP_ACT_TRACE".into(), None));
    }
}
