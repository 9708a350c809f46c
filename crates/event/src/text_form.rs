//! Hexadecimal text of fixed-size byte ids.

use std::fmt;

/// Writes bytes as lower-case hexadecimal.
pub(crate) fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Reads exactly `N` bytes from `2 * N` hexadecimal digits of either case.
pub(crate) fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != N * 2 {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_length_of_digits_is_read() {
        assert_eq!(parse_hex::<2>("0aFf"), Some([0x0a, 0xff]));
        for wrong in ["", "0", "0af", "0aff0", "0aXf", "é1f"] {
            assert_eq!(parse_hex::<2>(wrong), None, "{wrong:?}");
        }
    }
}
