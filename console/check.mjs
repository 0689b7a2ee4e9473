// check.mjs - what must hold of the console before it is put into the program.
//
//   node check.mjs [PROGRAM]          PROGRAM is a lodge; without it the contract is not compared
//
// The types fit, the contract is the program's own, dist/ is what the sources give, the sizes keep within their bounds,
// nothing makes markup of text, what differs between texts is found, and every pair of colours can be read.  One line for each fault; the last line is
// "N passed, N failed".
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gzipSync } from "node:zlib";
import { build } from "esbuild";
import { bundle } from "./build.mjs";
import { made, readDocument } from "./contract.mjs";
import { foreign } from "./help.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const FIRST_JS = 25_000, FIRST_CSS = 12_000, ANY_SCREEN = 100_000, ALL = 350_000;

let passed = 0, failed = 0;
async function check(name, run) {
  try {
    const said = await run();
    passed++;
    if (said) console.log(`${name}: ${said}`);
  } catch (err) {
    failed++;
    console.log(`FAILED ${name}: ${err.message}`);
  }
}
const must = (good, sentence) => {
  if (!good) throw new Error(sentence);
};
const walk = (folder) => readdirSync(folder, { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? walk(join(folder, e.name)) : [join(folder, e.name)]));
const gzip = (data) => gzipSync(data, { level: 9 }).length;
const kb = (n) => `${(n / 1000).toFixed(1)} kB`;

await check("types", () => {
  try {
    execFileSync(process.execPath, [join(here, "node_modules/typescript/bin/tsc"), "-p", here], { encoding: "utf8" });
  } catch (err) {
    throw new Error(`\n${err.stdout}`);
  }
});

if (process.argv[2])
  await check("contract", () => {
    for (const [name, text] of Object.entries(made(readDocument(process.argv[2]))))
      must(readFileSync(join(here, name), "utf8") === text, `${name} is not what the program's document gives; run: node contract.mjs PROGRAM`);
  });

const { files, screens, first, style } = await bundle();

await check("dist", () => {
  const dist = join(here, "dist");
  must(existsSync(dist), "there is none; run: node build.mjs");
  const there = walk(dist).map((path) => relative(dist, path)).filter((path) => !path.endsWith(".br"));
  const differ = [...new Set([...there, ...files.keys()])].filter((path) => !files.has(path) || !there.includes(path) || !readFileSync(join(dist, path)).equals(files.get(path)));
  must(differ.length === 0, `is not what the sources give (${differ.join(", ")}); run: node build.mjs`);
  for (const path of walk(dist).filter((p) => p.endsWith(".br")))
    must(brotliDecompressSync(readFileSync(path)).equals(readFileSync(path.slice(0, -3))), `${path} is another file's`);
});

await check("the same bytes again", async () => {
  const again = (await bundle()).files;
  for (const [path, data] of files) must(again.get(path)?.equals(data), `${path} differs from one build to the next`);
});

const size = (paths) => paths.reduce((sum, path) => sum + gzip(files.get(path)), 0);
await check("first screen", () => {
  // Signing in is what a stranger sees first.
  const js = size(screens.get("sign-in") ?? first), css = gzip(files.get(style));
  must(js <= FIRST_JS, `${kb(js)} of script, and ${kb(FIRST_JS)} are allowed`);
  must(css <= FIRST_CSS, `${kb(css)} of style, and ${kb(FIRST_CSS)} are allowed`);
  return `${kb(js)} of script, ${kb(css)} of style`;
});
await check("every screen", () => {
  const sizes = [...screens].map(([name, paths]) => [name, size(paths) + gzip(files.get(style))]).sort((a, b) => b[1] - a[1]);
  for (const [name, n] of sizes) must(n <= ANY_SCREEN, `${name} is ${kb(n)}, and ${kb(ANY_SCREEN)} are allowed`);
  return sizes.map(([name, n]) => `${name} ${kb(n)}`).join(", ");
});
await check("all of it", () => {
  const all = [...files].reduce((sum, [path, data]) => sum + (path.endsWith(".woff2") ? data.length : gzip(data)), 0);
  must(all <= ALL, `${kb(all)}, and ${kb(ALL)} are allowed`);
  return kb(all);
});

await check("text stays text", () => {
  const banned = /\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySetInnerHTML|new Function|eval)\b|style=(?:"|\{`)/;
  for (const path of walk(join(here, "src")).filter((p) => !p.includes("/contract/") && /\.tsx?$/.test(p)))
    readFileSync(path, "utf8").split("\n").forEach((line, i) => must(!banned.test(line), `${relative(here, path)}:${i + 1}: ${line.trim()}`));
  const html = files.get("index.html").toString();
  must(!/<style|\son\w+=|\sstyle=|<script(?![^>]*\ssrc=)/.test(html), "index.html has something inline");
  for (const [path, data] of files) must(!/https?:\/\/(?!www\.w3\.org\/)[a-z]/.test(path.endsWith(".css") ? data.toString() : ""), `${path} names another site`);
});

