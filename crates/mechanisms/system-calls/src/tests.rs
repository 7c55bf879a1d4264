use linux_raw_sys::{errno, general as nr};

use super::{ALLOWED, CONDITIONAL, HIDDEN_ARGUMENTS, HIGHEST, REFUSED, Rule, Sharing, Sign, rule};

#[test]
fn every_call_is_in_one_table() {
    let absent = [nr::__NR_uretprobe];
    for number in 0..=HIGHEST {
        let of_groups = ALLOWED.iter().chain(&REFUSED).copied().flatten().chain(&HIDDEN_ARGUMENTS);
        let places = of_groups.filter(|call| call.number == number).count()
            + Sign::ALL.iter().filter(|sign| sign.calls().contains(&number)).count()
            + CONDITIONAL.iter().filter(|(conditional, _)| conditional.number == number).count();
        let is_number_of_none = matches!(number, 336..=423);
        let expected = usize::from(!absent.contains(&number) && !is_number_of_none);
        assert_eq!(places, expected, "call {number}");
    }
}

#[test]
fn what_reaches_the_kernel_deepest_is_refused_and_told() {
    let of = |number| [rule(number, Sharing::Free), rule(number, Sharing::Counted)];
    for number in Sign::ALL.into_iter().flat_map(Sign::calls) {
        assert_eq!(of(*number), [&Rule::Report; 2], "{number}");
    }
    for number in [nr::__NR_io_uring_setup, nr::__NR_kcmp, nr::__NR_mbind, nr::__NR_memfd_secret] {
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
fn a_call_is_named_as_profiles_name_it() {
    let named = |number| {
        let mut calls = ALLOWED.iter().chain(&REFUSED).copied().flatten();
        calls.find(|call| call.number == number).map(|call| call.name())
    };
    assert_eq!(named(nr::__NR_read), Some("read"));
    assert_eq!(named(nr::__NR__sysctl), Some("_sysctl"));
}

#[test]
fn an_answer_depends_on_the_low_half_of_an_argument() {
    let ioctl = rule(nr::__NR_ioctl, Sharing::Free);
    assert_eq!(ioctl.answer([0, 0x1_0000_5412, 0, 0, 0, 0]), &Rule::Report);
    assert_eq!(ioctl.answer([0, 0x1_0000_5401, 0, 0, 0, 0]), &Rule::Allow);
}
