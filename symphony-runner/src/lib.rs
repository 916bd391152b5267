//! Agent providers, process supervision, stream parsing, dispatch, exit handling, the tick.
