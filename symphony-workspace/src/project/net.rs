//! `*.csproj`: read by what it mentions, without a parser.

use std::path::Path;

use super::ecosystem::{Ecosystem, Meanings, Stack, mentioned};
use super::folder::Manifests;

const FRAMEWORKS: &Meanings = &[
    ("Microsoft.NET.Sdk.Web", "ASP.NET Core"),
    ("Microsoft.NET.Sdk.BlazorWebAssembly", "Blazor"),
    ("Microsoft.NET.Sdk.Worker", "Worker Service"),
    ("<UseMaui>true", ".NET MAUI"),
];

const UIS: &Meanings = &[
    ("\"Avalonia", "Avalonia"),
    ("<UseWPF>true", "WPF"),
    ("<UseWindowsForms>true", "Windows Forms"),
    ("\"Terminal.Gui\"", "Terminal.Gui (Terminal UI)"),
];

const TESTS: &Meanings = &[
    ("\"xunit", "xUnit"),
    ("\"NUnit", "NUnit"),
    ("\"MSTest", "MSTest"),
];

const DATABASES: &Meanings = &[
    ("\"Microsoft.EntityFrameworkCore", "Entity Framework Core"),
    ("\"Dapper\"", "Dapper"),
    ("\"Npgsql", "PostgreSQL"),
    ("\"Microsoft.Data.SqlClient\"", "SQL Server"),
    ("\"Microsoft.Data.Sqlite", "SQLite"),
    ("\"MongoDB.Driver\"", "MongoDB"),
];

/// Reads the first project file, in the root or one folder down.
pub(super) fn detect(folder: &Manifests<'_>) -> Option<Ecosystem> {
    let file = folder.first_with_extension("csproj")?;
    let text = folder.text(&file)?;
    let name = Path::new(&file).file_stem();
    Some(Ecosystem {
        name: name.map(|name| name.to_string_lossy().into_owned()),
        description: None,
        stack: Stack {
            runtime: vec![".net"],
            language: vec!["c#"],
            framework: mentioned(&text, FRAMEWORKS).into_iter().take(1).collect(),
            ui: mentioned(&text, UIS).into_iter().take(1).collect(),
            testing: mentioned(&text, TESTS),
            database: mentioned(&text, DATABASES),
            build: vec!["MSBuild"],
            package_manager: vec!["nuget"],
        },
    })
}
