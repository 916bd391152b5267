//! What the packages of Node projects are for.

use super::ecosystem::Meanings;

pub(super) const FRAMEWORKS: &Meanings = &[
    ("next", "Next.js"),
    ("nuxt", "Nuxt"),
    ("@remix-run/react", "Remix"),
    ("@react-router/dev", "React Router"),
    ("@sveltejs/kit", "SvelteKit"),
    ("astro", "Astro"),
    ("gatsby", "Gatsby"),
    ("@nestjs/core", "NestJS"),
    ("electron", "Electron"),
    ("expo", "Expo"),
    ("express", "Express"),
    ("fastify", "Fastify"),
    ("hono", "Hono"),
    ("elysia", "Elysia"),
    ("koa", "Koa"),
    ("@hapi/hapi", "hapi"),
    ("@angular/core", "Angular"),
];

pub(super) const UIS: &Meanings = &[
    ("ink", "Ink (Terminal UI)"),
    ("@opentui/core", "OpenTUI (Terminal UI)"),
    ("react-native", "React Native"),
    ("@angular/core", "Angular"),
    ("vue", "Vue"),
    ("svelte", "Svelte"),
    ("solid-js", "Solid"),
    ("preact", "Preact"),
    ("lit", "Lit"),
    ("react", "React"),
];

pub(super) const DATABASES: &Meanings = &[
    ("prisma", "Prisma"),
    ("@prisma/client", "Prisma"),
    ("drizzle-orm", "Drizzle"),
    ("typeorm", "TypeORM"),
    ("sequelize", "Sequelize"),
    ("knex", "Knex"),
    ("pg", "PostgreSQL"),
    ("postgres", "PostgreSQL"),
    ("mysql2", "MySQL"),
    ("better-sqlite3", "SQLite"),
    ("sqlite3", "SQLite"),
    ("sqlite", "SQLite"),
    ("mongodb", "MongoDB"),
    ("mongoose", "MongoDB"),
    ("redis", "Redis"),
    ("ioredis", "Redis"),
];
