//! Integration tests of symphony-service.

#[cfg(test)]
mod attempt;
#[cfg(test)]
mod attempt_hostile;
#[cfg(test)]
mod worker;
