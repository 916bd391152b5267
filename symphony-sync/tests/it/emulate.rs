//! The client of GitHub against npm's `emulate`, another people's imitation of the API.
