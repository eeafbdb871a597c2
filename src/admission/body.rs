//! The body of a request: whole, or why it is not.

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use futures::StreamExt;
use std::time::Duration;
use tokio::time::timeout;

/// What is too long is read to its end and dropped, up to so many times the limit: who still writes when the
/// connection ends is told of a reset, and never reads the answer that says why.
const HEARD_OUT: usize = 16;

/// A body of at most so many bytes that arrives within this time. Fails with a status and words.
pub(super) async fn read(body: Body, most: usize, time: Duration) -> Result<Bytes, (StatusCode, String)> {
    let late = |_| (StatusCode::REQUEST_TIMEOUT, format!("the body does not arrive within {} ms", time.as_millis()));
    timeout(time, within(body, most)).await.map_err(late)?
}

async fn within(body: Body, most: usize) -> Result<Bytes, (StatusCode, String)> {
    let mut frames = body.into_data_stream();
    let (mut kept, mut seen) = (Vec::new(), 0_usize);
    while let Some(frame) = frames.next().await {
        let frame = frame.map_err(|error| (StatusCode::BAD_REQUEST, format!("the body breaks off: {error}")))?;
        seen = seen.saturating_add(frame.len());
        if seen <= most {
            kept.extend_from_slice(&frame);
        } else {
            kept = Vec::new();
        }
        if seen > most.saturating_mul(HEARD_OUT) {
            break;
        }
    }
    if seen <= most {
        return Ok(kept.into());
    }
    let words = format!("the AdmissionReview has more than {most} bytes; --max-request-bytes sets the limit");
    Err((StatusCode::PAYLOAD_TOO_LARGE, words))
}
