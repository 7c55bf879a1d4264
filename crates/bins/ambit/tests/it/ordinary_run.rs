use crate::rig::{Project, diligent};

#[test]
fn a_run_on_any_directory_ends_preview_ready() {
    let project = Project::new();
    let ended = project.start("first", &diligent("finish")).well();
    assert!(
        ended.out.contains("rev-1 is preview-ready. That is not validated, not deployed"),
        "{}",
        ended.out
    );
    let diff = project.ambit(["revision", "diff", "rev-0", "rev-1"]).well();
    assert!(diff.out.contains("+echo \"hello $1\""), "{}", diff.out);
    project.ambit(["trace", "verify", "first"]).well();
    project.ambit(["revision", "eligible", "rev-1"]).well();
}
