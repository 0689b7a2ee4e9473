// mail-rules.tsx - whose mail sets agents to work, whom they write to, and what becomes of their answers: of one agent, or of all.
import type { ComponentChildren } from "preact";
import { MailRules as FORM } from "../contract/forms";
import type { MailRules } from "../contract/types";
import { type Tagged, tagged } from "../lib/api";
import { type Data, useData } from "../lib/data";
import { Link, withQuery } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import { ContractForm, type Form, type OwnControl } from "./form";
import { save } from "./merge";
import { Facts } from "./page";
import { DataView } from "./states";
import { toast } from "./toast";

const WORDS: Record<string, Record<string, [string, string]>> = {
  wake: {
    auto: ["Mail wakes it", "Mail whose sender is proven, or is allowed above, sets the agent to work; the rest is stored and shown."],
    never: ["Mail never wakes it", "Mail is stored and shown, and nobody is set to work."],
  },
  reply: {
    auto: ["Answers are sent", "Answers to others of this tenant go out by themselves; those to anybody else wait as drafts."],
    draft: ["Answers are drafts", "What the agent answers waits until a person sends it."],
    off: ["No answers", "The agent does its work, and nothing is sent or kept."],
  },
};
const LABELS: Record<string, [string, string]> = {
  block_from: ["Keep out", "Mail of these senders is stored as blocked, and wakes nobody."],
  allow_from: ["Let in", "Mail of these senders wakes the agent even if nothing proves who they are."],
  allow_to: ["Write only to", "If there are any, the agent writes to nobody else."],
  wake: ["When mail comes", ""],
  reply: ["What becomes of answers", ""],
};
const LISTS = ["block_from", "allow_from", "allow_to"] as const;
const form: Form = ["block_from", "allow_from", "allow_to", "wake", "reply"].map((name) => {
  const f = FORM.find((one) => one.name === name) as Form[number], [label, help] = LABELS[name] ?? [f.label, f.help];
  return { ...f, label, help: f.kind === "lines" ? `${help} Addresses, or @ and a domain for all of it; one on each line.` : help };
});

/** Each choice with a sentence that says what it does. */
const radios = (name: string): OwnControl => (value, set) => (
  <div role="radiogroup" aria-label={LABELS[name]?.[0]}>
    {Object.entries(WORDS[name] ?? {}).map(([word, [label, means]]) => (
      <label key={word} class="radio"><input type="radio" name={name} checked={value === word} onChange={() => set(word)} /> <span>{label}<br /><span class="muted small">{means}</span></span></label>
    ))}
  </div>
);

const shownList = (list: string[] | undefined, none: string) => (list?.length ? <span class="tags">{list.map((one) => <code key={one}>{one}</code>)}</span> : none);

function Shown({ rules }: { rules: MailRules }) {
  const said = (name: "wake" | "reply") => WORDS[name]?.[rules[name] ?? "auto"]?.[1];
  return <Facts rows={[...LISTS.map((name): [string, ComponentChildren] => [LABELS[name]?.[0] ?? name, shownList(rules[name], name === "allow_to" ? "anybody" : "nobody")]), ["When mail comes", said("wake")], ["Answers", said("reply")]]} />;
}

interface Props { of: Data<MailRules>; write: boolean; read: () => Promise<Tagged<MailRules>>; put: (body: MailRules, match: string | null) => Promise<Tagged<MailRules>> }

/** The whole is replaced: what was not touched here goes back as it stands now. */
function RulesForm({ of, write, read, put }: Props) {
  return (
    <DataView of={of}>
      {(rules) => !write ? <Shown rules={rules} /> : (
        <ContractForm form={form} value={rules as Record<string, unknown>} action="Save rules" custom={{ wake: radios("wake"), reply: radios("reply") }} send={async (change) => {
          let whole = rules;
          const now = await save({ base: rules, etag: of.etag, change, read: async () => {
            const theirs = await read();
            whole = theirs.data;
            return theirs;
          }, write: (body, match) => put({ ...whole, ...body }, match) });
          of.reload();
          toast(now ? "Saved" : "Theirs is kept");
        }} />
      )}
    </DataView>
  );
}

export function TenantRules() {
  const path = { tenant_id: tenantId() }, of = useData("GET /tenant/{tenant_id}/mail/rules", { path });
  return <RulesForm of={of} write={can("mail:write")} read={() => tagged("GET /tenant/{tenant_id}/mail/rules", { path })} put={(body, match) => tagged("PUT /tenant/{tenant_id}/mail/rules", { path, body, match })} />;
}

export function AgentRules({ path, write }: { path: { tenant_id: string; agent_id: string }; write: boolean }) {
  const of = useData("GET /tenant/{tenant_id}/agents/{agent_id}/mail/rules", { path });
  return (
    <section class="part narrow" aria-label="Rules">
      <p><Link to={withQuery({ part: null })}>All mail</Link></p>
      <h2>Rules of this agent</h2>
      <p class="muted">{can("mail:write") ? <Link to={tenantPath("/mail")}>Those of the tenant</Link> : "Those of the tenant"} hold as well: both lists count, and of what happens with mail and with answers the stricter.</p>
      <RulesForm of={of} write={write} read={() => tagged("GET /tenant/{tenant_id}/agents/{agent_id}/mail/rules", { path })} put={(body, match) => tagged("PUT /tenant/{tenant_id}/agents/{agent_id}/mail/rules", { path, body, match })} />
    </section>
  );
}
