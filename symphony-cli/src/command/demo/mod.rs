//! `symphony demo`: a small real project, driven from backlog to merged. Every part but the model is real.

mod args;
mod drive;
mod leftovers;
mod pace;
mod project;
mod summary;

pub(crate) use args::DemoArgs;
