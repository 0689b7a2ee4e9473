// json.test.mjs - bodies that are not what they should be, against POST agents: 400 with the place
// for what is not JSON, 422 with every field for what is not an agent.  Nothing is ever made.
import { cpu, equal, ENGINES, match, ok, shared, short, test } from "./harness.mjs";

const servers = Object.fromEntries(ENGINES.map((engine) => [engine, shared(async (scope) => {
  const place = await scope.place(engine);
  const server = await scope.serve(place, { flags: ["--no-access-log", "--max-body", "4m"] });
  await server.enter();
  return server;
})]));

let slugs = 0;
const GOOD = () => ({ name: "Good one", slug: `good-${++slugs}` });

function post(server, body, headers) {
  return server.request("POST", `/tenant/${server.tenant}/agents`, { body, headers });
}

async function count(server) {
  return (await server.request("GET", `/tenant/${server.tenant}/agents?per_page=1&include_hidden=true`)).json.total;
}

/** On both engines (what is decoded is the same, what stores it is not). */
function each(name, run) {
  for (const engine of ENGINES)
    test(`${name} (${engine})`, async () => {
      const server = await servers[engine]();
      const before = await count(server);
      const made = (await run(server)) ?? 0;
      equal((await count(server)) - before, made, "agents made");
      await server.healthy();
    });
}

function isProblem(reply, status, code) {
  equal(reply.status, status, `the status of ${short(reply.text)}`);
  equal(reply.headers["content-type"], "application/problem+json", "Content-Type");
  equal(reply.json.status, status, "status in the body");
  match(reply.json.type, new RegExp(`^urn:lodge:problem:${code}$`), "type");
}

const bytes = (...parts) => Buffer.concat(parts.map((p) => (typeof p === "string" ? Buffer.from(p) : Buffer.from(p))));
const deep = (n, open, close, inner = "1") => open.repeat(n) + inner + close.repeat(n);

