//! The client against Temporal's development server, and against services that are away.

#![cfg(feature = "dev-server")]

#[cfg(test)]
mod away;
#[cfg(test)]
mod by_hand;
#[cfg(test)]
mod encrypted;
#[cfg(test)]
mod placing;
#[cfg(test)]
mod support;
