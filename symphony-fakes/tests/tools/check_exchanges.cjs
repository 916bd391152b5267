// Compares what Symphony's clients and the fake trackers exchanged (SYMPHONY_FAKES_RECORD) with what the real APIs promise:
// GitHub's OpenAPI description (@octokit/openapi) and Linear's schema.
//
//   node check_exchanges.cjs FOLDER OPENAPI.json [LINEAR_SCHEMA.graphql.gz QUERIES.rs]
//
// It prints one line for each kind of deviation, and ends with 1 if there is any. Before, it breaks some answers on purpose
// and checks that it notices.
'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const Ajv = require('ajv');
const addFormats = require('ajv-formats');
const graphql = require('graphql');
const { getVariableValues } = require('graphql/execution/values');

const [folder, openapiPath, schemaPath, queriesPath] = process.argv.slice(2);
const problems = new Map();
const report = (text) => problems.set(text, (problems.get(text) || 0) + 1);

const exchanges = fs
  .readdirSync(folder)
  .filter((name) => name.endsWith('.ndjson'))
  .flatMap((name) => fs.readFileSync(path.join(folder, name), 'utf8').split('\n'))
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line))
  // a fake is other servers too, such as the one with logs
  .filter((exchange) => !exchange.target.startsWith('/_'));

// --- GitHub

const api = JSON.parse(fs.readFileSync(openapiPath, 'utf8'));

// OpenAPI 3.0 has a word of its own for what may be null.
const withNull = (schema) => {
  for (const part of Object.values(schema)) if (part && typeof part === 'object') withNull(part);
  if (schema.nullable !== true) return;
  delete schema.nullable;
  if (typeof schema.type === 'string') {
    schema.type = [schema.type, 'null'];
    if (schema.enum && !schema.enum.includes(null)) schema.enum.push(null);
    return;
  }
  const rest = { ...schema };
  for (const name of Object.keys(schema)) delete schema[name];
  schema.anyOf = [rest, { type: 'null' }];
};
// Where the description forbids what GitHub answers: a comment whose lines are gone, and a label without a description.
api.components.schemas['pull-request-review-comment'].properties.line.nullable = true;
api.components.schemas['pull-request-simple'].properties.labels.items.properties.description.nullable = true;
withNull(api);