// [what, body, the byte the fault is at, counted from 0 (undefined: any place will do)]
const malformed = [
  ["nothing at all", ""],
  ["blanks only", "  \n"],
  ["a duplicated key", '{"name":"A","slug":"a","name":"B"}', 22],
  ["a duplicated key, escaped", '{"name":"A","slug":"a","n\\u0061me":"B"}', 22],
  ["a duplicated unknown key", '{"zz":1,"zz":2}', 8],
  ["a duplicated key deep inside", '{"zz":{"a":{"b":1,"b":2}}}', 18],
  ["depth 65 of arrays", `{"zz":${deep(64, "[", "]")}}`, 6 + 63],
  ["depth 65 of objects", deep(65, '{"a":', "}")],
  ["arrays 1,000,000 deep", "[".repeat(1_000_000)],
  ["objects 100,000 deep", '{"a":'.repeat(100_000)],
  ["a number without end", `{"iteration_warn_threshold":1e999}`],
  ["a number with 10,000 digits", `{"iteration_warn_threshold":${"9".repeat(10_000)}}`],
  ["a negative number without end", `{"zz":-1e400}`],
  ["NaN", '{"iteration_warn_threshold":NaN}', 28],
  ["Infinity", '{"iteration_warn_threshold":Infinity}', 28],
  ["a leading zero", '{"iteration_warn_threshold":01}', 29],
  ["a leading plus", '{"iteration_warn_threshold":+1}', 28],
  ["hexadecimal", '{"iteration_warn_threshold":0x1}'],
  ["a bare point", '{"iteration_warn_threshold":1.}'],
  ["a bare minus", '{"iteration_warn_threshold":-}'],
  ["a bare exponent", '{"iteration_warn_threshold":1e}'],
  ["a lone high surrogate", '{"name":"\\ud800"}'],
  ["a lone low surrogate", '{"name":"\\udc00"}'],
  ["surrogates the wrong way round", '{"name":"\\udc00\\ud800"}'],
  ["a high surrogate and a letter", '{"name":"\\ud83dA"}'],
  ["a high surrogate twice", '{"name":"\\ud83d\\ud83d"}'],
  ["a lone surrogate in a key", '{"\\ud800":1}'],
  ["a surrogate as UTF-8", bytes('{"name":"', [0xed, 0xa0, 0x80], '"}'), 9],
  ["a stray continuation byte", bytes('{"name":"a', [0x80], '"}'), 10],
  ["an overlong slash", bytes('{"name":"', [0xc0, 0xaf], '"}'), 9],
  ["an overlong NUL", bytes('{"name":"', [0xc0, 0x80], '"}'), 9],
  ["a code point beyond Unicode", bytes('{"name":"', [0xf4, 0x90, 0x80, 0x80], '"}'), 9],
  ["a cut sequence", bytes('{"name":"', [0xe2, 0x82], '"}'), 9],
  ["a cut sequence at the end", bytes('{"name":"', [0xf0, 0x9f])],
  ["0xff", bytes('{"name":"', [0xff], '"}'), 9],
  ["invalid UTF-8 in a key", bytes('{"', [0xff], '":1}'), 2],
  ["UTF-16", Buffer.from(JSON.stringify({ name: "A", slug: "a" }), "utf16le")],
  ["a byte order mark", '\ufeff{"name":"A","slug":"a"}', 0],
  ["NUL in a string", '{"name":"a\0b"}', 10],
  ["NUL first", '\0{"name":"A"}', 0],
  ["NUL after the end", '{"name":"A","slug":"a"}\0', 23],
  ["a line feed in a string", '{"name":"a\nb"}', 10],
  ["a tab in a string", '{"name":"a\tb"}', 10],
  ["an unknown escape", '{"name":"\\x41"}'],
  ["a cut escape", '{"name":"\\u00"}'],
  ["an escape at the end", '{"name":"\\'],
  ["trailing garbage", '{"name":"A","slug":"a"} x', 24],
  ["a second value", '{"name":"A","slug":"a"}{"name":"B","slug":"b"}', 23],
  ["a trailing comma", '{"name":"A","slug":"a",}', 23],
  ["a comment", '{"name":"A"/* x */}', 11],
  ["a missing colon", '{"name" "A"}', 8],
  ["a missing comma", '{"name":"A" "slug":"a"}', 12],
  ["single quotes", "{'name':'A'}", 1],
  ["a bare key", '{name:"A"}', 1],
  ["an open object", '{"name":"A"'],
  ["an open string", '{"name":"A'],
  ["a form feed as white space", '\f{"name":"A"}', 0],
  ["a no-break space", '\u00a0{"name":"A"}', 0],
  ["a word", "nul"],
  ["True", '{"hidden":True}', 10],
];

each("what is not JSON is 400 with the place", async (server) => {
  const faults = [];
  for (const [what, body, at] of malformed) {
    try {
      const reply = await post(server, body);
      isProblem(reply, 400, "malformed_json");
      const place = /\b(?:byte|offset|position|column|character)\D{0,8}(\d+)/.exec(reply.json.detail);
      ok(place, `the detail names no place: ${short(reply.json.detail)}`);
      if (at !== undefined) ok([at, at + 1].includes(Number(place[1])), `the place is ${place[1]}, wanted ${at}: ${reply.json.detail}`);
    } catch (err) {
      faults.push(`${what}: ${err.message}`);
    }
  }
  ok(faults.length === 0, faults.join("; "));
});

