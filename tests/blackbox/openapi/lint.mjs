// lint.mjs - holds a published document against Spectral's ruleset for OpenAPI and Redocly's recommended one.
//
//   node lint.mjs FILE
//
// Nothing they say is switched off.  What is right all the same stands in ALLOWED with the reason, and must be said: a row that is
// no longer needed fails.  Types whose operations are still to come carry x-to-come in the document, and are the only ones that
// may be unused.  One line for each failure; the last line is "N passed, N failed".
import { readFileSync } from "node:fs";
import spectral from "@stoplight/spectral-core";
import parsers from "@stoplight/spectral-parsers";
import rulesets from "@stoplight/spectral-rulesets";
import { createConfig, lintFromString } from "@redocly/openapi-core";

const ALLOWED = [
  // A browser is sent to the provider: there is no answer of its own.
  { rule: "operation-2xx-response", place: "#/paths/~1auth~1oidc~1{provider}~1start/get/responses" },
  // An id is no word of a path: mail/{message_id}/raw is never mail/threads/{thread_id}.
  { rule: "no-ambiguous-paths", place: "#/paths/~1tenant~1{tenant_id}~1agents~1{agent_id}~1mail~1threads~1{thread_id}" },
];
const UNUSED = ["oas3-unused-component", "no-unused-components"];

async function spectralFinds(text) {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [[rulesets.oas, "recommended"]] });
  const found = await linter.run(new spectral.Document(text, parsers.Json, "openapi.json"));
  return found.map((one) => ({
    rule: one.code,
    place: `#/${one.path.map((part) => String(part).replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`,
    text: one.message,
  }));
}

async function redoclyFinds(text) {
  const config = await createConfig({ extends: ["recommended"] });
  const found = await lintFromString({ source: text, absoluteRef: "openapi.json", config });
  return found.map((one) => ({ rule: one.ruleId, place: one.location[0]?.pointer ?? "", text: one.message }));
}

async function main([file]) {
  if (!file) {
    console.error("Usage: node lint.mjs FILE");
    return 2;
  }
  const text = readFileSync(file, "utf8");
  const { schemas } = JSON.parse(text).components;
  const toCome = Object.keys(schemas).filter((name) => schemas[name]["x-to-come"]);
  const rows = [
    ...ALLOWED,
    ...toCome.flatMap((name) => UNUSED.map((rule) => ({ rule, place: `#/components/schemas/${name}` }))),
  ];
  const needed = new Set();
  let failed = 0;
  for (const one of [...(await spectralFinds(text)), ...(await redoclyFinds(text))]) {
    const row = rows.find(({ rule, place }) => rule === one.rule && place === one.place);
    if (row) {
      needed.add(row);
    } else {
      failed++;
      console.log(`${one.rule}: ${one.place}: ${one.text}`);
    }
  }
  for (const row of rows) {
    if (needed.has(row)) continue;
    failed++;
    console.log(`${row.rule}: ${row.place}: is allowed, and nothing says it any more`);
  }
  console.log(`${needed.size + 2} passed, ${failed} failed`);
  return failed ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