const ajv = new Ajv({ strict: false, allErrors: false, validateFormats: true });
addFormats(ajv);
ajv.addFormat('repo.nwo', true);
ajv.addSchema(api, 'api');
const escaped = (part) => encodeURIComponent(part.replace(/~/g, '~0').replace(/\//g, '~1'));

const routes = Object.keys(api.paths)
  .map((template) => {
    const pattern = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '([^/]+)');
    return { template, pattern: new RegExp(`^${pattern}$`), names: template.split('{').length };
  })
  // the route with the fewest names in it is meant
  .sort((a, b) => a.names - b.names);

// After a rename GitHub answers at an address with the repository's id, which the description does not have.
const byName = (target) => target.replace(/^\/repositories\/\d+/, '/repos/acme/web');

const resolved = (value) => {
  let found = value;
  while (found && found.$ref) {
    found = found.$ref.split('/').slice(1).reduce((at, part) => at[part], api);
  }
  return found;
};

const validators = new Map();
const validator = (pointer) => {
  if (!validators.has(pointer)) validators.set(pointer, ajv.compile({ $ref: `api#${pointer}` }));
  return validators.get(pointer);
};

// Fields that no variant of the schema has.
const unknownFields = (schema, value, at) => {
  const all = [];
  const collect = (part) => {
    const found = resolved(part);
    if (!found) return;
    all.push(found);
    for (const kind of ['allOf', 'oneOf', 'anyOf']) (found[kind] || []).forEach(collect);
  };
  collect(schema);
  if (Array.isArray(value)) {
    const items = all.map((part) => part.items).filter(Boolean);
    return value.flatMap((item) => unknownFields({ anyOf: items }, item, `${at}[]`));
  }
  if (value === null || typeof value !== 'object') return [];
  if (!all.some((part) => part.properties)) return [];
  return Object.keys(value).flatMap((name) => {
    const parts = all.map((part) => part.properties && part.properties[name]).filter(Boolean);
    return parts.length === 0 ? [`${at}.${name}`] : unknownFields({ anyOf: parts }, value[name], `${at}.${name}`);
  });
};

const checkBody = (what, pointer, schema, value) => {
  const check = validator(pointer);
  if (!check(value)) {
    const error = check.errors[check.errors.length - 1];
    report(`${what}: ${error.instancePath.replace(/\/\d+/g, '/N')} ${error.message} ${JSON.stringify(error.params)}`);
  }
  for (const field of unknownFields(schema, value, '')) report(`${what}: the description has no ${field}`);
};

// Refusals that every request can get and that the description does not repeat.
const GENERAL = new Set([301, 304, 307, 401, 403, 404, 410, 422, 429]);

const checkGithub = (exchange) => {
  const url = new URL(byName(exchange.target), 'http://x');
  const route = routes.find((known) => known.pattern.test(url.pathname));
  const method = exchange.method.toLowerCase();
  const operation = route && api.paths[route.template][method];
  const name = `${exchange.method} ${route ? route.template : url.pathname}`;
  if (!operation) return report(`${name}: the description has no such request`);
  const parameters = (operation.parameters || []).map(resolved).filter((one) => one.in === 'query');
  for (const [key, text] of url.searchParams) {
    const known = parameters.find((one) => one.name === key);
    if (!known) {
      report(`${name}: the description has no parameter ${key}`);
      continue;
    }
    const schema = resolved(known.schema);
    const value = schema.type === 'integer' ? Number(text) : text;
    if (!ajv.compile(schema)(value)) report(`${name}: parameter ${key} cannot be ${text}`);
  }
  const base = `/paths/${escaped(route.template)}/${method}`;
  const wanted = operation.requestBody && operation.requestBody.content['application/json'];
  if (wanted && exchange.body === '' && !operation.requestBody.required) return checkAnswer(name, base, operation, exchange);
  if (wanted) {
    checkBody(`${name}, request`, `${base}/requestBody/content/application~1json/schema`, wanted.schema, exchange.body);
  } else if (exchange.body !== '') {
    report(`${name}: the description has no body`);
  }
  return checkAnswer(name, base, operation, exchange);
};

const checkAnswer = (name, base, operation, exchange) => {
  const what = `${name}, answer ${exchange.status}`;
  const response = operation.responses[String(exchange.status)];
  if (!response) {
    if (!GENERAL.has(exchange.status)) report(`${what}: the description has no such status`);
    const error = '/components/schemas/basic-error';
    if (exchange.status !== 304) checkBody(what, error, api.components.schemas['basic-error'], exchange.answer);
    return undefined;
  }
  const content = (resolved(response).content || {})['application/json'];
  if (!content) {
    if (exchange.answer !== '') report(`${what}: the description has no body`);
    return undefined;
  }
  const pointer = response.$ref ? response.$ref.slice(1) : `${base}/responses/${exchange.status}`;
  return checkBody(what, `${pointer}/content/application~1json/schema`, content.schema, exchange.answer);
};

// --- Linear

let linear = null;
if (schemaPath) {
  const text = zlib.gunzipSync(fs.readFileSync(schemaPath)).toString('utf8');
  linear = graphql.buildSchema(text, { assumeValidSDL: true });
}
const seen = new Set();
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

const checkScalar = (type, value) => {
  switch (type.name) {
    case 'String': case 'ID': return typeof value === 'string';
    case 'Int': return Number.isInteger(value);
    case 'Float': return typeof value === 'number';
    case 'Boolean': return typeof value === 'boolean';
    case 'DateTime': return typeof value === 'string' && TIME.test(value);
    default: return true;
  }
};

const checkValue = (what, type, selections, fragments, value, at) => {
  if (graphql.isNonNullType(type)) {
    if (value === null || value === undefined) return report(`${what}: ${at} is null, which the schema forbids`);
    return checkValue(what, type.ofType, selections, fragments, value, at);
  }
  if (value === null) return undefined;
  if (graphql.isListType(type)) {
    if (!Array.isArray(value)) return report(`${what}: ${at} is not a list`);
    return value.forEach((item) => checkValue(what, type.ofType, selections, fragments, item, `${at}[]`));
  }
  if (graphql.isLeafType(type)) {
    const isGood = graphql.isEnumType(type) ? Boolean(type.getValue(value)) : checkScalar(type, value);
    return isGood ? undefined : report(`${what}: ${at} is no ${type.name}`);
  }
  return checkFields(what, type, selections, fragments, value, at);
};

const flat = (selections, fragments) =>
  selections.selections.flatMap((one) => {
    if (one.kind === 'Field') return [one];
    const set = one.kind === 'FragmentSpread' ? fragments[one.name.value].selectionSet : one.selectionSet;
    return flat(set, fragments);
  });

const checkFields = (what, type, selections, fragments, value, at) => {
  if (typeof value !== 'object') return report(`${what}: ${at} is not an object`);
  const asked = flat(selections, fragments);
  const names = new Set(asked.map((field) => (field.alias || field.name).value));
  for (const name of Object.keys(value)) if (!names.has(name)) report(`${what}: ${at}.${name} was not asked for`);
  for (const field of asked) {
    const name = field.name.value;
    const key = (field.alias || field.name).value;
    const fieldType = name === '__typename' ? graphql.GraphQLString : type.getFields()[name].type;
    if (!(key in value)) report(`${what}: ${at}.${key} is missing`);
    else checkValue(what, fieldType, field.selectionSet, fragments, value[key], `${at}.${key}`);
  }
  return undefined;
};

// Whether the schema itself refuses a query, before anything is looked up.
const isInvalid = (body) => {
  try {
    const document = graphql.parse(body.query);
    if (graphql.validate(linear, document).length > 0) return true;
    const operation = document.definitions.find((one) => one.kind === 'OperationDefinition');
    return Boolean(getVariableValues(linear, operation.variableDefinitions || [], body.variables || {}).errors);
  } catch (error) {
    return true;
  }
};

const checkLinear = (exchange) => {
  const code = exchange.answer.errors && exchange.answer.errors[0].extensions.code;
  if (/^GRAPHQL_/.test(code)) {
    if (!isInvalid(exchange.body)) report(`the fake refuses a query that the schema allows: ${exchange.body.query}`);
    return;
  }
  const document = graphql.parse(exchange.body.query);
  const operation = document.definitions.find((one) => one.kind === 'OperationDefinition');
  const name = operation.name ? operation.name.value : 'unnamed';
  seen.add(name);
  const invalid = graphql.validate(linear, document);
  for (const error of invalid) report(`${name}: ${error.message}`);
  if (invalid.length > 0) return;
  const definitions = operation.variableDefinitions || [];
  const coerced = getVariableValues(linear, definitions, exchange.body.variables || {});
  for (const error of coerced.errors || []) report(`${name}: ${error.message}`);
  if (!exchange.answer.data) return;
  const fragments = {};
  for (const one of document.definitions) if (one.kind === 'FragmentDefinition') fragments[one.name.value] = one;
  const root = operation.operation === 'mutation' ? linear.getMutationType() : linear.getQueryType();
  checkFields(name, root, operation.selectionSet, fragments, exchange.answer.data, 'data');
};

// --- all of it

const check = (exchange) => {
  if (exchange.api === 'github') checkGithub(exchange);
  else if (linear) checkLinear(exchange);
};

// An answer is broken on purpose; a check that accepts it would prove nothing.
const mustNotice = (what, exchange, spoil) => {
  if (!exchange) {
    console.error(`no exchange to try the check with: ${what}`);
    process.exit(1);
  }
  const spoiled = JSON.parse(JSON.stringify(exchange));
  spoil(spoiled);
  problems.clear();
  check(spoiled);
  if (problems.size === 0) {
    console.error(`the check does not notice ${what}`);
    process.exit(1);
  }
  problems.clear();
};

const find = (kind, isIt) => exchanges.find((one) => one.api === kind && isIt(one));
const issue = find('github', (one) => one.status === 200 && one.answer.number && !/comments|labels/.test(one.target));
mustNotice('a missing field of GitHub', issue, (one) => delete one.answer.node_id);
mustNotice('a field that GitHub does not have', issue, (one) => (one.answer.priority = 1));
mustNotice('a text where GitHub has a number', issue, (one) => (one.answer.user.id = 'x'));
mustNotice('an unknown parameter', issue, (one) => (one.target += '?colour=red'));
const comment = find('github', (one) => one.method === 'POST' && /comments$/.test(one.target) && one.status === 201);
mustNotice('a request without what GitHub requires', comment, (one) => (one.body = {}));
const pull = find('github', (one) => one.method === 'GET' && /pulls\/\d+$/.test(one.target) && one.status === 200);
mustNotice('a missing field of a pull request', pull, (one) => delete one.answer.head.sha);
const run = find('github', (one) => /check-runs\?/.test(one.target) && one.status === 200 && one.answer.check_runs.length > 0);
mustNotice('an unknown conclusion of a check', run, (one) => (one.answer.check_runs[0].conclusion = 'splendid'));
const merge = find('github', (one) => one.method === 'PUT' && one.status === 200);
mustNotice('an unknown way of merging', merge, (one) => (one.body.merge_method = 'octopus'));
if (linear) {
  const page = find('linear', (one) => one.answer.data && /SymphonyChangedIssues/.test(one.body.query) && one.answer.data.issues.nodes.length > 0);
  mustNotice('a field that Linear does not have', page, (one) => (one.body.query = one.body.query.replace('identifier', 'colour')));
  mustNotice('a missing field of Linear', page, (one) => delete one.answer.data.issues.nodes[0].id);
  mustNotice('null where Linear has a value', page, (one) => (one.answer.data.issues.nodes[0].title = null));
  mustNotice('a variable of another type', page, (one) => (one.body.variables.first = 'many'));
}

exchanges.forEach(check);
if (linear) {
  const names = [...fs.readFileSync(queriesPath, 'utf8').matchAll(/(?:query|mutation) (Symphony\w+)/g)].map((found) => found[1]);
  for (const name of names) if (!seen.has(name)) report(`the query ${name} was never sent`);
}
for (const [text, count] of [...problems].sort()) console.error(`${count} × ${text}`);
const count = (kind) => exchanges.filter((one) => one.api === kind).length;
console.log(`${count('github')} exchanges with GitHub and ${linear ? count('linear') : 'no'} with Linear were compared: ${problems.size} deviations`);
process.exit(problems.size === 0 ? 0 : 1);
