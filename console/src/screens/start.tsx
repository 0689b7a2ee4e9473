// start.tsx - the first run: a model, an agent, a first answer, in one form with everything chosen already.
import { useId, useRef, useState } from "preact/hooks";
import { Problem, call } from "../lib/api";
import { useList } from "../lib/data";
import { begun } from "../lib/first";
import { straight } from "../lib/format";
import { Link, go } from "../lib/router";
import { can, me, tenantId, tenantPath } from "../lib/session";
import { slugOf } from "../lib/slug";
import { Button } from "../ui/button";
import { Page } from "../ui/page";
import { DataView } from "../ui/states";

const ADDRESS = { anthropic: "https://api.anthropic.com", openai: "https://api.openai.com/v1" } as const;
const KINDS = { anthropic: "Anthropic", openai: "OpenAI, or anything that speaks its API" } as const;

export default function Start() {
  const path = { tenant_id: tenantId() };
  const models = useList("GET /tenant/{tenant_id}/models", { path });
  const agents = useList("GET /tenant/{tenant_id}/agents", { path, query: { per_page: 5 } });
  const [way, setWay] = useState("");
  const [kind, setKind] = useState<keyof typeof KINDS>("anthropic");
  const [name, setName] = useState("");
  const [key, setKey] = useState("");
  const [base, setBase] = useState("");
  const [agent, setAgent] = useState("");
  const [fresh, setFresh] = useState("Helper");
  const [text, setText] = useState("Hello! What can you do for me?");
  const [why, setWhy] = useState("");
  const [busy, setBusy] = useState(false);
  const sending = useRef(false);
  const made = useRef<{ slug: string; id: string } | null>(null);
  const id = useId();
  const admin = me.value?.is_super_admin ?? false;
  const model = way || models.data?.find((m) => m.kind === "demo")?.id || models.data?.[0]?.id || "own";
  const chosen = agent || agents.data?.at(-1)?.id || "new";

  /** The model that was chosen, made if it is new; a key of one's own goes with it. */
  async function modelId(): Promise<string> {
    if (model !== "own") return model;
    if (admin) {
      const config = { model: name, api_key: key, base_url: base || ADDRESS[kind] };
      // Begun before, and stopped at a later step: the same model, with what is said now.
      const had = (await call("GET /admin/models", { query: { per_page: 200 } })).items.find((m) => m.slug === name);
      const made = had ? await call("PATCH /admin/models/{model_id}", { path: { model_id: had.id }, body: { config } })
        : await call("POST /admin/models", { body: { name, slug: name, kind, supports_tools: true, config } });
      await call("PUT /admin/models/{model_id}/tenants/{tenant_id}", { path: { model_id: made.id, ...path } });
      return made.id;
    }
    await call("PUT /tenant/{tenant_id}/provider-keys/{provider}", { path: { ...path, provider: kind }, body: { api_key: key, ...(base ? { base_url: base } : {}) } });
    const found = (await call("GET /tenant/{tenant_id}/models", { path, query: { per_page: 200 } })).items.find((m) => m.kind === kind);
    if (!found) throw new Problem(409, { detail: "Your key is stored, but this service has no model of that kind yet. Whoever runs it can add one." });
    return found.id;
  }

  /** The new agent; the same one again where it was made before a later step stopped. */
  async function agentId(): Promise<string> {
    const slug = slugOf(fresh) || "helper";
    if (made.current?.slug !== slug) made.current = { slug, id: (await call("POST /tenant/{tenant_id}/agents", { path, body: { name: fresh, slug } })).id };
    return made.current.id;
  }

  async function begin(event: Event): Promise<void> {
    event.preventDefault();
    if (sending.current) return;
    sending.current = true;
    setBusy(true);
    setWhy("");
    try {
      const model_id = await modelId();
      const at = { ...path, agent_id: chosen === "new" ? await agentId() : chosen };
      const chain = (await call("GET /tenant/{tenant_id}/agents/{agent_id}/models", { path: at })).items.map((m) => m.model_id);
      await call("PUT /tenant/{tenant_id}/agents/{agent_id}/models", { path: at, body: { model_ids: [model_id, ...chain.filter((m) => m !== model_id)] } });
      const session = await call("POST /tenant/{tenant_id}/agents/{agent_id}/sessions", { path: at, body: { message: text } });
      begun.value = true;
      go(tenantPath(`/sessions/${session.id}`));
    } catch (err) {
      setWhy(err instanceof Problem ? [err.detail, ...err.fields.map((f) => `${f.field} ${f.message}`)].join(" ") : "Something in the console failed; reload the page.");
      if (!(err instanceof Problem)) reportError(err);
    } finally {
      sending.current = false;
      setBusy(false);
    }
  }

  const radio = (group: string, value: string, now: string, set: (v: string) => void, words: preact.ComponentChildren) => <label key={value} class="radio"><input type="radio" name={group} checked={now === value} onChange={() => set(value)} /> <span>{words}</span></label>;
  return (
    <Page title="Welcome" lead="Three choices, all made already: press the button, or change what you like." narrow>
      <DataView of={models}>{(all) => (
        <form onSubmit={(e) => void begin(e)}>
          {why && <p class="notice danger" role="alert">{why}</p>}
          <ol class="steps">
            <li>
              <fieldset><legend><h2>A model</h2></legend>
                {all.map((m) => radio("model", m.id, model, setWay, <>{straight(m.name)} <span class="muted">{m.kind === "demo" ? "needs no key and no network; it only shows how things work" : m.slug}</span></>))}
                {can("tenant:write") && radio("model", "own", model, setWay, "With my own key at a provider")}
              </fieldset>
              {model === "own" && <div class="nested form">
                <div class="field"><label class="label" for={`${id}-kind`}>Provider</label><select id={`${id}-kind`} value={kind} onChange={(e) => setKind(e.currentTarget.value as "openai")}>{Object.entries(KINDS).map(([word, words]) => <option key={word} value={word}>{words}</option>)}</select></div>
                {admin && <div class="field"><label class="label" for={`${id}-name`}>The model's name at the provider</label><input id={`${id}-name`} required autocomplete="off" spellcheck={false} value={name} onInput={(e) => setName(e.currentTarget.value)} /></div>}
                <div class="field"><label class="label" for={`${id}-key`}>API key</label><input id={`${id}-key`} type="password" required autocomplete="off" value={key} onInput={(e) => setKey(e.currentTarget.value)} /><p class="help">It is sealed in the store and never shown again.</p></div>
                <div class="field"><label class="label" for={`${id}-base`}>Address <span class="muted">(optional)</span></label><input id={`${id}-base`} type="url" autocomplete="off" value={base} placeholder={ADDRESS[kind]} onInput={(e) => setBase(e.currentTarget.value)} /></div>
              </div>}
            </li>
            <li>
              <fieldset><legend><h2>An agent</h2></legend>
                {agents.data?.map((a) => radio("agent", a.id, chosen, setAgent, <>{straight(a.name)} <span class="muted">{a.description}</span></>))}
                {can("agents:create") && radio("agent", "new", chosen, setAgent, "A new one")}
              </fieldset>
              {chosen === "new" && <div class="field"><label class="label" for={`${id}-fresh`}>Its name</label><input id={`${id}-fresh`} required maxLength={64} pattern="[A-Za-z0-9 \-]+" value={fresh} onInput={(e) => setFresh(e.currentTarget.value)} /></div>}
            </li>
            <li>
              <h2>Something to say</h2>
              <textarea aria-label="Your first message" rows={3} required value={text} onInput={(e) => setText(e.currentTarget.value)} />
              <p><Button type="submit" look="primary" busy={busy}>Begin</Button> <Link class="button quiet" to={tenantPath("/agents")} onClick={() => void (begun.value = true)}>Skip this</Link></p>
            </li>
          </ol>
        </form>
      )}</DataView>
    </Page>
  );
}
