// bundles.tsx - tools that are given together: made, changed, deleted.
import { useRef, useState } from "preact/hooks";
import { ToolBundleCreate, ToolBundleUpdate } from "../contract/forms";
import type { ToolBundleCreate as Body, ToolBundleRead, ToolRead } from "../contract/types";
import { type Tagged, call, tagged } from "../lib/api";
import { useData, useList } from "../lib/data";
import { plural, straight } from "../lib/format";
import { Link, go, location, setQuery, withQuery } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import { slugOf } from "../lib/slug";
import { Button } from "../ui/button";
import { confirm } from "../ui/dialog";
import { Search } from "../ui/filters";
import { ContractForm, type Typed } from "../ui/form";
import { save } from "../ui/merge";
import { Page, Tag } from "../ui/page";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toast";

type Named = Pick<ToolRead, "id" | "name">;

/** A bundle as its form has it: its tools by their ids. */
type Flat = Omit<ToolBundleRead, "tools"> & { tools: string[] };
const flat = (b: ToolBundleRead): Flat => ({ ...b, tools: b.tools.map((t) => t.id) });
const flatly = ({ data, etag }: Tagged<ToolBundleRead>): Tagged<Flat> => ({ data: flat(data), etag });

/** Boxes for those that are chosen and those that the search finds. */
function Members({ known, value, set }: { known: Map<string, Named>; value: string; set: (v: string) => void }) {
  const chosen = value.split("\n").filter(Boolean);
  const [q, setQ] = useState("");
  const tools = useList("GET /tenant/{tenant_id}/tools", { path: { tenant_id: tenantId() }, query: { q: q || undefined } });
  for (const t of tools.data ?? []) known.set(t.id, t);
  const found = (tools.data ?? []) as Named[];
  const rows = [...chosen.flatMap((id) => (found.some((t) => t.id === id) ? [] : known.get(id) ?? [])), ...found];
  return (
    <div class="choices" role="group" aria-label="Tools of the bundle">
      {(q || tools.more) && <input type="search" aria-label="Search tools" placeholder="Search tools" value={q} onInput={(e) => setQ(e.currentTarget.value)} />}
      {rows.map((t) => <label key={t.id}><input type="checkbox" checked={chosen.includes(t.id)} onChange={(e) => set((e.currentTarget.checked ? [...chosen, t.id] : chosen.filter((c) => c !== t.id)).join("\n"))} /> {straight(t.name)}</label>)}
      {tools.more && <Button look="quiet" act={tools.more}>Show more tools</Button>}
    </div>
  );
}

export default function Bundles() {
  const { query } = location.value;
  const path = { tenant_id: tenantId() };
  const q = query.get("q") ?? "", open = query.get("bundle");
  const bundles = useList("GET /tenant/{tenant_id}/tool-bundles", { path, query: { q: q || undefined } });
  const own = useRef("");
  const known = useRef(new Map<string, Named>()); // every tool that was seen, for its name
  const write = can("tools:write");
  const create = write ? <Link to={withQuery({ bundle: "new" })} class="button primary">New bundle</Link> : undefined;
  const close = (): void => go(withQuery({ bundle: null }));
  const at = { ...path, bundle_id: open ?? "" };
  const one = useData("GET /tenant/{tenant_id}/tool-bundles/{bundle_id}", open && open !== "new" ? { path: at } : null);
  const opened = one.data;
  for (const t of opened?.tools ?? []) known.current.set(t.id, t);
  const words = (value: unknown, field: string): string | undefined => (field === "tools" ? (Array.isArray(value) ? (value as string[]) : String(value).split("\n")).map((id) => known.current.get(id)?.name ?? id).join(", ") || "(none)" : undefined);
  const custom = { tools: (v: string | boolean | string[], set: (v: string) => void) => <Members known={known.current} value={String(v)} set={set} /> };
  const remove = async (b: ToolBundleRead): Promise<void> => {
    if (!(await confirm({ title: `Delete ${b.name}?`, text: "Agents that have it lose its tools at once; the tools themselves stay.", action: "Delete bundle", danger: true, type: b.slug }))) return;
    await call("DELETE /tenant/{tenant_id}/tool-bundles/{bundle_id}", { path: { ...path, bundle_id: b.id } });
    toast(`${b.name} is deleted`);
    bundles.reload();
    close();
  };
  return (
    <Page title="Bundles" lead={bundles.total === undefined ? undefined : plural(bundles.total, "bundle")} actions={<><Link to={tenantPath("/tools")} class="button plain">Tools</Link>{create}</>}>
      {write && open === "new" && (
        <section class="panel narrow" aria-label="New bundle">
          <h2>New bundle</h2>
          <ContractForm within="bundle" form={ToolBundleCreate} action="Create bundle" custom={custom} cancel={close}
            follow={(typed: Typed, changed) => {
              if (changed !== "name" || typed["slug"] !== own.current) return;
              own.current = slugOf(String(typed["name"]));
              return { slug: own.current };
            }}
            send={async (body) => {
              const made = await call("POST /tenant/{tenant_id}/tool-bundles", { path, body: body as unknown as Body });
              toast(`${made.name} is made`);
              own.current = "";
              bundles.reload();
              close();
            }} />
        </section>
      )}
      {write && open && open !== "new" && !opened && <DataView of={one} rows={2}>{() => null}</DataView>}
      {write && opened && (
        <section class="panel narrow" aria-label={opened.name} key={opened.id}>
          <div class="part-head"><h2>{straight(opened.name)}</h2><Button look="danger" act={() => remove(opened)}>Delete</Button></div>
          <ContractForm within="bundle" form={ToolBundleUpdate} value={flat(opened)} action="Save bundle" custom={custom} words={words} cancel={close} send={async (change) => {
            const now = await save<Flat>({ base: flat(opened), etag: one.etag, change,
              words,
              read: async () => {
                const theirs = await tagged("GET /tenant/{tenant_id}/tool-bundles/{bundle_id}", { path: at });
                for (const t of theirs.data.tools) known.current.set(t.id, t);
                return flatly(theirs);
              },
              write: async (body, match) => flatly(await tagged("PATCH /tenant/{tenant_id}/tool-bundles/{bundle_id}", { path: at, body, match })) });
            toast(now ? "Saved" : "Theirs is kept");
            one.reload();
            bundles.reload();
          }} />
        </section>
      )}
      <div class="filters" role="search"><Search label="Search bundles" value={q} set={(text) => setQuery({ q: text })} /></div>
      <DataView of={bundles} filtered={q !== ""} filters={["q"]} empty={{ title: "No bundles yet", text: "A bundle is a set of tools that is given to agents as one.", ...(create ? { action: create } : {}) }}>
        {(rows) => (
          <Table label="Bundles" rows={rows} id={(b) => b.id} {...(write ? { to: (b: ToolBundleRead) => withQuery({ bundle: b.id }) } : {})}
            columns={[
              { name: "Bundle", cell: (b) => b.name },
              { name: "What it is for", wide: true, cell: (b) => <span class="cut">{b.description ?? ""}</span> },
              { name: "Tools", cell: (b) => <>{b.tools.map((t) => <Tag key={t.id}>{t.name}</Tag>)}</> },
            ]} />
        )}
      </DataView>
    </Page>
  );
}
