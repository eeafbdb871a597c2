//! Fields of the protobuf wire format, without their types.

/// One field, in the form the bytes give it.
pub(super) enum Raw<'b> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'b [u8]),
    Fixed32([u8; 4]),
}

/// The next variable-length number. `None` on malformed bytes.
pub(super) fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..70).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return (shift < 63 || byte <= 1).then_some(value);
        }
    }
    None
}

/// Number and content of the next field; groups are skipped. `None` on malformed bytes.
pub(super) fn read_field<'b>(bytes: &mut &'b [u8]) -> Option<(u32, Raw<'b>)> {
    let key = read_varint(bytes)?;
    let number = u32::try_from(key >> 3).ok().filter(|&number| number > 0 && number < 1 << 29)?;
    let raw = match key & 7 {
        0 => Raw::Varint(read_varint(bytes)?),
        1 => {
            let (head, rest) = bytes.split_first_chunk::<8>()?;
            *bytes = rest;
            Raw::Fixed64(*head)
        }
        2 => {
            let length = usize::try_from(read_varint(bytes)?).ok()?;
            let (head, rest) = bytes.split_at_checked(length)?;
            *bytes = rest;
            Raw::Bytes(head)
        }
        5 => {
            let (head, rest) = bytes.split_first_chunk::<4>()?;
            *bytes = rest;
            Raw::Fixed32(*head)
        }
        _ => return None,
    };
    Some((number, raw))
}
