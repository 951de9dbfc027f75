//! Attempts whose questions were answered: once each, until the questions expire.

use std::time::Duration;

use registry::{Clock, RunId};

use crate::fixtures::World;

#[tokio::test]
async fn an_attempt_is_answered_once_until_its_questions_expire() {
    let world = World::new().await;
    let clock = Clock::system();
    let (now, hour) = (clock.now(), Duration::from_hours(1));
    let (first, second) = (RunId::new(&clock), RunId::new(&clock));
    assert!(world.store.operations().answer_attempt(&first, now.after(hour)).await.unwrap());
    assert!(!world.store.operations().answer_attempt(&first, now.after(hour)).await.unwrap(), "the second answer");
    assert!(world.store.operations().answer_attempt(&second, now.before(hour)).await.unwrap(), "another attempt");
    assert_eq!(world.store.operations().delete_expired_attempts().await.unwrap(), 1);
    assert_eq!(world.store.operations().delete_expired_attempts().await.unwrap(), 0);
    assert!(!world.store.operations().answer_attempt(&first, now.after(hour)).await.unwrap(), "not expired");
}
