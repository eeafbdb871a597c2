//! Checks whether Kubernetes accepts a schedule before anything is applied: the five fields of `robfig/cron` that CronJobs use.

use std::fmt;

/// What is wrong with a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CronError {
    /// Not five fields; how many.
    Fields(usize),
    /// A word such as `@often` that is no schedule.
    Unknown(String),
    /// A time zone in the schedule; CronJobs have `timeZone` for that.
    TimeZone,
    /// A part of a field is not a number, a name, a range or a step: the field, and the part.
    Part(&'static str, String),
    /// A number is out of range: the field, the number, and the range.
    Range(&'static str, String, u32, u32),
}

impl fmt::Display for CronError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CronError::Fields(number) => write!(out, "a schedule has 5 fields, not {number}"),
            CronError::Unknown(word) => write!(out, "unknown schedule {word:?}"),
            CronError::TimeZone => out.write_str("a schedule of a CronJob cannot contain a time zone"),
            CronError::Part(field, part) => write!(out, "cannot read {part:?} as {field}"),
            CronError::Range(field, part, least, most) => {
                write!(out, "{field} must be between {least} and {most}: {part:?}")
            }
        }
    }
}

impl std::error::Error for CronError {}

const WORDS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// The fields, each with its minimum and maximum value and its names, starting with that of the minimum.
type Field = (&'static str, u32, u32, &'static [&'static str]);
const FIELDS: [Field; 5] = [
    ("minute", 0, 59, &[]),
    ("hour", 0, 23, &[]),
    ("day of the month", 1, 31, &[]),
    ("month", 1, 12, &MONTHS),
    ("day of the week", 0, 6, &DAYS),
];

/// Checks a schedule.
pub(crate) fn check(schedule: &str) -> Result<(), CronError> {
    let schedule = schedule.trim();
    if schedule.contains("TZ") {
        return Err(CronError::TimeZone);
    }
    if schedule.starts_with('@') {
        let known = WORDS.contains(&schedule) || schedule.starts_with("@every ");
        return if known { Ok(()) } else { Err(CronError::Unknown(schedule.to_owned())) };
    }
    let parts: Vec<&str> = schedule.split_whitespace().collect();
    if parts.len() != FIELDS.len() {
        return Err(CronError::Fields(parts.len()));
    }
    for (part, field) in parts.iter().zip(&FIELDS) {
        for item in part.split(',') {
            range(item, field)?;
        }
    }
    Ok(())
}

fn range(item: &str, field: &Field) -> Result<(), CronError> {
    let (span, step) = item.split_once('/').map_or((item, None), |(span, step)| (span, Some(step)));
    if let Some(step) = step
        && !step.parse::<u32>().is_ok_and(|step| step > 0)
    {
        return Err(CronError::Part(field.0, item.to_owned()));
    }
    if span == "*" || span == "?" {
        return Ok(());
    }
    let (from, to) = span.split_once('-').unwrap_or((span, span));
    if value(from, field)? > value(to, field)? {
        return Err(CronError::Part(field.0, item.to_owned()));
    }
    Ok(())
}

fn value(text: &str, (field, least, greatest, names): &Field) -> Result<u32, CronError> {
    let by_name = names.iter().zip(*least..).find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, value)| value);
    let number = by_name.or_else(|| text.parse().ok()).ok_or_else(|| CronError::Part(field, text.to_owned()))?;
    if (*least..=*greatest).contains(&number) {
        Ok(number)
    } else {
        Err(CronError::Range(field, text.to_owned(), *least, *greatest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_those_of_cron_jobs() {
        for good in ["17 * * * *", "*/5 0-6,22 1,15 jan-MAR mon", "@hourly", "0 0 ? * 6", "0/15 * * * *"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for (bad, want) in [
            ("hourly", CronError::Fields(1)),
            ("* * * *", CronError::Fields(4)),
            ("60 * * * *", CronError::Range("minute", "60".to_owned(), 0, 59)),
            ("* * 0 * *", CronError::Range("day of the month", "0".to_owned(), 1, 31)),
            ("* * * * 7", CronError::Range("day of the week", "7".to_owned(), 0, 6)),
            ("*/0 * * * *", CronError::Part("minute", "*/0".to_owned())),
            ("5-1 * * * *", CronError::Part("minute", "5-1".to_owned())),
            ("a * * * *", CronError::Part("minute", "a".to_owned())),
            ("@often", CronError::Unknown("@often".to_owned())),
            ("CRON_TZ=UTC * * * * *", CronError::TimeZone),
        ] {
            assert_eq!(check(bad), Err(want), "{bad}");
        }
    }
}
