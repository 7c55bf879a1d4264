//! What a killed process leaves of a sandbox is told by a scan, and goes with one that may remove it.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::rig::{Answered, Project};

/// How long something may take that has no reason to.
const LATE: Duration = Duration::from_secs(60);

/// The leases that have something on the disk of the home.
fn leases(project: &Project) -> Vec<String> {
    let entries = fs::read_dir(project.home().join("sandboxes/leases")).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.contains('.'))
        .collect()
}

/// A command in a sandbox that goes on, and the lease of that.
#[expect(clippy::zombie_processes, reason = "whoever begins it waits for it")]
fn begun(project: &Project) -> (Child, String) {
    let before = leases(project);
    let words =
        ["sandbox", "run", "--image", "tools", "--profile", project.profile, "--", "sh", "-c", "sleep 60"];
    let child = project.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    loop {
        let fresh = leases(project).into_iter().find(|lease| !before.contains(lease));
        if let Some(lease) = fresh {
            return (child, lease);
        }
        assert!(began.elapsed() < LATE, "no sandbox is made");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn scan(project: &Project, words: &[&str]) -> Answered {
    project.ambit([&["sandbox", "scan", "--json"], words].concat())
}

/// What a scan tells of a lease under a heading.
fn told<'a>(report: &'a Value, heading: &str, lease: &str) -> Vec<&'a Value> {
    let all = report[heading].as_array().unwrap().iter();
    all.filter(|leak| leak["lease"] == lease || leak["reference"].as_str().unwrap().contains(lease)).collect()
}

// proves E-T40 E-T41 E-T43
// break crates/bins/ambit/src/verbs/sandbox/scan.rs: `let Some(run) = runs.get(lease) else { return Owner::Absent };` -> `let Some(run) = runs.get(lease) else { return Owner::Going };`
#[test]
fn what_a_killed_process_leaves_is_told_and_removed_where_that_is_wanted() {
    let project = Project::new();
    let (mut child, lease) = begun(&project);
    let while_it_lives = scan(&project, &["--remove"]).json();
    assert_eq!(told(&while_it_lives, "outstandingLeaks", &lease), Vec::<&Value>::new());
    assert_eq!(told(&while_it_lives, "removed", &lease), Vec::<&Value>::new());
    assert!(while_it_lives["inUse"].as_u64().unwrap() > 0, "{while_it_lives}");
    assert!(child.try_wait().unwrap().is_none(), "nothing of a live process is touched");
    child.kill().unwrap();
    child.wait().unwrap();

    let left = scan(&project, &[]);
    let report = left.json();
    assert_eq!(left.code, 13, "{report}");
    let leaks = told(&report, "outstandingLeaks", &lease);
    let of_disk = leaks.iter().find(|leak| leak["surface"] == "leases").unwrap();
    assert_eq!((of_disk["standing"].as_str(), of_disk["maker"].as_str()), (Some("ownerless"), Some("gone")));
    for surface in ["processes", "control-groups", "mounts", "leases"] {
        assert!(report["lookedAt"].as_array().unwrap().contains(&surface.into()), "{surface}");
    }
    assert!(!report["notLookedAt"].as_array().unwrap().is_empty());
    let page = project.ambit(["sandbox", "scan"]);
    assert!(page.out.contains("ambit sandbox scan --remove") && page.out.contains(&lease), "{}", page.out);
    assert!(leases(&project).contains(&lease), "a look removes nothing");

    let swept = scan(&project, &["--remove"]).json();
    assert!(!told(&swept, "removed", &lease).is_empty(), "{swept}");
    assert_eq!(told(&swept, "outstandingLeaks", &lease), Vec::<&Value>::new());
    assert!(!leases(&project).contains(&lease));
    let last = scan(&project, &[]);
    let is_clean = last.json()["outstandingLeaks"].as_array().unwrap().is_empty();
    assert_eq!(last.code, if is_clean { 0 } else { 13 }, "others may leave something at any time");
}
