//! Integration tests of symphony-service.

#[cfg(test)]
mod attempt;
#[cfg(test)]
mod attempt_hostile;
#[cfg(test)]
#[cfg(feature = "real-cli")]
mod attempt_real;
#[cfg(test)]
mod worker;
