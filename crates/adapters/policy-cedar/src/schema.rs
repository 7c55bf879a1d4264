use ambit_policy::{ActionClass, Capability, FactKind, ToolName};

use crate::compile::quoted;

/// What a run could want done besides calling its tools: the name of the action, and its class. None of it is a tool, so
/// no request asks for it; that each is denied is checked before an engine is used, and proven.
pub(crate) fn beyond_the_tools() -> impl Iterator<Item = (&'static str, ActionClass)> {
    let capabilities = Capability::ALL.iter().map(|capability| (capability.as_str(), capability.class()));
    capabilities
        .filter(|(_, class)| *class != ActionClass::WorkspaceWrite)
        .chain([("secret.use", ActionClass::SecretUse)])
}

/// The name of the action that holds all actions of a class.
pub(crate) fn class_action(class: ActionClass) -> String {
    format!("class.{class}")
}

/// The Cedar schema of every request.
///
/// Facts and capabilities are closed vocabularies there too, so that a policy that names another one is refused.
#[must_use]
pub fn schema_text() -> String {
    let words =
        |words: &mut dyn Iterator<Item = &'static str>| words.map(quoted).collect::<Vec<_>>().join(",\n  ");
    let facts = words(&mut FactKind::ALL.iter().map(|kind| kind.as_str()));
    let capabilities = words(&mut Capability::ALL.iter().map(|capability| capability.as_str()));
    let mut text = format!(
        "entity Organization;\n\
         entity Project in [Organization];\n\
         // The principal is always a run; it is pinned to one policy set.\n\
         entity Run in [Project] {{ policy: String, blueprint: String }};\n\
         entity FactKind enum [\n  {facts}\n];\n\
         entity Capability enum [\n  {capabilities}\n];\n\
         \n\
         // An unused approval, of exactly the arguments whose digest is its subject.\n\
         type Approval = {{ capability: Capability, subject: String }};\n\
         // `policy` is the policy set that the engine holds, and the facts are what trusted code found out about the call.\n\
         type Call = {{\n  policy: String,\n  arguments: String,\n  facts: Set<FactKind>,\n  \
         asked?: Capability,\n  approval?: Approval,\n}};\n\n"
    );
    for class in ActionClass::ALL {
        text.push_str(&format!("action {};\n", quoted(&class_action(*class))));
    }
    text.push('\n');
    let tools = ToolName::ALL.iter().map(|tool| (tool.as_str(), tool.side_effect().class()));
    for (name, class) in tools.chain(beyond_the_tools()) {
        text.push_str(&format!(
            "action {} in [{}]\n  appliesTo {{ principal: [Run], resource: [Project], context: Call }};\n",
            quoted(name),
            quoted(&class_action(class)),
        ));
    }
    text
}
