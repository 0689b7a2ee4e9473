// reference.tsx - the API, from the document that the service publishes: every operation, its fields with their bounds, how
// to call it, and a try with the reader's own login.
import { useEffect, useMemo, useState } from "preact/hooks";
import { Problem, hooks } from "../lib/api";
import { kept } from "../lib/store";
import { Link, location, setQuery } from "../lib/router";
import { type Filled, type Op, type Schema, boundsOf, examples, nameOf, readReference, resolve, urlOf } from "../lib/reference";
import { can, tenantId } from "../lib/session";
import type { ScreenProps } from "../routes";
import { Boxed, pretty } from "../ui/boxed";
import { Button } from "../ui/button";
import { Curl } from "../ui/curl";
import { Search, Toggle } from "../ui/filters";
import { Facts, Page, Status } from "../ui/page";
import { Failed, Skeleton } from "../ui/states";

const DEPTH = 6;
const language = kept("language", "curl");

/** Fields of a schema, folded below the first level. */
function Tree({ schema, depth = 0 }: { schema: Schema; depth?: number }) {
  const s = resolve(schema);
  const choices = (s.anyOf ?? s.oneOf)?.filter((c) => resolve(c).type !== "null");
  const inner = s.properties ? s : s.items ? resolve(s.items) : null;
  if (!s.properties && s.items) return depth < DEPTH ? <Tree schema={s.items} depth={depth} /> : null;
  if (!s.properties && choices) return <>{choices.map((c, i) => <Tree key={i} schema={c} depth={depth} />)}</>;
  if (!inner?.properties) return null;
  return (
    <ul class="tree">
      {Object.entries(inner.properties).map(([name, raw]) => {
        const field = resolve(raw);
        const below = [field, ...(field.items ? [resolve(field.items)] : []), ...(field.anyOf ?? field.oneOf ?? []).map(resolve)].some((x) => x.properties);
        const head = <><code>{name}</code>{inner.required?.includes(name) && <span class="small"> required</span>} <span class="bounds">{boundsOf(field)}{nameOf(raw) && ` (${nameOf(raw)})`}</span></>;
        return <li key={name}>{below && depth < DEPTH ? <Fold head={head}><p>{field.description}</p><Tree schema={raw} depth={depth + 1} /></Fold> : <>{head}<p>{field.description}</p></>}</li>;
      })}
    </ul>
  );
}

/** What is inside is made when it is opened: schemas may name themselves. */
function Fold({ head, children }: { head: preact.ComponentChildren; children: preact.ComponentChildren }) {
  const [open, setOpen] = useState(false);
  return <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}><summary>{head}</summary>{open && children}</details>;
}

function Try({ op, filled }: { op: Op; filled: Filled }) {
  const [sure, setSure] = useState(false);
  const [reply, setReply] = useState<{ status: number; ms: number; text: string } | null>(null);
  useEffect(() => (setReply(null), setSure(false)), [op.id]);
  const read = op.method === "GET";
  const missing = op.parameters.some((p) => p.in === "path" && !filled.path[p.name]);
  if (op.events || op.replies.some((r) => r.status.startsWith("2") && r.type === "text/event-stream")) return <p class="muted">A stream is followed with the command above.</p>;
  const go = async (): Promise<void> => {
    const began = performance.now();
    const ask = (): Promise<Response> => fetch(urlOf(op, filled), { method: op.method, credentials: "same-origin", ...(op.body && filled.body ? { body: filled.body, headers: { "Content-Type": op.body.type } } : {}) }).catch(() => {
      throw new Problem(0, { title: "Not reached", detail: "The service cannot be reached; try again in a moment." });
    });
    let r = await ask();
    // The login has ended: it is asked for, as everywhere.  Where none is needed a 401 is the answer.
    while (r.status === 401 && op.permission !== "public" && hooks.signedOut) {
      await hooks.signedOut();
      r = await ask();
    }
    setReply({ status: r.status, ms: Math.round(performance.now() - began), text: await r.text() });
    setSure(false);
  };
  return (
    <>
      {!read && <div class="field flag"><label class="label" for="sure">I know that this acts, as me</label><div class="control"><input id="sure" type="checkbox" checked={sure} onChange={(e) => setSure(e.currentTarget.checked)} /></div></div>}
      <p><Button look="primary" disabled={missing || (!read && !sure)} act={go}>Try it</Button> {missing && <span class="muted small">Fill in what the path needs.</span>}</p>
      {reply && <div role="status"><p><Status tone={reply.status < 300 ? "pine" : "danger"}>{reply.status}</Status> <span class="muted">{reply.ms} ms</span></p>{reply.text && <Boxed label="The answer" text={pretty(reply.text)} name={`${op.id}.txt`} />}</div>}
    </>
  );
}

