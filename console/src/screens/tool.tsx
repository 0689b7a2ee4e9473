// tool.tsx - one tool: what it takes, how it is called, its secrets, who may give it; and trying it.
import { useState } from "preact/hooks";
import { ToolTry, ToolUpdate } from "../contract/forms";
import type { ToolRead, ToolTryResult } from "../contract/types";
import { call, tagged } from "../lib/api";
import { useData } from "../lib/data";
import { Time, span } from "../lib/format";
import { go } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import type { ScreenProps } from "../routes";
import { Button } from "../ui/button";
import { confirm } from "../ui/dialog";
import { ContractForm, type Form } from "../ui/form";
import { save } from "../ui/merge";
import { Facts, Page, Status, Tag } from "../ui/page";
import { SchemaView } from "../ui/schema";
import { DataView } from "../ui/states";
import { callOf, parameters } from "../ui/tool-parts";
import { toast } from "../ui/toast";

const MASK = "********";

type Property = { type?: unknown; description?: unknown; enum?: unknown; title?: unknown; default?: unknown };

/** A form of what the tool takes: one field an argument where its schema is plain, JSON where it is not. */
function formOf(schema: Record<string, unknown>): Form {
  const properties = (schema["properties"] ?? {}) as Record<string, Property>;
  const required = (schema["required"] ?? []) as string[];
  return Object.entries(properties).map(([name, p]) => {
    const words = Array.isArray(p.enum) && p.enum.every((w) => typeof w === "string") ? (p.enum as string[]) : undefined;
    const kind = words ? "choice" : p.type === "string" ? "text" : p.type === "integer" ? "integer" : p.type === "number" ? "number" : p.type === "boolean" ? "flag" : "json";
    return { name, label: name, help: typeof p.description === "string" ? p.description : "", kind, required: required.includes(name), ...(words ? { words } : {}), ...(p.default === undefined ? {} : { preset: p.default }) };
  });
}

/** What was left empty is not given. */
const given = (body: Record<string, unknown>): Record<string, unknown> => Object.fromEntries(Object.entries(body).filter(([, v]) => v !== ""));

function Try({ tool, path }: { tool: ToolRead; path: { tenant_id: string; tool_id: string } }) {
  const [result, setResult] = useState<ToolTryResult | null>(null);
  const form = formOf(tool.input_schema);
  const plain = form.length > 0;
  return (
    <section class="part narrow" aria-label="Try it">
      <h2>Try it</h2>
      <p class="muted">It is called once, as an agent would call it, and what it does is done. It is in the audit log, without what it was given.</p>
      <ContractForm key={JSON.stringify(tool.input_schema)} form={plain ? form : ToolTry} action="Call it" passing send={async (body) => {
        setResult(null);
        if (tool.requires_approval && !(await confirm({ title: `Call ${tool.name}?`, text: "Agents must ask a person before they call it. That person is you now.", action: "Call it" }))) return;
        setResult(await call("POST /tenant/{tenant_id}/tools/{tool_id}/try", { path, body: plain ? { arguments: given(body) } : body }));
      }} />
      <div aria-live="polite">
        {result && (
          <div class="panel">
            <p>{result.failed ? <Status tone="danger" icon="warn">It failed</Status> : <Status tone="pine" icon="check">It worked</Status>} <span class="muted">in {span(result.duration_ms)}{result.was_cut && "; the answer is longer than what a model is told"}</span></p>
            <pre class="answer" tabIndex={0} aria-label="What it answered">{result.text}</pre>
          </div>
        )}
      </div>
    </section>
  );
}

function secretNames(tool: ToolRead): string[] {
  const headers = tool.config["headers"];
  return typeof headers === "object" && headers !== null ? Object.entries(headers).filter(([, v]) => v === MASK).map(([name]) => name) : [];
}

export default function Tool({ params }: ScreenProps) {
  const path = { tenant_id: tenantId(), tool_id: params["tool"] ?? "" };
  const of = useData("GET /tenant/{tenant_id}/tools/{tool_id}", { path });
  const write = can("tools:write");
  const remove = async (t: ToolRead): Promise<void> => {
    if (!(await confirm({ title: `Delete ${t.name}?`, text: "Agents and bundles that hold it lose it at once, and its secrets are gone.", action: "Delete tool", danger: true, type: t.name }))) return;
    await call("DELETE /tenant/{tenant_id}/tools/{tool_id}", { path });
    toast(`${t.name} is deleted`);
    go(tenantPath("/tools"));
  };
  return (
    <Page title={of.data?.name ?? "Tool"} lead={of.data?.description}>
      <DataView of={of}>
        {(t) => {
          const secrets = secretNames(t);
          return (
            <>
              <section class="part"><h2>What it takes</h2><SchemaView schema={t.input_schema} /></section>
              {write && <Try tool={t} path={path} />}
              <Facts rows={[
                ["Kind", <Tag>{t.kind}</Tag>],
                ["Before it runs", t.requires_approval ? <Status tone="ember" icon="user">{t.person_only ? "A person with a login approves" : "A person approves"}</Status> : "Runs by itself"],
                ["Given by", t.grantable_by === "admins" ? "those who may change tools" : "whoever may change an agent's tools"],
                ["Secrets", secrets.length ? <>{secrets.map((s) => <Tag key={s}>{s}</Tag>)} <span class="muted">sealed; never shown</span></> : "none"],
                ["Changed", <Time at={t.updated_at} />],
              ]} />
              {write && (
                <section class="part narrow">
                  <h2>Change</h2>
                  <ContractForm form={ToolUpdate} value={t as unknown as Record<string, unknown>} without={t.kind === "builtin" ? ["name", "input_schema", "repeat_safe", "config"] : []} custom={{ input_schema: parameters, config: callOf(t.kind) }} action="Save tool"
                    send={async (change) => {
                      const now = await save({ base: t, etag: of.etag, change, read: () => tagged("GET /tenant/{tenant_id}/tools/{tool_id}", { path }), write: (body, match) => tagged("PATCH /tenant/{tenant_id}/tools/{tool_id}", { path, body, match }) });
                      of.reload();
                      toast(now ? "Saved" : "Theirs is kept");
                    }} />
                </section>
              )}
              {write && <section class="part"><h2>Delete</h2><p class="muted">Agents and bundles that hold it lose it at once.</p><Button look="danger" act={() => remove(t)}>Delete this tool</Button></section>}
            </>
          );
        }}
      </DataView>
    </Page>
  );
}
