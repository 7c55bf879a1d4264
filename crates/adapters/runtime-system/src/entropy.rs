use ambit_ports::runtime::Entropy;

/// Chance from the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        fill(bytes);
    }
}

/// Ends the process where the system has no chance to give: a weaker source would make secrets and salts that can be
/// guessed, and nobody would notice.
#[expect(clippy::print_stderr, reason = "the last words of the process")]
pub(crate) fn fill(bytes: &mut [u8]) {
    if let Err(error) = getrandom::fill(bytes) {
        eprintln!(
            "ambit: the operating system gives no random bytes ({error}); nothing can go on without them"
        );
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_is_left_out_and_no_filling_is_like_another() {
        let mut differs = [false; 40];
        for _ in 0..20 {
            let (mut one, mut other) = ([0; 40], [0; 40]);
            SystemEntropy.fill(&mut one);
            SystemEntropy.fill(&mut other);
            assert_ne!(one, other);
            differs.iter_mut().zip(one.iter().zip(&other)).for_each(|(differs, (a, b))| *differs |= a != b);
        }
        assert_eq!(differs, [true; 40]);
        SystemEntropy.fill(&mut []);
    }
}
