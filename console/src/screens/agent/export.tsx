// export.tsx - an agent as one file: downloaded, or put into the tenant's bucket.
import { useState } from "preact/hooks";
import type { AgentExportResult } from "../../contract/types";
import { address, call } from "../../lib/api";
import { bytes, straight } from "../../lib/format";
import { Link } from "../../lib/router";
import { can, tenantPath } from "../../lib/session";
import { Button } from "../../ui/button";
import { Copy } from "../../ui/copy";
import { confirm } from "../../ui/dialog";
import { Facts } from "../../ui/page";
import { toast } from "../../ui/toast";
import type { PartProps } from "../agent";

export default function Export({ agent, path, may }: PartProps) {
  const [sessions, setSessions] = useState(false), [memories, setMemories] = useState(false);
  const [key, setKey] = useState(`exports/${agent.slug}.zip`), [put, setPut] = useState<AgentExportResult | null>(null);
  const query = { ...(sessions ? { sessions } : {}), ...(memories ? { memories } : {}) };
  const folder = (put?.storage_uri ?? "").replace(/^bucket:\/\/[^/]+\//, "").replace(/[^/]*$/, "");
  const send = async (): Promise<void> => {
    const { items } = await call("GET /tenant/{tenant_id}/bucket", { path: { tenant_id: path.tenant_id }, query: { prefix: key, sort: "key", per_page: 1, total: false } });
    const there = items.find((o) => o.key === key);
    if (there && !(await confirm({ title: "Replace the file that is there?", text: `${key} has ${bytes(there.size_bytes)}. The bundle takes its place.`, action: "Replace it", danger: true }))) return;
    setPut(await call("POST /tenant/{tenant_id}/agents/{agent_id}/export", { path, body: { storage_uri: `bucket://${path.tenant_id}/${key}`, sessions, memories } }));
    toast(`${agent.name} is in the bucket`);
  };
  return (
    <div class="narrow">
      <section class="part">
        <h2>Take it out</h2>
        <p class="muted">A bundle holds its settings, prompts, models, tools by name, skills and picture: enough to import it here or elsewhere. Ids, people, roles, integrations and secrets are not in it; a tool or a skill that has settings is in it switched off.</p>
        <div class="form">
          {may("session:read") && (
            <div class="field flag">
              <input id="export-sessions" type="checkbox" checked={sessions} aria-describedby="export-sessions-help" onChange={(e) => setSessions(e.currentTarget.checked)} />
              <label class="label" for="export-sessions">With its sessions</label>
              <p class="help" id="export-sessions-help">What was said in those that you see: the newest 1,000, and 20,000 messages, without files.</p>
            </div>
          )}
          <div class="field flag">
            <input id="export-memories" type="checkbox" checked={memories} aria-describedby="export-memories-help" onChange={(e) => setMemories(e.currentTarget.checked)} />
            <label class="label" for="export-memories">With its memories</label>
            <p class="help" id="export-memories-help">Those that everybody shares; private ones are their people's own.</p>
          </div>
          <footer><a class="button primary" href={address("GET /tenant/{tenant_id}/agents/{agent_id}/export", path, query)} download={`${agent.slug}.zip`}>Download the bundle</a></footer>
        </div>
      </section>
      {can("bucket:write") && (
        <section class="part">
          <h2>Into the bucket</h2>
          <form class="form" onSubmit={(e) => e.preventDefault()}>
            <div class="field">
              <label class="label" for="export-key">Key</label>
              <input id="export-key" value={key} maxLength={1024} autocomplete="off" spellcheck={false} onInput={(e) => setKey(e.currentTarget.value)} />
            </div>
            <footer><Button type="submit" disabled={!key.trim()} act={send}>Put it into the bucket</Button></footer>
          </form>
          {put && (
            <div role="status">
              <Facts rows={[
                ["File", <>{can("bucket:read") ? <Link to={tenantPath(`/bucket${folder ? `?prefix=${encodeURIComponent(folder)}` : ""}`)}>{straight(put.storage_uri)}</Link> : <code>{straight(put.storage_uri)}</code>} <Copy text={put.storage_uri} label="Copy the storage_uri" /></>],
                ["Size", bytes(put.size_bytes)],
                ["SHA-256", <code>{put.sha256}</code>],
              ]} />
            </div>
          )}
        </section>
      )}
    </div>
  );
}
