// tool-parts.tsx - the two parts of a tool that are objects, as forms: what a model may pass to it, one row a parameter, and how it
// is called.
//
// What they hold is JSON text, as a contract's form has it, and JSON can be written all the same: what these rows do not
// know stays as it is.
import { useEffect, useState } from "preact/hooks";
import { Button } from "./button";
import type { Form, OwnControl } from "./form";
import { nested } from "./nested";
import { Pairs } from "./pairs";

type Schema = Record<string, unknown>;
interface Row { name: string; required: boolean; is: Schema }
interface Rows { rows: Row[]; rest: Schema }

const isObject = (v: unknown): v is Schema => typeof v === "object" && v !== null && !Array.isArray(v);
const PLAIN = ["type", "properties", "required", "additionalProperties", "title", "description"];

const KINDS: Record<string, { label: string; is: Schema }> = {
  string: { label: "Text", is: { type: "string" } },
  choice: { label: "One of some words", is: { type: "string", enum: [] } },
  integer: { label: "Whole number", is: { type: "integer" } },
  number: { label: "Number", is: { type: "number" } },
  boolean: { label: "Yes or no", is: { type: "boolean" } },
  array: { label: "List of texts", is: { type: "array", items: { type: "string" } } },
};

function kindOf(is: Schema): string {
  if (Array.isArray(is["enum"]) && is["enum"].every((w) => typeof w === "string")) return "choice";
  const type = is["type"];
  if (type === "array") return JSON.stringify(is["items"]) === '{"type":"string"}' ? "array" : "other";
  return typeof type === "string" && type in KINDS ? type : "other";
}

function objectOf(text: string): Schema | null {
  try {
    const all = text.trim() ? (JSON.parse(text) as unknown) : {};
    return isObject(all) ? all : null;
  } catch {
    return null;
  }
}

function read(text: string): Rows | null {
  const all = objectOf(text);
  if (!all || Object.keys(all).some((k) => !PLAIN.includes(k)) || (all["type"] ?? "object") !== "object") return null;
  const { properties = {}, required = [], ...rest } = all;
  if (!isObject(properties) || !Array.isArray(required) || !Object.values(properties).every(isObject)) return null;
  return { rest, rows: Object.entries(properties).map(([name, is]) => ({ name, required: required.includes(name), is: is as Schema })) };
}

function write({ rows, rest }: Rows): string {
  const given = rows.filter((r) => r.name);
  if (!given.length) return "";
  const required = given.filter((r) => r.required).map((r) => r.name);
  return JSON.stringify({ type: "object", additionalProperties: false, ...rest, properties: Object.fromEntries(given.map((r) => [r.name, r.is])), ...(required.length ? { required } : {}) }, null, 2);
}

function Parameters({ text, set }: { text: string; set: (text: string) => void }) {
  const [now, setNow] = useState<Rows | null>(() => read(text));
  const [raw, setRaw] = useState(now === null);
  useEffect(() => {
    const other = read(text);
    if (other && now && write(other) !== write(now)) setNow(other); // somebody else's change, or what was typed is discarded
  }, [text]);
  const { rows, rest } = now ?? { rows: [], rest: {} };
  const change = (next: Row[]): void => {
    setNow({ rows: next, rest });
    set(write({ rows: next, rest }));
  };
  const one = (i: number, with_: Partial<Row>): void => change(rows.map((r, k) => (k === i ? { ...r, ...with_ } : r)));
  return (
    <div class="tool-params" role="group" aria-label="Parameters">
      {raw ? <textarea class="mono" rows={8} spellcheck={false} aria-label="Parameters, as a JSON Schema" value={text} onInput={(e) => set(e.currentTarget.value)} />
        : rows.map((r, i) => {
          const kind = kindOf(r.is), of = r.name || `parameter ${i + 1}`;
          return (
            <fieldset key={i} class="tool-param">
              <legend class="hidden">{of}</legend>
              <input aria-label={`Name of parameter ${i + 1}`} placeholder="Name" autocomplete="off" spellcheck={false} value={r.name} onInput={(e) => one(i, { name: e.currentTarget.value.trim() })} />
              <select aria-label={`Kind of ${of}`} value={kind} onChange={(e) => {
                const { type: _, enum: _e, items: _i, ...kept } = kind === "other" ? {} as Schema : r.is;
                one(i, { is: { ...KINDS[e.currentTarget.value]?.is, ...(typeof kept["description"] === "string" ? { description: kept["description"] } : {}) } });
              }}>
                {kind === "other" && <option value="other">As its JSON says</option>}
                {Object.entries(KINDS).map(([word, { label }]) => <option key={word} value={word}>{label}</option>)}
              </select>
              <label><input type="checkbox" checked={r.required} onChange={(e) => one(i, { required: e.currentTarget.checked })} /> Required</label>
              <Button look="quiet" icon="trash" label={`Remove ${of}`} act={() => change(rows.filter((_, k) => k !== i))} />
              {kind === "choice" && <input class="tool-param-line" aria-label={`Words of ${of}, with commas between`} placeholder="Words, with commas between" autocomplete="off" defaultValue={(r.is["enum"] as string[]).join(", ")}
                onChange={(e) => one(i, { is: { ...r.is, enum: e.currentTarget.value.split(",").map((w) => w.trim()).filter(Boolean) } })} />}
              <input class="tool-param-line" aria-label={`Description of ${of}`} placeholder="What the model should put there" autocomplete="off" value={typeof r.is["description"] === "string" ? r.is["description"] : ""} onInput={(e) => {
                const { description: _, ...other } = r.is;
                one(i, { is: e.currentTarget.value ? { ...other, description: e.currentTarget.value } : other });
              }} />
            </fieldset>
          );
        })}
      <div class="pair-acts">
        {!raw && <Button icon="plus" act={() => setNow({ rest, rows: [...rows, { name: "", required: true, is: { type: "string" } }] })}>Add a parameter</Button>}
        <Button look="quiet" aria-pressed={raw} act={() => {
          const next = read(text);
          if (raw && !next) return; // it must be a plain object before it can be rows
          setNow(next ?? now);
          setRaw(!raw);
        }}>{raw ? "As rows" : "As JSON"}</Button>
      </div>
    </div>
  );
}

