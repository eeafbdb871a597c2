//! RFC 3339 times as seconds since 1970 (UTC) and nanoseconds.

/// Reads an RFC 3339 time as seconds since 1970 and nanoseconds.
pub fn read(text: &str) -> Option<(i64, u32)> {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| -> Option<i64> {
        let part = bytes.get(from..to)?;
        part.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
    };
    let sign = |at: usize, expected: &[u8]| bytes.get(at).filter(|byte| expected.contains(byte)).map(|_| ());
    let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    let (hour, minute, second) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?);
    sign(4, b"-").and(sign(7, b"-")).and(sign(10, b"Tt")).and(sign(13, b":")).and(sign(16, b":"))?;
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut at = 19;
    let mut nanos = 0;
    if bytes.get(at) == Some(&b'.') {
        let end = (at + 1..bytes.len()).find(|&end| !bytes[end].is_ascii_digit())?;
        let mut unit = 100_000_000;
        for byte in bytes.get(at + 1..end).filter(|fraction| !fraction.is_empty())? {
            nanos += u32::from(byte - b'0') * unit;
            unit /= 10;
        }
        at = end;
    }
    let shift = match bytes.get(at)? {
        b'Z' | b'z' if bytes.len() == at + 1 => 0,
        direction @ (b'+' | b'-') if bytes.len() == at + 6 => {
            sign(at + 3, b":")?;
            let shift = digits(at + 1, at + 3)? * 3600 + digits(at + 4, at + 6)? * 60;
            if *direction == b'+' { shift } else { -shift }
        }
        _ => return None,
    };
    // Days since 1970 of the proleptic Gregorian calendar, years counted from March so that the leap day comes last.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = years * 365 + years.div_euclid(4) - years.div_euclid(100)
        + years.div_euclid(400)
        + (153 * months + 2) / 5
        + day
        - 1
        - 719_468;
    Some((days * 86_400 + hour * 3600 + minute * 60 + second - shift, nanos))
}

/// Writes seconds since 1970 (UTC) as RFC 3339, with a fraction of 0, 3, 6 or 9 digits as in proto JSON.
pub(crate) fn write((seconds, nanos): (i64, u32)) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Civil date from days, after Howard Hinnant: eras of 400 years that start on 1 March 0000.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    let fraction = match nanos {
        0 => String::new(),
        _ if nanos % 1_000_000 == 0 => format!(".{:03}", nanos / 1_000_000),
        _ if nanos % 1_000 == 0 => format!(".{:06}", nanos / 1_000),
        _ => format!(".{nanos:09}"),
    };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_times() {
        assert_eq!(read("1970-01-01T00:00:00Z"), Some((0, 0)));
        assert_eq!(read("2026-01-15T00:00:30Z"), Some((1_768_435_230, 0)));
        assert_eq!(read("2024-02-29T23:59:59.5+02:00"), Some((1_709_243_999, 500_000_000)));
        assert_eq!(read("1969-12-31T23:59:59Z"), Some((-1, 0)));
        for bad in [
            "",
            "2026-01-15",
            "2026-13-15T00:00:30Z",
            "2025-02-29T00:00:00Z",
            "2026-01-15T00:00:30",
            "2026-01-15T00:00:30.Z",
            "é026-01-15T00:00:30Z",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn writes_times() {
        assert_eq!(write((0, 0)), "1970-01-01T00:00:00Z");
        assert_eq!(write((1_709_210_096, 5)), "2024-02-29T12:34:56.000000005Z");
        assert_eq!(write((1_709_210_096, 500_000_000)), "2024-02-29T12:34:56.500Z");
        assert_eq!(write((-1, 0)), "1969-12-31T23:59:59Z");
    }
}
