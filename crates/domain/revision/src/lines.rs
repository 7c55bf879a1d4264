/// The lines of some bytes. A line is what ends at a line feed, whatever else it holds; the last one may lack it.
pub(crate) fn split(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::with_capacity(memchr::memchr_iter(b'\n', bytes).count() + 1);
    let mut start = 0;
    for line_feed in memchr::memchr_iter(b'\n', bytes) {
        lines.push(&bytes[start..=line_feed]);
        start = line_feed + 1;
    }
    if start < bytes.len() {
        lines.push(&bytes[start..]);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn lines_are_what_a_plain_split_makes(bytes in proptest::collection::vec(9_u8..12, 0..60)) {
            let plain: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            proptest::prop_assert_eq!(split(&bytes), plain);
        }
    }
}
