// skills.tsx - the skills that an agent has: given, switched, their sealed configuration, their version, their webhooks.
import { useMemo, useState } from "preact/hooks";
import { AgentSkillConfigUpdate, SkillWebhookCreate } from "../../contract/forms";
import type { AgentSkillRead, SkillListRead } from "../../contract/types";
import { call } from "../../lib/api";
import { useData, useList } from "../../lib/data";
import { Time, straight } from "../../lib/format";
import { Link, go, location, withQuery } from "../../lib/router";
import { tenantPath } from "../../lib/session";
import { Button } from "../../ui/button";
import { Copy } from "../../ui/copy";
import { confirm } from "../../ui/dialog";
import { ContractForm } from "../../ui/form";
import { Facts, Status, Tag } from "../../ui/page";
import { Pairs } from "../../ui/pairs";
import { type Choice, Pick, finding } from "../../ui/pick";
import { showSecret } from "../../ui/secret";
import { DataView } from "../../ui/states";
import { Table } from "../../ui/table";
import { toast } from "../../ui/toast";
import type { PartProps } from "../agent";
import { Forbidden } from "./forbidden";

type Path = PartProps["path"] & { skill_id: string };

function Config({ path, concerns }: { path: Path; concerns: PartProps["concerns"] }) {
  const config = useData("GET /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/config", { path }, concerns);
  return (
    <section>
      <h3>Configuration</h3>
      <DataView of={config} rows={2}>
        {(c) => (
          <ContractForm form={AgentSkillConfigUpdate} value={{ config: c.config ?? null }} action="Seal and save" custom={{ config: (v, set) => <Pairs label="Sealed configuration" secret text={String(v)} set={set} /> }}
            send={async (body) => {
              await call("PATCH /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/config", { path, body });
              config.reload();
              toast("The configuration is sealed");
            }} />
        )}
      </DataView>
    </section>
  );
}

function Version({ path, concerns, write }: { path: Path; concerns: PartProps["concerns"]; write: boolean }) {
  const version = useData("GET /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/version", { path }, concerns);
  const put = async (digest: string | null): Promise<void> => {
    await call("PUT /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/version", { path, body: { digest } });
    version.reload();
    toast(digest ? "This version is accepted" : "It follows the skill");
  };
  return (
    <section>
      <h3>Version</h3>
      <DataView of={version} rows={1}>
        {(v) => (
          <>
            <Facts rows={[
              ["In use", v.digest ? <code>{v.digest.slice(0, 12)}</code> : "as it stands"],
              ["Follows", v.is_pinned ? "No: it stays at the version that was accepted" : "Yes: changes of the skill reach this agent at once"],
              ["Newer version", v.update_available ? <Status tone="ember" icon="warn">There is one: <code>{v.latest_digest?.slice(0, 12)}</code></Status> : "none"],
            ]} />
            {write && (
              <div class="filters">
                {v.latest_digest && (v.update_available || !v.is_pinned) && <Button act={() => put(v.latest_digest)}>{v.update_available ? "Accept the newer version" : "Keep this version"}</Button>}
                {v.is_pinned && <Button look="quiet" act={() => put(null)}>Follow the skill</Button>}
              </div>
            )}
          </>
        )}
      </DataView>
    </section>
  );
}

function Webhooks({ path, concerns }: { path: Path; concerns: PartProps["concerns"] }) {
  const hooks = useList("GET /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/webhooks", { path }, concerns);
  const [adding, setAdding] = useState(false);
  return (
    <section>
      <div class="part-head"><h3>Webhooks</h3>{!adding && <Button act={() => setAdding(true)}>Add a webhook</Button>}</div>
      {adding && <ContractForm form={SkillWebhookCreate} action="Make the webhook" cancel={() => setAdding(false)} send={async (body) => {
        const made = await call("POST /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/webhooks", { path, body });
        setAdding(false);
        hooks.reload();
        if (made.token) await showSecret(`Token of ${made.label}`, made.token, <p>Calls go to <code>{made.url}</code> with the header <code>Authorization: Bearer</code> and this token.</p>);
      }} />}
      <DataView of={hooks} rows={1} empty={{ title: "No webhooks", text: "A webhook lets another program begin work with this skill." }}>
        {(rows) => (
          <Table label="Webhooks" rows={rows} id={(w) => w.id}
            columns={[
              { name: "Name", cell: (w) => w.label },
              { name: "Address", wide: true, cell: (w) => <><code>{w.url}</code> <Copy text={w.url} label={`Copy the address of ${w.label}`} /></> },
              { name: "Last call", cell: (w) => <>{w.acts_as_problem && <Status tone="ember" icon="warn">{w.acts_as_problem}</Status>} <Time at={w.last_call_at} /></> },
            ]}
            actions={(w) => <Button look="quiet" icon="trash" label={`Delete the webhook ${w.label}`} act={async () => {
              if (!(await confirm({ title: `Delete ${w.label}?`, text: "Whoever calls it is refused from then on.", action: "Delete webhook", danger: true }))) return;
              await call("DELETE /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/webhooks/{webhook_id}", { path: { ...path, webhook_id: w.id } });
              hooks.reload();
            }} />} />
        )}
      </DataView>
    </section>
  );
}

