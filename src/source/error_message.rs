//! Why something cannot be done, in words for the user.

use std::fmt;
use std::ops::Deref;

/// Why something cannot be done, as a sentence for the user. It decides nothing: failures that callers distinguish are enums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorMessage(String);

impl Deref for ErrorMessage {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ErrorMessage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for ErrorMessage {}

impl From<String> for ErrorMessage {
    fn from(message: String) -> ErrorMessage {
        ErrorMessage(message)
    }
}

impl From<&str> for ErrorMessage {
    fn from(message: &str) -> ErrorMessage {
        ErrorMessage(message.to_owned())
    }
}

impl From<ErrorMessage> for String {
    fn from(error: ErrorMessage) -> String {
        error.0
    }
}

impl serde::Serialize for ErrorMessage {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}
