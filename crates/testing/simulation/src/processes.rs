use ambit_ports::runtime::Processes;

/// Processes of which none knows anything of another.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strangers;

impl Processes for Strangers {
    fn own(&self) -> String {
        "stranger".to_owned()
    }

    fn is_gone(&self, _: &str) -> bool {
        false
    }
}