export default function Skills(props: PartProps) {
  const { agent, path, may, concerns } = props;
  const { query } = location.value;
  const granted = useList("GET /tenant/{tenant_id}/agents/{agent_id}/skills", { path }, concerns);
  const known = useList("GET /tenant/{tenant_id}/skills", { path: { tenant_id: path.tenant_id }, query: { per_page: 200 } }, concerns);
  const names = useMemo(() => new Map((known.data ?? []).map((s): [string, SkillListRead] => [s.id, s])), [known.data]);
  const [chosen, setChosen] = useState<Choice | null>(null);
  const write = may("agent:skills:write");
  const name = (s: AgentSkillRead): string => names.get(s.skill_id)?.name ?? s.skill_id;
  const opened = granted.data?.find((s) => s.skill_id === query.get("skill"));
  const one = (s: AgentSkillRead) => ({ ...path, skill_id: s.skill_id });
  const grant = async (): Promise<void> => {
    if (!chosen) return;
    await call("POST /tenant/{tenant_id}/agents/{agent_id}/skills", { path, body: { skill_id: chosen.id } });
    toast(`${agent.name} has ${chosen.label}`);
    setChosen(null);
    granted.reload();
    known.reload();
  };
  return (
    <>
      {write && (
        <form class="part narrow form" onSubmit={(e) => e.preventDefault()}>
          <Pick label="Give it a skill" find={finding("skill")} value={chosen} set={setChosen} help="Skills of this tenant, and public ones, by name." />
          <footer><Button type="submit" look="primary" disabled={!chosen} act={grant}>Give</Button></footer>
        </form>
      )}
      <DataView of={granted} empty={{ title: "It has no skills yet", text: "A skill is a set of instructions and files that its models read when they need it.", action: <Link to={tenantPath("/skills")} class="button plain">To the skills</Link> }}>
        {(rows) => (
          <Table label="Skills of this agent" rows={rows} id={(s) => s.skill_id} to={(s) => withQuery({ skill: s.skill_id })} rail={(s) => (s.is_enabled ? "ink" : "ember")}
            columns={[
              { name: "Skill", cell: (s) => name(s) },
              { name: "What it does", wide: true, cell: (s) => <span class="cut">{names.get(s.skill_id)?.description ?? ""}</span> },
              { name: "State", cell: (s) => <>{s.is_enabled ? <Status tone="pine">On</Status> : <Status tone="plain">Off</Status>} {s.has_config && <Tag>configured</Tag>}</> },
            ]}
            {...(write ? { actions: (s: AgentSkillRead) => (
              <>
                <Button look="quiet" label={`${s.is_enabled ? "Switch off" : "Switch on"} ${name(s)}`} act={async () => {
                  await call("PATCH /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}", { path: one(s), body: { is_enabled: !s.is_enabled } });
                  granted.reload();
                }}>{s.is_enabled ? "Switch off" : "Switch on"}</Button>
                <Button look="quiet" icon="trash" label={`Take ${name(s)} away`} act={async () => {
                  if (s.has_config && !(await confirm({ title: `Take ${name(s)} away?`, text: "Its sealed configuration goes with it.", action: "Take away", danger: true }))) return;
                  await call("DELETE /tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}", { path: one(s) });
                  granted.reload();
                }} />
              </>
            ) } : {})} />
        )}
      </DataView>
      {opened && (
        <section class="panel" aria-label={name(opened)} key={opened.skill_id}>
          <div class="part-head">
            <h2>{straight(name(opened))}</h2>
            <div class="filters"><Link to={tenantPath(`/skills/${opened.skill_id}`)}>The skill itself</Link><Button look="quiet" icon="close" label="Close" act={() => go(withQuery({ skill: null }))} /></div>
          </div>
          {write && <Config path={one(opened)} concerns={concerns} />}
          <Version path={one(opened)} concerns={concerns} write={write} />
          {write && <Webhooks path={one(opened)} concerns={concerns} />}
        </section>
      )}
      {write && <Forbidden {...props} name={(id) => names.get(id)?.name ?? id} />}
    </>
  );
}