// [what, body, the fields that must be named]
const invalid = [
  ["an empty object", {}, ["name", "slug"]],
  ["null for what is needed", { name: null, slug: null }, ["name", "slug"]],
  ["wrong types", { name: 1, slug: [], hidden: "yes", description: {}, iteration_warn_threshold: "5" },
    ["name", "slug", "hidden", "description", "iteration_warn_threshold"]],
  ["unknown fields", { ...GOOD(), zz: 1, NAME: 2, "": 3, __proto__x: 4 }, ["zz", "NAME", "", "__proto__x"]],
  ["bounds", { name: "", slug: "" }, ["name", "slug"]],
  ["too long", { name: "a".repeat(256), slug: "a".repeat(65), voice: "v".repeat(129) }, ["name", "slug", "voice"]],
  ["a newline after the pattern", { name: "Good\n", slug: "good\n" }, ["name", "slug"]],
  ["NUL, escaped", { name: "a\0", slug: "a\0", description: "a\0b" }, ["name", "slug", "description"]],
  ["a letter like a", { name: "\u0430", slug: "\u0430" }, ["name", "slug"]],
  ["no choice", { ...GOOD(), kind: "User", environment_mode: "none" }, ["kind", "environment_mode"]],
  ["a fraction", { ...GOOD(), iteration_warn_threshold: 1.5 }, ["iteration_warn_threshold"]],
  ["too small", { ...GOOD(), iteration_warn_threshold: 0 }, ["iteration_warn_threshold"]],
  ["far too large", `{"name":"A","slug":"a","iteration_warn_threshold":9223372036854775808}`, ["iteration_warn_threshold"]],
  ["larger still", `{"name":"A","slug":"a","iteration_warn_threshold":1e300}`, ["iteration_warn_threshold"]],
  ["a string of 1 MB where 255 are the most", { name: "a".repeat(1 << 20), slug: "a" }, ["name"]],
  ["a description of 1 MB", { ...GOOD(), description: "a".repeat(1 << 20) }, ["description"]],
  ["a prompt over 2 MiB", { ...GOOD(), description_prompt: "a".repeat((2 << 20) + 1) }, ["description_prompt"]],
  ["an unknown field of 1 MB", { ...GOOD(), zz: "a".repeat(1 << 20) }, ["zz"]],
  ["an unknown field with depth 64", `{"name":"A","slug":"a","zz":${deep(63, "[", "]")}}`, ["zz"]],
];

each("what is not an agent is 422 with every field", async (server) => {
  const faults = [];
  for (const [what, body, fields] of invalid) {
    try {
      const reply = await post(server, body);
      isProblem(reply, 422, "invalid");
      const got = reply.json.errors.map((e) => e.field).sort().join();
      equal(got, [...fields].sort().join(), "the fields");
      for (const e of reply.json.errors) ok(e.code && e.message, `an entry without words: ${short(e)}`);
      ok(reply.text.length < 20_000, `the answer has ${reply.text.length} bytes`);
    } catch (err) {
      faults.push(`${what}: ${err.message}`);
    }
  }
  ok(faults.length === 0, faults.join("; "));
});

each("a body that is an array, a string, a number or null is refused", async (server) => {
  for (const body of ["[]", '"text"', "1", "null", "true", "[{}]"]) {
    const reply = await post(server, body);
    ok(reply.status === 400 || reply.status === 422, `${body}: ${reply.status}`);
  }
});

each("10,000 unknown fields are listed within bounds", async (server) => {
  const body = { ...GOOD() };
  for (let i = 0; i < 10_000; i++) body[`f${i}`] = i;
  const reply = await post(server, body);
  isProblem(reply, 422, "invalid");
  ok(reply.text.length < 100_000, `the answer has ${reply.text.length} bytes`);
  equal(reply.json.errors.at(-1).code, "more", "the last entry");
});

each("keys that meet in a hash table are told apart in time", async (server) => {
  const began = cpu(server);
  const body = `{${Array.from({ length: 60_000 }, (_, i) => `"${(i * 2654435761) >>> 0}":0`).join()}}`;
  const reply = await post(server, body);
  equal(reply.status, 422, reply.text.slice(0, 200));
  ok(cpu(server) - began < 10_000, `it took ${cpu(server) - began} ms`);
});

each("a body over the limit is 413, another type 415", async (server) => {
  equal((await post(server, "x".repeat((4 << 20) + 1)).catch((err) => ({ status: err.code === "EPIPE" || err.code === "ECONNRESET" ? 413 : err.code }))).status, 413, "4 MiB and one");
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "json", ""])
    isProblem(await post(server, GOOD(), { "Content-Type": type }), 415, "unsupported_media_type");
});

