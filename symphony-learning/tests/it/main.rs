//! Integration tests of symphony-learning.