await check("forms speak to people", () => {
  const sources = walk(join(here, "src")).filter((p) => !p.includes("/contract/") && p.endsWith(".tsx")).map((p) => readFileSync(p, "utf8"));
  const used = new Set(sources.flatMap((text) => [...text.matchAll(/^import \{([^}]*)\} from "[./]*contract\/forms"/gm)].flatMap((m) => m[1].split(",").map((name) => name.trim()))));
  const forms = [...readFileSync(join(here, "src/contract/forms.ts"), "utf8").matchAll(/^export const (\w+): Form = (.*);$/gm)].filter(([, name]) => used.has(name));
  for (const [, name, fields] of forms)
    for (const f of JSON.parse(fields)) must(f.unused || !foreign(f.help), `the help of ${name}.${f.name} says "${foreign(f.help)}": ${f.help}`);
  return `${forms.length} of them`;
});

// ---- what differs ----

/** How many lines two texts have in common, at most: slowly, and surely. */
function common(a, b) {
  const best = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) best[i][j] = a[i] === b[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  return best[0][0];
}
await check("differences", async () => {
  const made = await build({ absWorkingDir: here, entryPoints: ["src/lib/diff.ts"], bundle: true, format: "esm", write: false });
  const { compare, linesOf } = await import(`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].contents).toString("base64")}`);
  const side = (rows, name) => rows.filter((r) => r[name]).map((r) => r[name].pieces.map((p) => p.text).join("")).join("\n");
  const marked = (rows, name) => rows.flatMap((r) => r[name]?.pieces.filter((p) => p.marked).map((p) => p.text) ?? []).join("|");
  let seed = 7;
  const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
  const text = () => Array.from({ length: random(24) }, () => "abcd"[random(4)]).join("\n");
  for (let i = 0; i < 2000; i++) {
    const a = text(), b = text(), rows = compare(a, b), told = JSON.stringify([a, b]);
    must(side(rows, "left") === linesOf(a).join("\n") && side(rows, "right") === linesOf(b).join("\n"), `the sides are not given back: ${told}`);
    must(rows.filter((r) => r.kind === "same").length === common(linesOf(a), linesOf(b)), `more stays than it says: ${told}`);
  }
  const words = compare("Answer in two lines.", "Answer in three short lines.");
  must(marked(words, "left") === "two" && marked(words, "right") === "three short", "the words that differ are not marked");
  const began = performance.now(), long = compare("x".repeat(2e6), `${"x".repeat(1e6)}y`), many = compare(Array.from({ length: 20_000 }, () => random(1e9)).join("\n"), Array.from({ length: 20_000 }, () => random(1e9)).join("\n"));
  must(side(long, "right").includes("xy") && side(long, "right").length < 3000, "a long line is not cut to where it differs");
  must(many.length === 20_000 && performance.now() - began < 5000, "texts that have nothing in common take too long");
});

// ---- contrast ----

function tokens() {
  const css = readFileSync(join(here, "src/style/tokens.css"), "utf8");
  return Object.fromEntries([...css.matchAll(/--([\w-]+):\s*light-dark\((#\w{6}),\s*(#\w{6})\)/g)].map((m) => [m[1], [m[2], m[3]]]));
}
const channel = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const luminance = (hex) => [1, 3, 5].map((i) => channel(parseInt(hex.slice(i, i + 2), 16) / 255)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => {
  const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};
await check("contrast", () => {
  const all = tokens();
  const grounds = ["bg", "sunken", "raised"];
  const pairs = ["ink", "muted", "lake", "pine", "ember", "danger"].flatMap((fg) => [...grounds, ...(all[`${fg}-tint`] ? [`${fg}-tint`] : [])].map((bg) => [fg, bg, 4.5]));
  for (const bg of grounds) pairs.push(["control", bg, 3], ["code-word", bg, 4.5], ["code-string", bg, 4.5], ["code-number", bg, 4.5]);
  pairs.push(["bg", "ink", 4.5], ["raised", "danger", 4.5]);
  for (const [fg, bg, least] of pairs)
    for (const theme of [0, 1]) {
      must(all[fg] && all[bg], `there is no ${fg} or no ${bg}`);
      const ratio = contrast(all[fg][theme], all[bg][theme]);
      must(ratio >= least, `${fg} on ${bg}, ${theme ? "dark" : "light"}: ${ratio.toFixed(2)}, and ${least} is needed`);
    }
  return `${pairs.length} pairs in two themes`;
});

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
