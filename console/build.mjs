// build.mjs - builds the console: src/ and public/ into dist/, which tools/embed-console puts into the program.
//
//   node build.mjs [FOLDER]           FOLDER is dist/ otherwise
//
// One chunk a screen, names with the hash of their content, the same bytes for the same sources.  Beside each file that
// compresses lies its brotli form; gzip is made when the program is built.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const FONTS = [
  ["Atkinson Hyperlegible Next", "@fontsource-variable/atkinson-hyperlegible-next", "atkinson-hyperlegible-next-latin-wght-normal", "200 800"],
  ["Atkinson Hyperlegible Mono", "@fontsource-variable/atkinson-hyperlegible-mono", "atkinson-hyperlegible-mono-latin-wght-normal", "200 800"],
];
// What runs in the browser, or is seen there; their terms go with it.
const PACKAGES = ["preact", "@preact/signals", "@preact/signals-core", "marked", ...FONTS.map((f) => f[1])];

const hashOf = (data) => createHash("sha256").update(data).digest("hex").slice(0, 8).toUpperCase();
const squeeze = (data) => brotliCompressSync(data, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: data.length } });

const options = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome111", "firefox121", "safari16.4"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
  write: false,
  metafile: true,
  logLevel: "warning",
  outdir: "/out",
};

const AHEAD = "%AHEAD%";

/** "chunk chunk …|frame's|pattern=its screen's;…": what lib/ahead.ts reads; chunks are named once, and else by their place in that list. */
function ahead(outputs, withImports, first, frame) {
  const source = readFileSync(join(here, "src/routes.ts"), "utf8");
  const named = new Map([...source.matchAll(/const (\w+): .*import\("\.\/screens\/(\S+)"\)/g)].map(([, name, file]) => [name, file]));
  const chunks = [];
  const places = (paths) => [...paths].filter((p) => !first.has(p)).map((p) => {
    const name = p.slice("assets/".length, -".js".length);
    if (!chunks.includes(name)) chunks.push(name);
    return chunks.indexOf(name).toString(36);
  }).join(" ");
  const framed = places(frame);
  const routes = [...source.matchAll(/path: "([^"]+)".*?load: (?:(\w+)|\(\) => import\("\.\/screens\/([^"]+)"\))/g)].map(([, path, name, file = named.get(name)]) => {
    const screen = outputs.find((o) => o.entryPoint === `src/screens/${file}.tsx`);
    return `${path}=${places([...withImports(screen.path)].filter((p) => !frame.has(p)))}`;
  });
  return `${chunks.join(" ")}|${framed}|${routes.join(";")}`;
}

/** Everything that dist/ holds: {files: Map of path to bytes, screens: Map of screen to its chunks}. */
export async function bundle() {
  const files = new Map();
  const put = (path, data) => files.set(path, Buffer.from(data));
  const named = (path, data) => {
    const dot = path.lastIndexOf(".");
    const full = `assets/${path.slice(0, dot)}-${hashOf(data)}${path.slice(dot)}`;
    put(full, data);
    return full;
  };

  const faces = FONTS.map(([family, pack, file, weights]) => {
    const path = named(`${file.replace(/-latin.*/, "")}.woff2`, readFileSync(join(here, "node_modules", pack, "files", `${file}.woff2`)));
    return `@font-face{font-family:"${family}";src:url(${path.slice("assets/".length)}) format("woff2");font-weight:${weights};font-display:swap}`;
  });
  const css = await build({ ...options, entryPoints: ["src/style/app.css"] });
  const style = named("app.css", `${faces.join("")}${css.outputFiles[0].text}`);

  const worker = await build({ ...options, entryPoints: ["src/worker.ts"] });
  const workerPath = named("worker.js", worker.outputFiles[0].text);

  const main = await build({
    ...options,
    entryPoints: { main: "src/main.tsx" },
    splitting: true,
    entryNames: "assets/[name]-[hash]",
    chunkNames: "assets/[name]-[hash]",
    define: { WORKER: JSON.stringify(`/console/${workerPath}`), AHEAD: JSON.stringify(AHEAD) },
  });
  const outputs = Object.entries(main.metafile.outputs).map(([path, o]) => ({ ...o, path: path.slice(path.indexOf("assets/")) }));
  const entry = outputs.find((o) => o.entryPoint === "src/main.tsx");
  /** The chunks that are loaded with one, itself among them. */
  const withImports = (path, seen = new Set()) => {
    if (seen.has(path)) return seen;
    seen.add(path);
    for (const i of outputs.find((o) => o.path === path).imports)
      if (i.kind === "import-statement") withImports(i.path.slice(i.path.indexOf("assets/")), seen);
    return seen;
  };
  const first = withImports(entry.path);
  const frame = withImports(outputs.find((o) => o.entryPoint === "src/ui/frame.tsx").path);

  // Which chunks an address needs is known only now, so it is written into the file that begins, which nobody imports.
  for (const file of main.outputFiles) {
    const path = relative("/out", file.path);
    if (path !== entry.path) {
      if (file.text.includes(AHEAD)) throw new Error(`${path} has what belongs into the first file`);
      put(path, file.contents);
      continue;
    }
    const text = file.text.replace(AHEAD, ahead(outputs, withImports, first, frame));
    if (text === file.text) throw new Error("the first file does not ask for chunks ahead");
    first.delete(entry.path);
    entry.path = named("main.js", text);
    first.add(entry.path);
  }
  for (const [name, text] of Object.entries({ "icon.svg": readFileSync(join(here, "public/icon.svg"), "utf8") })) put(name, text);
  put("licences.txt", PACKAGES.map((name) => {
    const folder = join(here, "node_modules", name);
    const file = readdirSync(folder).find((f) => /^licen[cs]e/i.test(f));
    return `${name}\n${"=".repeat(name.length)}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  }).join("\n\n"));
  const preload = entry.imports.filter((i) => i.kind === "import-statement").map((i) => `<link rel="modulepreload" href="/console/${i.path.slice(i.path.indexOf("assets/"))}">`).sort();
  put("index.html", readFileSync(join(here, "src/index.html"), "utf8")
    .replace("<!-- style -->", `<link rel="stylesheet" href="/console/${style}">`)
    .replace("<!-- script -->", `${preload.join("")}<script type="module" src="/console/${entry.path}"></script>`));

  const screens = new Map(outputs.filter((o) => o.entryPoint?.startsWith("src/screens/")).map((o) => {
    const name = o.entryPoint.replace(/^src\/screens\/|\.tsx$/g, "");
    return [name, [...new Set([...first, ...(name === "sign-in" ? [] : frame), ...withImports(o.path)])]];
  }));
  return { files, screens, first: [...first], style };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = resolve(process.argv[2] ?? join(here, "dist"));
  const { files } = await bundle();
  rmSync(target, { recursive: true, force: true });
  for (const [path, data] of files) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), data);
    if (!path.endsWith(".woff2")) writeFileSync(join(target, `${path}.br`), squeeze(data));
  }
}
