//! Tests of what is decided about pull requests at a forge.

#[cfg(test)]
mod check;
#[cfg(test)]
mod end;
#[cfg(test)]
mod review;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod text;
