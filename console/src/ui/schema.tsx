// schema.tsx - a JSON Schema as a tree that people can read: names, kinds, bounds, what must be given.
import type { ComponentChildren } from "preact";
import { Tag } from "./page";

type Schema = Record<string, unknown>;

const isObject = (v: unknown): v is Schema => typeof v === "object" && v !== null && !Array.isArray(v);

function kindOf(s: Schema): string {
  if (s["const"] !== undefined) return `always ${JSON.stringify(s["const"])}`;
  const type = s["type"];
  const words = Array.isArray(type) ? type.join(" or ") : typeof type === "string" ? type : Array.isArray(s["anyOf"] ?? s["oneOf"]) ? "one of several" : "anything";
  const items = s["items"];
  return words === "array" && isObject(items) ? `array of ${kindOf(items)}` : words;
}

/** Bounds and words in the schema's own terms. */
function bounds(s: Schema): string[] {
  const out: string[] = [];
  const say = (name: string, words: string, unit = ""): void => {
    if (s[name] !== undefined) out.push(`${words} ${JSON.stringify(s[name])}${unit}`);
  };
  if (Array.isArray(s["enum"])) out.push(`one of ${s["enum"].map((v) => JSON.stringify(v)).join(", ")}`);
  say("minimum", "at least"), say("maximum", "at most"), say("exclusiveMinimum", "more than"), say("exclusiveMaximum", "less than");
  say("minLength", "at least", " characters"), say("maxLength", "at most", " characters"), say("minItems", "at least", " items"), say("maxItems", "at most", " items");
  say("pattern", "fits"), say("format", "format"), say("default", "if absent");
  if (s["writeOnly"] === true || s["format"] === "password") out.push("secret: shown as dots where calls are recorded");
  return out;
}

const MAX_DEPTH = 12;

function Part({ name, schema, required, depth }: { name: string; schema: Schema; required: boolean; depth: number }): ComponentChildren {
  const items = isObject(schema["items"]) ? schema["items"] : null;
  const inner = isObject(schema["properties"]) ? schema : items && isObject(items["properties"]) ? items : null;
  const head = (
    <>
      <code class="prop">{name}</code> <span class="muted">{kindOf(schema)}</span> {required && <Tag>required</Tag>}
    </>
  );
  const text = (
    <>
      {typeof schema["description"] === "string" && <p>{schema["description"]}</p>}
      {bounds(schema).length > 0 && <p class="muted small">{bounds(schema).join("; ")}</p>}
    </>
  );
  return (
    <li>
      {inner && depth < MAX_DEPTH ? <details open={depth < 2}><summary>{head}</summary>{text}<Parts schema={inner} depth={depth + 1} /></details> : <div>{head}{text}</div>}
    </li>
  );
}

function Parts({ schema, depth }: { schema: Schema; depth: number }) {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return <ul class="schema">{Object.entries(properties).map(([name, s]) => <Part key={name} name={name} schema={isObject(s) ? s : {}} required={required.includes(name)} depth={depth} />)}</ul>;
}

/** What a tool takes. */
export function SchemaView({ schema }: { schema: Schema }) {
  if (!isObject(schema["properties"]) || !Object.keys(schema["properties"]).length) return <p class="muted">It takes no arguments.</p>;
  return (
    <>
      <Parts schema={schema} depth={0} />
      <p class="muted small">{schema["additionalProperties"] === false ? "Nothing else is taken." : "Other arguments are let through."}</p>
    </>
  );
}
