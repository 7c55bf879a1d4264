use ambit_gates::{REPORT_NAME_BYTES, ReportFormat, objections, read_report};

/// Bytes are a report of the format that the first of them names, and then always the same one and of bounded names; or
/// they are refused. A report that shows a failure is objected to, and still is with any part of it behind it again: what a
/// program writes behind its own report cannot take a failure back.
pub fn report(input: &[u8]) {
    let Some((first, bytes)) = input.split_first() else { return };
    let Some(format) = ReportFormat::ALL.get(usize::from(*first) % ReportFormat::ALL.len()) else { return };
    let read = read_report(*format, &[bytes]);
    assert_eq!(read, read_report(*format, &[bytes]), "the same bytes are read otherwise");
    let Ok(report) = read else { return };
    // The number of a repeat stands behind a name.
    assert!(report.tests().keys().all(|name| name.len() <= REPORT_NAME_BYTES + 12), "a name is too long");
    if report.counts().failed == 0 {
        return;
    }
    for cut in [bytes.len(), bytes.len() / 2] {
        let longer = [bytes, b"\n", &bytes[..cut]].concat();
        let read = read_report(*format, &[&longer]);
        assert!(!objections(Some(read.as_ref()), None).is_empty(), "what was appended hides a failure");
    }
}
