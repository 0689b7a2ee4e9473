// tools.tsx - the tools of a tenant: found, made, brought in from an MCP server.
import { useState } from "preact/hooks";
import { ToolImportMcp } from "../contract/forms";
import type { ToolImportMcp as Body, ToolImportResult } from "../contract/types";
import { call } from "../lib/api";
import { useList } from "../lib/data";
import { plural } from "../lib/format";
import { Link, location, setQuery } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import { Button } from "../ui/button";
import { Dialog, over } from "../ui/dialog";
import { Choose, Search } from "../ui/filters";
import { ContractForm } from "../ui/form";
import { Page, Status, Tag } from "../ui/page";
import { Pairs } from "../ui/pairs";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";

function Import({ close }: { close: (done: boolean) => void }) {
  const [result, setResult] = useState<ToolImportResult | null>(null);
  return (
    <Dialog title="Tools of an MCP server" onClose={() => close(result !== null)} wide>
      {result ? (
        <>
          <p>{plural(result.created.length, "tool")} made.</p>
          {result.skipped.length > 0 && <ul aria-label="Left out">{result.skipped.map((s) => <li key={s.name}><code>{s.name}</code>: {s.reason}</li>)}</ul>}
          <footer><Button look="primary" act={() => close(true)}>Done</Button></footer>
        </>
      ) : (
        <ContractForm form={ToolImportMcp} first={["url", "headers", "requires_approval"]} action="Bring them in" cancel={() => close(false)}
          custom={{ headers: (v, set) => <Pairs label="Headers" secret text={String(v)} set={set} /> }}
          send={async (body) => setResult(await call("POST /tenant/{tenant_id}/tools/import-mcp", { path: { tenant_id: tenantId() }, body: body as unknown as Body }))} />
      )}
    </Dialog>
  );
}

export default function Tools() {
  const { query } = location.value;
  const q = query.get("q") ?? "", kind = query.get("kind") ?? "";
  const tools = useList("GET /tenant/{tenant_id}/tools", { path: { tenant_id: tenantId() }, query: { q: q || undefined, kind: (kind || undefined) as "http" | undefined } });
  const write = can("tools:write");
  const create = write ? <Link to={tenantPath("/tools/new")} class="button primary">New tool</Link> : undefined;
  return (
    <Page title="Tools" lead={tools.total === undefined ? undefined : plural(tools.total, "tool")} actions={
      <>
        <Link to={tenantPath("/bundles")} class="button plain">Bundles</Link>
        {write && <Button act={async () => void ((await over<boolean>((close) => <Import close={close} />)) && tools.reload())}>From an MCP server</Button>}
        {create}
      </>
    }>
      <div class="filters" role="search">
        <Search label="Search tools" value={q} set={(text) => setQuery({ q: text })} />
        <Choose label="Kind" value={kind} words={["builtin", "http", "mcp", "sql"]} set={(word) => setQuery({ kind: word })} />
      </div>
      <DataView of={tools} filtered={Boolean(q || kind)} filters={["q", "kind"]} empty={{ title: "No tools yet", text: "A tool is something that agents may do: a call of a service, or something built in.", ...(create ? { action: create } : {}) }}>
        {(rows) => (
          <Table label="Tools" rows={rows} id={(t) => t.id} to={(t) => tenantPath(`/tools/${t.id}`)}
            columns={[
              { name: "Tool", cell: (t) => t.name },
              { name: "What it does", wide: true, cell: (t) => <span class="cut">{t.description}</span> },
              { name: "Kind", cell: (t) => <Tag>{t.kind}</Tag> },
              { name: "Before it runs", wide: true, cell: (t) => (t.requires_approval ? <Status tone="ember" icon="user">A person approves</Status> : <span class="muted">Runs by itself</span>) },
            ]} />
        )}
      </DataView>
    </Page>
  );
}
