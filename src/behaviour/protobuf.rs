//! The few protobuf messages of ext_authz, rate limit and ext_proc services: field numbers of `envoy.service.*.v3`.

/// A message that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn new() -> Message {
        Message::default()
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(u8::try_from(value & 0x7f).unwrap_or(0) | 0x80);
            value >>= 7;
        }
        self.0.push(u8::try_from(value).unwrap_or(0));
    }

    #[must_use]
    pub(super) fn number(mut self, field: u32, value: u64) -> Message {
        self.varint(u64::from(field) << 3);
        self.varint(value);
        self
    }

    #[must_use]
    pub(super) fn bytes(mut self, field: u32, bytes: &[u8]) -> Message {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    #[must_use]
    pub(super) fn message(self, field: u32, inner: &Message) -> Message {
        self.bytes(field, &inner.0)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// The value of a field that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

impl<'b> Value<'b> {
    pub(super) fn bytes(self) -> &'b [u8] {
        match self {
            Value::Bytes(bytes) => bytes,
            Value::Number(_) => &[],
        }
    }
}

/// The fields of a message in order, as far as they can be read; fixed-width numbers are skipped.
pub(super) struct Fields<'b>(pub(super) &'b [u8]);

impl Fields<'_> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = (u32, Value<'b>);

    fn next(&mut self) -> Option<(u32, Value<'b>)> {
        loop {
            let tag = self.varint()?;
            let field = u32::try_from(tag >> 3).ok()?;
            let length = match tag & 7 {
                0 => return self.varint().map(|value| (field, Value::Number(value))),
                2 => usize::try_from(self.varint()?).ok()?,
                1 => 8,
                5 => 4,
                _ => return None,
            };
            let (bytes, rest) = self.0.split_at_checked(length)?;
            self.0 = rest;
            if tag & 7 == 2 {
                return Some((field, Value::Bytes(bytes)));
            }
        }
    }
}

/// The message in a field; empty if absent.
pub(super) fn inner(bytes: &[u8], field: u32) -> &[u8] {
    Fields(bytes).filter(|(number, _)| *number == field).last().map_or(&[], |(_, value)| value.bytes())
}

/// The text in a field; empty if absent.
pub(super) fn text(bytes: &[u8], field: u32) -> String {
    String::from_utf8_lossy(inner(bytes, field)).into_owned()
}

/// Every message in a repeated field.
pub(super) fn all(bytes: &[u8], field: u32) -> impl Iterator<Item = &[u8]> {
    Fields(bytes).filter(move |(number, _)| *number == field).map(|(_, value)| value.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_messages_can_be_read() {
        let entry = Message::new().bytes(1, b"PATH").bytes(2, b"/a");
        let bytes = Message::new().bytes(1, b"domain").message(2, &entry).number(3, 300).into_bytes();
        assert_eq!(text(&bytes, 1), "domain");
        assert_eq!(text(inner(&bytes, 2), 2), "/a");
        assert_eq!(Fields(&bytes).find(|(field, _)| *field == 3), Some((3, Value::Number(300))));
    }

    #[test]
    fn broken_bytes_end_the_message() {
        for bytes in [&[0x0a, 0x05, 1][..], &[0xff; 12], &[0x0f], &[0x09, 1, 2]] {
            assert_eq!(Fields(bytes).count(), 0, "{bytes:?}");
        }
    }
}