function Operation({ op }: { op: Op }) {
  const preset = useMemo<Filled>(() => ({ path: { tenant_id: tenantId() }, query: {}, body: op.body?.sample === undefined ? "" : JSON.stringify(op.body.sample, null, 2) }), [op.id]);
  const [filled, setFilled] = useState(preset);
  useEffect(() => setFilled(preset), [preset]);
  const texts = examples(op, filled, window.location.origin);
  // The permission and the audit log stand below, as facts.
  const said = op.description?.replace(/\s*(Needs|Entered in the audit log as) `[^`]*`\./g, "").trim();
  const may = !op.permission || op.permission === "public" || can(op.permission);
  return (
    <div class="ref-body">
      <div>
        <h2>{op.summary}</h2>
        <p><span class={`verb ${op.method}`}>{op.method}</span> <code>{op.path}</code></p>
        {said && <p class="muted">{said}</p>}
      </div>
      <Facts rows={[["Operation", <code>{op.id}</code>], ...(op.permission ? [["Permission", <><code>{op.permission}</code> {!may && <span class="muted">which you do not have in this tenant</span>}</>] as [string, preact.JSX.Element]] : []), ...(op.audit ? [["In the audit log", <code>{op.audit}</code>] as [string, preact.JSX.Element]] : [])]} />
      {op.parameters.filter((p) => p.in !== "header").length > 0 && <div>
        <h3>Parameters</h3>
        <ul class="tree">{op.parameters.filter((p) => p.in !== "header").map((p) => (
          <li key={p.in + p.name}>
            <label class="choose"><code>{p.name}</code>
              <input aria-label={p.name} value={(p.in === "path" ? filled.path : filled.query)[p.name] ?? ""} onInput={(e) => {
                const value = e.currentTarget.value;
                setFilled((f) => (p.in === "path" ? { ...f, path: { ...f.path, [p.name]: value } } : { ...f, query: { ...f.query, [p.name]: value } }));
              }} /></label> <span class="bounds">{p.in}; {boundsOf(resolve(p.schema))}</span>
            <p>{p.description}</p>
          </li>
        ))}</ul>
      </div>}
      {op.body && <div>
        <h3>Body <span class="muted small">{op.body.type}{op.body.schema && nameOf(op.body.schema) && `, ${nameOf(op.body.schema)}`}</span></h3>
        {op.body.schema && <Tree schema={op.body.schema} />}
        <textarea class="mono" rows={6} aria-label="The body" spellcheck={false} value={filled.body} onInput={(e) => setFilled({ ...filled, body: e.currentTarget.value })} />
      </div>}
      <div>
        <h3>Call it</h3>
        <div class="filters">{Object.keys(texts).map((name) => <Toggle key={name} label={name} on={language.value === name} set={() => (language.value = name)} />)}</div>
        <Curl text={texts[language.value] ?? texts["curl"] ?? ""} label={`Copy the ${language.value} example`} />
        <p class="muted small">LODGE_KEY is an API key.</p>
      </div>
      <div><h3>Try it here</h3><p class="muted small">It is sent with your own login.</p><Try op={op} filled={filled} /></div>
      <div>
        <h3>Answers</h3>
        <ul class="tree">{op.replies.map((r) => <li key={r.status}><strong>{r.status}</strong> {r.text} <span class="bounds">{r.type}{r.schema && nameOf(r.schema) && `, ${nameOf(r.schema)}`}</span>{r.schema && resolve(r.schema).type === "object" && <Fold head="Its fields"><Tree schema={r.schema} /></Fold>}</li>)}</ul>
      </div>
    </div>
  );
}

export default function Reference({ params }: ScreenProps) {
  const [read, setRead] = useState<{ ops: Op[]; version: string; about: string } | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const begin = (): void => {
    setProblem(null);
    readReference().then(setRead, setProblem);
  };
  useEffect(begin, []);
  const { query } = location.value;
  const q = query.get("q") ?? "";
  const op = read?.ops.find((o) => o.id === params["operation"]);
  const found = read?.ops.filter((o) => !q || `${o.id} ${o.path} ${o.summary} ${o.method}`.toLowerCase().includes(q.toLowerCase())) ?? [];
  const tags = [...new Set(found.map((o) => o.tags[0] ?? "Other"))];
  return (
    <Page title="API reference" lead={read && <>{read.ops.length} operations of version {read.version}. The same as <a href="/openapi.json" target="_blank" rel="noreferrer">openapi.json</a>.</>}>
      {problem && <Failed problem={problem} retry={begin} />}
      {!read && !problem && <Skeleton />}
      {read && <div class={op ? "ref picked" : "ref"}>
        <nav class="ref-list" aria-label="Operations" tabIndex={0}>
          <Search label="Search operations" value={q} set={(text) => setQuery({ q: text })} />
          {tags.map((tag) => (
            <details key={`${tag}${q ? "q" : ""}`} open={q !== "" || op?.tags[0] === tag}><summary>{tag}</summary>
              <ul>{found.filter((o) => (o.tags[0] ?? "Other") === tag).map((o) => <li key={o.id}><Link to={`/api/${o.id}${q ? `?q=${encodeURIComponent(q)}` : ""}`} aria-current={o === op ? "page" : undefined}><span class={`verb ${o.method}`}>{o.method}</span><span>{o.summary}</span></Link></li>)}</ul>
            </details>
          ))}
          {found.length === 0 && <p class="muted">Nothing is called that.</p>}
        </nav>
        {op ? <Operation key={op.id} op={op} /> : <div class="ref-body"><h2>{params["operation"] ? "There is no such operation" : "How to begin"}</h2>{read.about.split("\n\n").map((p, i) => <p key={i}>{p}</p>)}<p>Make an <Link to="/">API key</Link> in your tenant, and send it as <code>Authorization: Bearer …</code>.</p></div>}
      </div>}
    </Page>
  );
}
