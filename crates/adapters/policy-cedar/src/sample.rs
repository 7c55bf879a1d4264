use ambit_blueprint::RuleExample;
use ambit_ids::{Digest, IdError, OrganizationId, ProjectId, RunId, Scope, UnixMs};
use ambit_policy::{ApprovalInHand, Request};

/// The request of which an example speaks, by a run that is pinned to `policy`.
pub(crate) fn request_of(policy: Digest, example: &RuleExample) -> Result<Request, IdError> {
    let arguments = Digest::of(b"the arguments of an example");
    let approval = example.approved.map(|capability| ApprovalInHand {
        capability,
        subject: arguments,
        expires: UnixMs::new(0),
    });
    Ok(Request {
        scope: Scope { organization: OrganizationId::new("example")?, project: ProjectId::new("example")? },
        run: RunId::new("run_example")?,
        blueprint: Digest::of(b"the blueprint of an example"),
        policy,
        tool: example.tool,
        arguments,
        facts: example.facts.clone(),
        asked: example.asked,
        approval,
    })
}
