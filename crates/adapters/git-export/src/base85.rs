//! Bytes in the alphabet of git's binary patches, five characters for four bytes.

const ALPHABET: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// How many bytes stand on one line.
const LINE_BYTES: usize = 52;

/// Appends the lines of `bytes`. Each starts with a letter that says how many bytes it holds: `A` to `Z` for 1 to 26, `a`
/// to `z` for 27 to 52.
pub(crate) fn write_lines(bytes: &[u8], text: &mut Vec<u8>) {
    for line in bytes.chunks(LINE_BYTES) {
        let length = u8::try_from(line.len()).unwrap_or_default();
        text.push(if length <= 26 { b'A' + length - 1 } else { b'a' + length - 27 });
        for word in line.chunks(4) {
            let mut padded = [0; 4];
            padded[..word.len()].copy_from_slice(word);
            text.extend_from_slice(&digits(u32::from_be_bytes(padded)));
        }
        text.push(b'\n');
    }
}

fn digits(word: u32) -> [u8; 5] {
    let digit = |power: u32| ALPHABET[(word / 85_u32.pow(power) % 85) as usize];
    [digit(4), digit(3), digit(2), digit(1), digit(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> String {
        let mut text = Vec::new();
        write_lines(bytes, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn words_are_written_as_git_writes_them() {
        assert_eq!(lines(b""), "");
        assert_eq!(lines(b"x\x9c\x03\0\0\0\0\x01"), "Hc$@<O00001\n");
        assert_eq!(lines(&[0xff; 4]), "D|NsC0\n");
        assert_eq!(lines(&[0; 53]), format!("z{}\nA00000\n", "0".repeat(65)));
    }
}
