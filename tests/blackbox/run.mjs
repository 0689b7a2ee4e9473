// run.mjs - runs the black-box tests against the program itself.
//
//   node tests/blackbox/run.mjs [-v] [FILE | -FILE | FILE*]... [--only=PART]
//
// LODGE_BIN names the program (build-test/lodge otherwise), LODGE_TEST_POSTGRES a PostgreSQL (one
// is started otherwise), LODGE_KILLS how often kill.test.mjs kills.  One line for each failure;
// the last line is "N passed, N failed".
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { beginFile, endingsOf, here, Scope, startCluster, tests, within } from "./harness.mjs";

const words = process.argv.slice(2);
const verbose = words.includes("-v");
const only = words.find((w) => w.startsWith("--only="))?.slice(7) ?? "";
const bare = (word) => basename(word).replace(/\.test\.mjs$/, "");
const named = words.filter((w) => !w.startsWith("-")).map(bare);
const left = words.filter((w) => /^-[^-]./.test(w)).map((w) => bare(w.slice(1)));
const fits = (list, f) => list.some((w) => (w.endsWith("*") ? bare(f).startsWith(w.slice(0, -1)) : bare(f) === w));
const files = readdirSync(here).filter((f) => f.endsWith(".test.mjs")).sort()
  .filter((f) => (named.length === 0 || fits(named, f)) && !fits(left, f));

let passed = 0;
let failed = files.length ? 0 : 1;
if (failed) console.log(`there is no such test: ${named.join(" ")}`);

function fail(label, err) {
  failed++;
  console.log(`FAILED ${label}: ${err.constructor.name === "Failure" ? err.message : err.stack}`);
}

/** Milliseconds of processor time of this process and of all that it has started and that are over. */
function processorTime() {
  const fields = readFileSync("/proc/self/stat", "utf8").replace(/^.*\) /, "").split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

async function runOne({ file, name, run, ms }) {
  const label = `${file}: ${name}`;
  const scope = new Scope();
  const began = Date.now();
  const spent = processorTime();
  let fault = null;
  try {
    await within(ms, Promise.resolve().then(() => run(scope)), "the whole test");
  } catch (err) {
    fault = err;
  }
  try {
    await scope.end();
  } catch (err) {
    fault ??= err;
  }
  if (fault) fail(label, fault);
  else passed++;
  if (verbose) console.log(`${fault ? "failed" : "passed"} ${label} (${Date.now() - began} ms, ${processorTime() - spent} of a processor)`);
}

process.on("unhandledRejection", () => {}); // a race that was lost has been reported by its winner

for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

let cluster = null;
process.on("exit", () => cluster?.stop());
if (!process.env.LODGE_TEST_POSTGRES) {
  cluster = startCluster();
  process.env.LODGE_TEST_POSTGRES = cluster.url;
}
for (const file of files) {
  const name = file.replace(/\.test\.mjs$/, "");
  beginFile(name);
  await import(pathToFileURL(join(here, file)).href);
  for (const one of tests.filter((t) => t.file === name && t.name.includes(only))) await runOne(one);
  for (const { end } of endingsOf(name)) {
    try {
      await end();
    } catch (err) {
      fail(`${name}: its end`, err);
    }
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
