// check.mjs - holds a published document against OpenAPI 3.1, and against itself.
//
//   node check.mjs FILE
//
// One line for each failure; the last line is "N passed, N failed", and the
// exit status is 1 if any failed.
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv2020 from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
// What the document says beyond JSON Schema; see the description in its info.
const OURS = ["x-max", "x-default", "x-enum", "x-label", "x-unit", "x-long", "x-unused", "x-any", "x-to-come"];

let passed = 0;
let failed = 0;

function check(good, sentence) {
  if (good) {
    passed++;
  } else {
    failed++;
    console.log(sentence);
  }
}

// Every object in the document with its place, as a JSON pointer.
function* walk(value, place = "#") {
  if (value === null || typeof value !== "object") return;
  if (!Array.isArray(value)) yield [value, place];
  for (const [key, child] of Object.entries(value)) {
    yield* walk(child, `${place}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
}

function lookUp(doc, ref) {
  return ref
    .slice(2)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((at, part) => at?.[part], doc);
}

const resolve = (doc, value) => (value?.$ref ? lookUp(doc, value.$ref) : value);

function operations(doc) {
  return Object.entries(doc.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      item,
      operation: item[method],
    })),
  );
}

async function checkStandard(doc) {
  const { valid, errors } = await new Validator().validate(structuredClone(doc));
  check(doc.openapi === "3.1.0", `the document is of version ${doc.openapi}`);
  check(valid, `not OpenAPI 3.1: ${JSON.stringify(errors)?.slice(0, 2000)}`);
}

// Examples may hold anything, so a "$ref" in one is not a reference.
function checkRefs(doc) {
  for (const [value, place] of walk(doc)) {
    if (typeof value.$ref !== "string" || place.includes("/value/")) continue;
    check(
      value.$ref.startsWith("#/") && lookUp(doc, value.$ref) !== undefined,
      `${place}: ${value.$ref} leads nowhere`,
    );
  }
}

function checkOperations(doc) {
  const seen = new Map();
  for (const { name, path, item, operation } of operations(doc)) {
    const id = operation.operationId;
    check(id && !seen.has(id), `${name}: the operation id ${id} is also at ${seen.get(id)}`);
    seen.set(id, name);
    const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]).sort();
    const declared = [...(item.parameters ?? []), ...(operation.parameters ?? [])]
      .map((parameter) => resolve(doc, parameter))
      .filter((parameter) => parameter?.in === "path")
      .map((parameter) => parameter.name)
      .sort();
    check(
      inPath.join() === declared.join(),
      `${name}: the path has ${inPath.join() || "no parameters"}, declared are ${declared.join() || "none"}`,
    );
    check(operation.summary?.length > 0, `${name}: has no summary`);
    check(operation.description?.length > 0, `${name}: has no description`);
    check(operation["x-permission"]?.length > 0, `${name}: names no permission`);
    check(
      Object.keys(operation.responses).some((status) => /^[23]/.test(status)),
      `${name}: has no way to succeed`,
    );
  }
}

class Schemas {
  constructor(doc) {
    this.ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
    addFormats(this.ajv);
    this.ajv.addVocabulary([...OURS, "components", "discriminator"]);
    this.ajv.addSchema({ $id: "lodge:document", components: { schemas: doc.components.schemas } });
  }

  // The same schema, wherever it stands: its references are those of the document.
  compiled(schema, place) {
    const text = JSON.stringify(schema).replaceAll('"#/', '"lodge:document#/');
    this.known ??= new Map();
    if (!this.known.has(text)) {
      try {
        this.known.set(text, this.ajv.compile(JSON.parse(text)));
      } catch (error) {
        check(false, `${place}: the schema does not compile: ${error.message}`);
        this.known.set(text, null);
      }
    }
    return this.known.get(text);
  }

  check(schema, value, place) {
    const validate = this.compiled(schema, place);
    if (!validate) return;
    const good = validate(value);
    check(good, `${place}: ${this.ajv.errorsText(validate.errors, { dataVar: "it" })}`);
  }

  refuse(schema, value, place) {
    const validate = this.compiled(schema, place);
    if (validate) check(!validate(value), `${place}: takes ${JSON.stringify(value)}`);
  }
}

// Each named example belongs to the schema of its name; so do the ones at bodies and replies.
function checkExamples(doc, schemas) {
  for (const [name, example] of Object.entries(doc.components.examples)) {
    check(doc.components.schemas[name], `the example ${name} has no schema`);
    schemas.check({ $ref: `#/components/schemas/${name}` }, example.value, `example ${name}`);
  }
  for (const [value, place] of walk(doc)) {
    if (place.includes("/value/") || !value.schema) continue;
    if (/\/content\/application~1json$/.test(place) && place.startsWith("#/paths") && value.schema.$ref) {
      check(value.examples, `${place}: has no example`);
    }
    if ("example" in value) schemas.check(value.schema, value.example, `${place}/example`);
    for (const [name, example] of Object.entries(value.examples ?? {})) {
      schemas.check(value.schema, resolve(doc, example).value, `${place}/examples/${name}`);
    }
  }
}

// A stream says what its events are, each by a schema that compiles and does not take just anything.
function checkEvents(doc, schemas) {
  for (const { name, operation } of operations(doc)) {
    for (const answer of Object.values(operation.responses)) {
      const stream = resolve(doc, answer).content?.["text/event-stream"];
      for (const [event, { description, schema }] of Object.entries(stream?.["x-events"] ?? {})) {
        const place = `${name}: event ${event}`;
        check(description?.length > 0, `${place}: has no description`);
        schemas.refuse(schema, { nobody: "told this" }, place);
        schemas.refuse(stream.schema, { nobody: "told this" }, `${place}: as the stream's`);
      }
    }
  }
  for (const { name, operation } of operations(doc)) {
    const stream = Object.values(operation.responses)
      .map((answer) => resolve(doc, answer).content?.["text/event-stream"])
      .find((content) => content);
    if (stream) check(stream["x-events"], `${name}: does not say what it tells`);
  }
}

// A default must be acceptable itself, the contract's and ours.
function checkDefaults(doc, schemas) {
  for (const [name, schema] of Object.entries(doc.components.schemas)) {
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      const place = `${name}.${field}`;
      check(property.description?.length > 0, `${place}: has no description`);
      if ("default" in property) schemas.check(property, property.default, `${place}: default`);
      if ("x-default" in property) {
        schemas.check(property, property["x-default"], `${place}: x-default`);
      }
    }
  }
}

async function main([file]) {
  if (!file) {
    console.error("Usage: node check.mjs FILE");
    return 2;
  }
  const doc = JSON.parse(readFileSync(file, "utf8"));
  await checkStandard(doc);
  checkRefs(doc);
  checkOperations(doc);
  const schemas = new Schemas(doc);
  checkExamples(doc, schemas);
  checkEvents(doc, schemas);
  checkDefaults(doc, schemas);
  console.log(`${passed} passed, ${failed} failed`);
  return failed ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
