use crate::outline::Outline;
pub(crate) fn outline(_text: &str, _is_test_file: bool) -> Option<Outline> {
    None
}
