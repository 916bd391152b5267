//! Every key of the table is taken, in both spellings, and has the documented default.

use serde_json::{Map, Value, json};
use symphony_core::config::key::{DefaultValue, KeyRow, rows};
use symphony_core::config::{FileRole, KEYS};

use super::{file, project_file};

/// Fills in the placeholders of a row's path.
fn concrete(path: &str) -> String {
    let names = [
        ("<type>", "judge"),
        ("<phase>", "research"),
        ("<NAME>", "A"),
        ("<tracker>", "forge"),
        ("<status>", "review"),
        ("<priority>", "high"),
        ("<user>", "ada"),
        ("<name>", "goose"),
    ];
    names
        .iter()
        .fold(path.to_owned(), |path, (placeholder, name)| {
            path.replace(placeholder, name)
        })
}

/// Puts a value at a row's path, placeholders filled in.
fn at_path(path: &str, value: &Value) -> Value {
    concrete(path)
        .rsplit('.')
        .fold(value.clone(), |inner, name| {
            let mut object = Map::new();
            if let Some(name) = name.strip_suffix("[]") {
                let mut gate = json!({ "name": "n", "command": "c" });
                let (gate_keys, inner_keys) = (gate.as_object_mut(), inner.as_object());
                gate_keys.expect("a gate is an object").extend(
                    inner_keys
                        .expect("a key of a gate stands in an object")
                        .clone(),
                );
                object.insert(name.to_owned(), json!([gate]));
            } else {
                object.insert(name.to_owned(), inner);
            }
            Value::Object(object)
        })
}

fn camel(path: &str) -> String {
    let mut text = String::new();
    let mut upper = false;
    for character in path.chars() {
        match character {
            '_' => upper = true,
            c if upper => {
                text.push(c.to_ascii_uppercase());
                upper = false;
            }
            c => text.push(c),
        }
    }
    text
}

#[test]
fn every_key_takes_its_default_or_example_in_both_spellings() {
    let mut leaves = 0;
    for row in rows(KEYS)
        .iter()
        .filter(|row| row.leaf.is_some() && !row.path.ends_with('>'))
        .filter(|row| !is_of_user(row))
    {
        leaves += 1;
        let value: Value = serde_json::from_str(&row.key.shown_json()).unwrap();
        for path in [row.path.clone(), camel(&row.path)] {
            let (document, problems) = project_file(&at_path(&path, &value));
            assert_eq!(problems, [], "{path} = {value}");
            assert_eq!(document.top.iter().count(), 1, "{path}");
        }
        if matches!(row.key.default, DefaultValue::Unset(_)) && !row.path.starts_with("gates") {
            let (document, problems) = project_file(&at_path(&row.path, &Value::Null));
            assert_eq!(problems, [], "{} = null", row.path);
            assert_eq!(document.top.iter().count(), 1, "{}", row.path);
        } else {
            assert_ne!(
                project_file(&at_path(&row.path, &Value::Null)).1,
                [],
                "{}",
                row.path
            );
        }
    }
    assert!(leaves > 100, "only {leaves} keys were tried");
}

#[test]
fn every_key_refuses_a_value_of_no_type_and_names_its_path() {
    let nothing = json!({ "no": { "such": "value" } });
    let rows = rows(KEYS);
    let leaves = rows.iter().filter(|row| row.leaf.is_some());
    for row in leaves.filter(|row| !is_of_user(row)) {
        let (document, problems) = project_file(&at_path(&row.path, &nothing));
        assert_eq!(problems.len(), 1, "{}: {problems:?}", row.path);
        let path = problems[0].path.to_string();
        assert_eq!(path, concrete(&row.path).replace("[]", "[0]"));
        assert!(document.top.is_empty(), "{path}");
    }
}

/// A user has all keys or none: `a_user_has_a_name_a_role_and_the_hash_of_a_token` tries them.
fn is_of_user(row: &KeyRow) -> bool {
    row.path.starts_with("web.users.")
}

#[test]
fn a_user_has_a_name_a_role_and_the_hash_of_a_token() {
    let hash = format!("sha256:{}", "0f".repeat(32));
    let user = |name: &str, user: Value| json!({ "web": { "users": { name: user } } });
    let good = json!({ "role": "reviewer", "token": hash });
    let (document, problems) = project_file(&user("ada", good.clone()));
    assert_eq!(problems, []);
    let set: Vec<String> = document
        .top
        .iter()
        .map(|(path, _)| path.to_string())
        .collect();
    assert_eq!(set, ["web.users.ada.role", "web.users.ada.token"]);
    for (name, value, at, message) in [
        (
            "ada",
            json!({ "role": "reviewer" }),
            "web.users.ada",
            "`token`",
        ),
        ("ada", json!({ "token": hash }), "web.users.ada", "`role`"),
        (
            "ada",
            json!({ "role": null, "token": hash }),
            "web.users.ada",
            "`role`",
        ),
        (
            "ada",
            json!({ "role": "owner", "token": hash }),
            "web.users.ada.role",
            "`viewer`, `reviewer`, `admin`",
        ),
        (
            "ada",
            json!({ "role": "admin", "token": "0f".repeat(32) }),
            "web.users.ada.token",
            "the hash of a token",
        ),
        (
            "ada",
            json!({ "role": "admin", "token": hash, "email": "a" }),
            "web.users.ada.email",
            "unknown key",
        ),
        ("Ada", good.clone(), "web.users.Ada", "a valid user name"),
        ("judge", good, "web.users.judge", "a valid user name"),
    ] {
        let (_, problems) = project_file(&user(name, value.clone()));
        assert_eq!(problems.len(), 1, "{name} {value}: {problems:?}");
        assert_eq!(problems[0].path.to_string(), at, "{value}");
        let text = problems[0].to_string();
        assert!(text.contains(message), "{text}");
        assert!(
            !text.contains("0f0f"),
            "a token may have been pasted: {text}"
        );
    }
}

#[test]
fn whole_numbers_have_both_limits() {
    use symphony_core::config::key::Leaf;
    for row in rows(KEYS) {
        if let Some(Leaf::Integer { min, max }) = row.leaf {
            for good in [min, max] {
                let (_, problems) = project_file(&at_path(&row.path, &json!(good)));
                assert_eq!(problems, [], "{} = {good}", row.path);
            }
            for bad in [json!(max + 1), json!(-1), json!(0.5), json!("1")] {
                let (_, problems) = project_file(&at_path(&row.path, &bad));
                let expected = format!("a whole number from {min} to {max}");
                assert_eq!(
                    problems[0].expected(),
                    Some(expected.as_str()),
                    "{} = {bad}",
                    row.path
                );
            }
            if min > 0 {
                assert_ne!(
                    project_file(&at_path(&row.path, &json!(min - 1))).1,
                    [],
                    "{}",
                    row.path
                );
            }
        }
    }
}

#[test]
fn project_keys_stand_in_a_section_and_others_do_not() {
    use symphony_core::config::key::Scope;
    for key in KEYS {
        let value: Value = match key.default {
            DefaultValue::Below => json!({}),
            _ => serde_json::from_str(&key.shown_json()).unwrap(),
        };
        let section = json!({ "projects": { "api": { key.name: value.clone() } } });
        let allowed = file(&section, FileRole::Global).1.is_empty();
        assert_eq!(
            allowed,
            key.scope != Scope::TopLevel,
            "projects.api.{}",
            key.name
        );
        let allowed = file(&json!({ key.name: value }), FileRole::Global)
            .1
            .is_empty();
        assert_eq!(
            allowed,
            key.scope != Scope::OneProject,
            "{} in the global file",
            key.name
        );
    }
}
