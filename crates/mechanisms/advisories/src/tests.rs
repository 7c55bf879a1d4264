use super::*;
use crate::version::date;

fn ids(found: &[Advisory]) -> Vec<&str> {
    found.iter().map(|advisory| advisory.id.as_str()).collect()
}

// proves E-J13
// break crates/mechanisms/advisories/src/table.rs: `self.mending(version).is_none_or(|mended| version < mended)` -> `self.mending(version).is_none_or(|mended| version <= mended)`
#[test]
fn a_branch_has_a_defect_up_to_the_release_that_mended_it() {
    let has = |release: &str, id: &str| ids(&kernel(release, "#1 SMP")).contains(&id);
    for (bad, good, id) in [
        ("5.15.15", "5.15.16", "CVE-2022-0185"),
        ("5.16.10", "5.16.11", "CVE-2022-0847"),
        ("6.1.8", "6.1.9", "CVE-2023-0386"),
        ("6.3.1", "6.3.2", "CVE-2023-2598"),
        ("6.1.75", "6.1.76", "CVE-2024-1086"),
        ("6.6.14", "6.6.15", "CVE-2024-1086"),
        ("6.7.2", "6.7.3", "CVE-2024-1086"),
        ("6.6.4", "6.6.5", "CVE-2024-0582"),
    ] {
        assert!(has(bad, id), "{bad} has {id}");
        assert!(!has(good, id), "{good} has {id} no more");
    }
    // A branch that was left as it was, one before the defect, and one that was mended from its start.
    assert!(has("6.5.13", "CVE-2024-1086") && has("5.14.21", "CVE-2022-0185"));
    assert!(!has("5.10.0", "CVE-2023-0386") && !has("6.2.16", "CVE-2023-2598"));
    assert!(!has("6.8.0", "CVE-2024-1086"));
    assert_eq!(kernel("6.12.30", "#1 SMP"), []);
    assert_eq!(kernel("6.18.44-vendor", "#1 SMP"), []);
}

#[test]
fn runtimes_are_held_against_candidates_too() {
    assert_eq!(ids(&runtime("runc", "1.1.11")).len(), 4);
    assert!(!ids(&runtime("runc", "1.1.12")).contains(&"CVE-2024-21626"));
    let newest = |version: &str| ids(&runtime("runc", version)).contains(&"CVE-2025-52881");
    for bad in ["1.1.15", "1.2.7", "1.3.0-rc.2", "1.3.2", "1.4.0-rc.1", "v1.4.0-rc.2", "1.4.0-rc2+dev"] {
        assert!(newest(bad), "{bad}");
    }
    for good in ["1.2.8", "1.2.9", "1.3.3", "1.4.0-rc.3", "1.4.0", "1.5.0-rc.1"] {
        assert!(!newest(good), "{good}");
    }
    let has = |version: &str, id: &str| ids(&runtime("runc", version)).contains(&id);
    assert!(has("1.0.0-rc6", "CVE-2019-5736") && !has("1.0.0-rc7", "CVE-2019-5736"));
    assert!(has("1.0.0-rc94", "CVE-2021-30465") && !has("1.0.0-rc95", "CVE-2021-30465"));
    assert!(has("1.1.12", "CVE-2025-31133") && has("1.1.12", "CVE-2025-52565"));
    assert_eq!(ids(&runtime("crun", "1.19.1")), ["CVE-2025-24965"]);
    assert_eq!(ids(&runtime("crun", "1.4.3")), ["CVE-2022-27650", "CVE-2025-24965"]);
    assert_eq!(ids(&runtime("crun", "1.20")), [""; 0]);
    assert_eq!(ids(&runtime("runsc", "release-20240729.0")), ["CVE-2025-2713"]);
    assert_eq!(ids(&runtime("runsc", "0.0~20250327.0-1")), ["CVE-2025-2713"]);
    assert_eq!(ids(&runtime("runsc", "release-20250328.0")), [""; 0]);
    assert_eq!(runtime("youki", "0.0.1"), []);
}

#[test]
fn what_a_distribution_built_may_be_affected_and_is_never_said_to_be() {
    let plain = kernel("6.1.75", "#1 SMP");
    assert!(plain.iter().any(|it| it.says.starts_with("is affected: ") && it.mend == "use 6.1.76 or later"));
    for (release, version) in [
        ("6.1.0-17-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.69-1 (2023-12-30)"),
        ("5.14.0-362.8.1.el9_3.x86_64", "#1 SMP"),
    ] {
        let found = kernel(release, version);
        assert!(ids(&found).contains(&"CVE-2024-1086"), "{release}: {found:?}");
        assert!(
            found.iter().all(|it| it.says.starts_with("may be affected: ") && it.mend.contains("ask")),
            "{found:?}"
        );
    }
    let mended = kernel("6.1.0-18-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)");
    assert!(!ids(&mended).contains(&"CVE-2024-1086"), "its version tells the last number: {mended:?}");
    assert!(runtime("runc", "1.1.5+ds1").iter().all(|it| it.says.starts_with("may be affected: ")));
}

#[test]
fn what_one_distribution_added_is_asked_of_its_kernels_alone() {
    let has = |release: &str, version: &str| ids(&kernel(release, version)).contains(&"CVE-2023-2640");
    let ubuntu = "#25~22.04.1-Ubuntu SMP PREEMPT_DYNAMIC";
    assert!(has("6.2.0-25-generic", ubuntu) && has("5.19.0-49-generic", ubuntu));
    assert!(!has("6.2.0-26-generic", ubuntu) && !has("5.19.0-50-generic", ubuntu));
    assert!(!has("6.2.0-25-generic", "#25 SMP") && !has("6.2.0", ubuntu) && !has("6.5.0-9-generic", ubuntu));
}

#[test]
fn a_version_that_is_none_says_nothing_and_breaks_nothing() {
    for none in
        ["", "6", "six.one", "v", ".", "6.", "4294967296.1", "6.-1", "\u{661}.\u{662}", "-rc1", "6.1-rc"]
    {
        assert_eq!(kernel(none, none), [], "{none:?}");
        for name in ["runc", "crun", "runsc"] {
            assert_eq!(runtime(name, none), [], "{none:?}");
        }
    }
    assert_eq!(Version::parse("6.1"), Some(Version::of(6, 1, 0)));
    assert_eq!(Version::parse("6.1.x"), Some(Version::of(6, 1, 0)));
    assert!(Version::parse("1.4.0-rc.3").unwrap() < Version::of(1, 4, 0));
    assert_eq!(date("release-20240729.0"), Some(20_240_729));
    assert_eq!(date("2024072.0 123456789"), None);
    let long = format!("6.1.1{}", "\u{1b}[31m".repeat(100));
    assert!(kernel(&long, "").iter().all(|it| it.component.len() < 80 && !it.component.contains('\u{1b}')));
}