/** For `input_schema`. */
export const parameters: OwnControl = (value, set) => <Parameters text={String(value)} set={set} />;

// ---- how it is called ----

const HEADERS = { name: "headers", label: "Headers", help: "Their values are sealed and never shown again.", kind: "json" } as const;
const PATIENCE = { name: "timeout_s", label: "Give up after", help: "30 seconds if left empty.", kind: "integer", min: 1, max: 120, unit: "seconds" } as const;
const CALLS: Record<string, Form> = {
  http: [
    { name: "method", label: "Method", help: "", kind: "choice", words: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"], required: true },
    { name: "url", label: "Address", help: "{{name}} stands for what the model passes as that parameter.", kind: "text", required: true },
    HEADERS,
    { name: "body", label: "Body", help: "JSON unless a Content-Type says otherwise; {{name}} stands here too. GET and HEAD have none.", kind: "long" },
    { name: "allowed_hosts", label: "Other hosts it may lead to", help: "One a line; redirects elsewhere are not followed.", kind: "lines" },
    PATIENCE,
  ],
  mcp: [
    { name: "url", label: "Address of the server", help: "", kind: "text", required: true },
    { name: "tool", label: "The tool's name there", help: "", kind: "text", required: true },
    HEADERS,
    PATIENCE,
  ],
};

const plain = (kind: string, text: string): boolean => {
  const all = objectOf(text);
  return all !== null && (all["body"] === undefined || typeof all["body"] === "string") && Object.keys(all).every((k) => CALLS[kind]?.some((f) => f.name === k));
};

function Config({ kind, text, set, errors }: { kind: string; text: string; set: (text: string) => void; errors: Record<string, string> }) {
  const [raw, setRaw] = useState(!plain(kind, text));
  const form = CALLS[kind];
  if (!form) return <p class="muted">The program itself runs it: there is nothing to say.</p>;
  return (
    <div role="group" aria-label="How it is called">
      {raw ? <textarea class="mono" rows={8} spellcheck={false} aria-label="How it is called, as JSON" value={text} onInput={(e) => set(e.currentTarget.value)} />
        : nested(form, [], { headers: (value, put) => <Pairs label="Headers" secret text={String(value)} set={put} /> })(text, (v) => set(String(v)), errors, {})}
      <div class="pair-acts"><Button look="quiet" aria-pressed={raw} act={() => void ((!raw || plain(kind, text)) && setRaw(!raw))}>{raw ? "As a form" : "As JSON"}</Button></div>
    </div>
  );
}

/** For `config`, of a tool of this kind or of the kind that is chosen beside it. */
export function callOf(kind?: string): OwnControl {
  const names = [...new Set(Object.values(CALLS).flat().map((f) => f.name))];
  return Object.assign(((value, set, errors, typed) => {
    const now = kind ?? String(typed["kind"] ?? "http");
    return <Config key={now} kind={now} text={String(value)} set={set} errors={errors} />;
  }) satisfies OwnControl, { inside: names });
}
