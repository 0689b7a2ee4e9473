// colour.tsx - code in colour: comments, strings, numbers and the words of a language, as nodes.
//
// Not a parser: one expression a family of languages, which walks over the text once and never goes back, so that whatever somebody
// writes takes time by its length.  What is not closed ends with its line, or with the text.
import type { ComponentChildren } from "preact";

const LONGEST = 60_000;

interface Family { comment: string; string: string; words: string; fold?: boolean }

const SLASHES = "\\/\\/[^\\n]*|\\/\\*[^]*?(?:\\*\\/|$)", HASH = "#[^\\n]*";
const DOUBLE = '"(?:[^"\\\\\\n]|\\\\.)*"?', SINGLE = "'(?:[^'\\\\\\n]|\\\\.)*'?", BACK = "`(?:[^`\\\\]|\\\\[^])*`?", TRIPLE = '"""[^]*?(?:"""|$)|\'\'\'[^]*?(?:\'\'\'|$)';
const C_WORDS = "abstract as async await bool boolean break case catch char class const continue crate default defer delete do double dyn else enum export extends extern false final finally float fn for foreach from func function go if impl implements import in inline instanceof int interface internal is let lock long loop map match mod move mut namespace new nil none null of override package private protected pub public range readonly ref return self short signed sizeof static string struct super switch template this throw throws trait true try type typedef typeof uint union unsafe unsigned use using val var virtual void volatile when where while yield";

const FAMILIES: Record<string, Family> = {
  c: { comment: SLASHES, string: `${DOUBLE}|${SINGLE}|${BACK}`, words: C_WORDS },
  python: { comment: HASH, string: `${TRIPLE}|${DOUBLE}|${SINGLE}`, words: "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self try while with yield begin do end ensure module nil puts require rescue then unless until" },
  shell: { comment: "(?<![^\\s])#[^\\n]*", string: `"(?:[^"\\\\]|\\\\[^])*"?|'[^']*'?`, words: "case do done echo elif else esac exit export fi for function if in local read return set shift then trap until while FROM RUN COPY CMD ENTRYPOINT ENV WORKDIR EXPOSE ARG" },
  data: { comment: HASH, string: `${DOUBLE}|${SINGLE}`, words: "true false null yes no on off" },
  sql: { comment: "--[^\\n]*|\\/\\*[^]*?(?:\\*\\/|$)", string: "'(?:[^']|'')*'?", fold: true, words: "add all alter and as asc begin between by case check commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then union unique update using values view when where with" },
  style: { comment: "\\/\\*[^]*?(?:\\*\\/|$)", string: `${DOUBLE}|${SINGLE}`, words: "important media supports layer import keyframes from to" },
  markup: { comment: "<!--[^]*?(?:-->|$)", string: `${DOUBLE}|'[^'\\n<>]*'`, words: "" },
};
const NAMES: Record<string, string> = {
  c: "c cc cpp c++ h hpp cs csharp java js javascript jsx ts typescript tsx mjs go golang rust rs swift kotlin kt scala php dart zig proto json json5 jsonc",
  python: "py python rb ruby python3", shell: "sh bash shell zsh console dockerfile docker make makefile", data: "yaml yml toml ini conf env properties",
  sql: "sql postgres postgresql sqlite mysql", style: "css scss less", markup: "html xml svg vue",
};
const familyOf = new Map(Object.entries(NAMES).flatMap(([family, names]) => names.split(" ").map((name) => [name, family] as const)));

const made = new Map<string, { walk: RegExp; words: Set<string>; fold: boolean }>();
function reader(name: string) {
  const known = made.get(name), of = FAMILIES[name];
  if (known || !of) return known;
  const walk = new RegExp(`(${of.comment})|(${of.string})|(\\b\\d[\\w.]*)|(${name === "markup" ? "<\\/?[\\w:-]+" : "[A-Za-z_$][\\w$]*"})`, "g");
  const one = { walk, words: new Set(of.words.split(" ")), fold: of.fold ?? false };
  made.set(name, one);
  return one;
}

/** A change: what goes, what comes, where. */
const changes = (text: string): ComponentChildren => text.split(/(?<=\n)/).map((line, i) => {
  const kind = line.startsWith("@@") ? "word" : line.startsWith("+") ? "string" : line.startsWith("-") ? "gone" : "";
  return kind ? <span key={i} class={`code-${kind}`}>{line}</span> : line;
});

/** The text in colour, or as it is where the language is not known. */
export function coloured(text: string, language: string | undefined): ComponentChildren {
  const name = (language ?? "").trim().split(/[\s{,:]/, 1)[0]?.toLowerCase() ?? "";
  if (text.length > LONGEST) return text;
  if (name === "diff" || name === "patch") return changes(text);
  const of = reader(familyOf.get(name) ?? "");
  if (!of) return text;
  const out: ComponentChildren[] = [];
  let at = 0;
  for (const m of text.matchAll(of.walk)) {
    const kind = m[1] !== undefined ? "note" : m[2] !== undefined ? "string" : m[3] !== undefined ? "number" : m[0].startsWith("<") || of.words.has(of.fold ? m[0].toLowerCase() : m[0]) ? "word" : "";
    if (!kind) continue;
    if (m.index > at) out.push(text.slice(at, m.index));
    out.push(<span key={m.index} class={`code-${kind}`}>{m[0]}</span>);
    at = m.index + m[0].length;
  }
  out.push(text.slice(at));
  return out;
}