each("what is odd and good comes back as it was", async (server) => {
  let made = 0;
  const odd = [
    { description: "Gr\u00fc\u00dfe \ud83d\ude42 \u200f\u202e\ufeff \\ \" / \b\f\n\r\t \u0001\u001f\u007f" },
    { description: "" },
    { description: null },
    { description_prompt: "p".repeat(2 << 20) },
    { description: "d".repeat(64 << 10) },
    { iteration_warn_threshold: 9007199254740991 },
    { description: "'; drop table agents; -- $1 ? % _ {*} {$}" },
    { initial_greeting: "\u{10ffff}\u{1f469}\u200d\u{1f680}\ufffd\ufffe\uffff" },
  ];
  for (const extra of odd) {
    const body = { ...GOOD(), ...extra };
    const reply = await post(server, body, { "Content-Type": "application/json; charset=utf-8" });
    equal(reply.status, 201, reply.text.slice(0, 300));
    made++;
    const read = await server.request("GET", reply.headers.location);
    equal(read.status, 200, "reading it");
    for (const [key, value] of Object.entries(extra))
      if (key in read.json) equal(JSON.stringify(read.json[key]), JSON.stringify(value), key);
    equal(read.text, reply.text, "what was read");
  }
  const escaped = await post(server, ' {"n\\u0061me" : "\\u0041", "slug":"esc-1", "description" :"\\ud83d\\ude42\\/\\"", "iteration_warn_threshold": 1.0e1}\r\n\t ');
  equal(escaped.status, 201, escaped.text);
  equal(escaped.json.name, "A", "name");
  equal(escaped.json.iteration_warn_threshold, 10, "iteration_warn_threshold");
  const deepest = await post(server, `{"name":"A","slug":"a","zz":${deep(63, "[", "]")}}`);
  equal(deepest.status, 422, "depth 64");
  return made + 1;
});

/** Keys that fall into one slot of a table of 2^14 under FNV-1a without a secret. */
function colliding(count) {
  const letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
  const codes = [...letters].map((c) => c.charCodeAt(0));
  const keys = [];
  // The low 45 bits of the hash, as 21 and 24 bits.
  const step = (hi, lo, code) => {
    const x = lo ^ code;
    const p = x * 0x1b3;
    return [(hi * 0x1b3 + Math.floor(p / 0x1000000) + ((x & 31) << 16)) & 0x1fffff, p & 0xffffff];
  };
  const basis = 0xcbf29ce484222325n & ((1n << 45n) - 1n);
  for (let i = 0; keys.length < count; i++) {
    let [hi, lo] = [Number(basis >> 24n), Number(basis & 0xffffffn)];
    let prefix = "";
    for (let k = 0, v = i; k < 5; k++, v >>= 6) {
      prefix += letters[v & 63];
      [hi, lo] = step(hi, lo, codes[v & 63]);
    }
    for (let c = 0; c < 64; c++) {
      const x = lo ^ codes[c];
      const p = x * 0x1b3;
      const high = (hi * 0x1b3 + Math.floor(p / 0x1000000) + ((x & 31) << 16)) & 0x1fffff;
      if ((((p & 0xffffff) ^ (high >> 5)) & 0x3fff) === 0x123) keys.push(prefix + letters[c]);
    }
  }
  return keys;
}

test("keys chosen to meet in a hash table cost no more than others", async () => {
  const server = await servers.sqlite();
  const time = async (keys) => {
    const body = `{${keys.map((k) => `"${k}":0`).join()}}`;
    const began = cpu(server);
    const reply = await server.request("POST", `/tenant/${server.tenant}/agents`, { token: "", body });
    equal(reply.status, 401, reply.text.slice(0, 200));
    return cpu(server) - began;
  };
  const chosen = colliding(9000);
  const others = chosen.map((_, i) => `k${i.toString(36).padStart(5, "0")}`);
  await time(others);
  const plain = Math.min(await time(others), await time(others), await time(others));
  const worst = Math.min(await time(chosen), await time(chosen), await time(chosen));
  ok(worst < 5 * plain + 50, `chosen keys took ${worst} ms, others ${plain} ms`);
});
