// bucket.tsx - the bucket of a tenant: its folders and files, brought in, taken out, handed to others for a while, deleted.
import { useEffect, useRef, useState } from "preact/hooks";
import type { BucketFolder, BucketObject } from "../contract/types";
import { address, call } from "../lib/api";
import { useFolder } from "../lib/folder";
import { Time, bytes, straight } from "../lib/format";
import { Link, go, location, withQuery } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import { upload } from "../lib/uploads";
import { handOut } from "../ui/address";
import { Button } from "../ui/button";
import { Copy } from "../ui/copy";
import { Dialog, confirm, over } from "../ui/dialog";
import { Drop } from "../ui/drop";
import { Icon } from "../ui/icons";
import { Facts, Page } from "../ui/page";
import { DataView, Empty } from "../ui/states";
import { Table } from "../ui/table";
import { toast } from "../ui/toast";
import { Uploads } from "../ui/uploads";

const nameOf = (key: string): string => key.replace(/\/$/, "").split("/").at(-1) ?? key;
const at = (prefix: string): string => withQuery({ prefix, object: null });
const bytesOf = (key: string): string => address("GET /tenant/{tenant_id}/bucket/object", { tenant_id: tenantId() }, { key });

function Crumbs({ prefix }: { prefix: string }) {
  const parts = prefix.split("/").filter(Boolean);
  return (
    <nav class="crumbs" aria-label="Folder">
      <Link to={at("")}>Bucket</Link>
      {parts.map((part, i) => {
        const here = `${parts.slice(0, i + 1).join("/")}/`;
        return <span key={here}><span aria-hidden="true" class="muted"> / </span><Link to={at(here)} aria-current={here === prefix ? "page" : undefined}>{straight(part)}</Link></span>;
      })}
    </nav>
  );
}

function NewFolder({ close }: { close: (name: string | null) => void }) {
  const [name, setName] = useState("");
  const clean = name.trim().replace(/^\/+|\/+$/g, "");
  const bad = clean.split("/").some((p) => p === "." || p === ".." || (p === "" && clean !== ""));
  return (
    <Dialog title="New folder" onClose={() => close(null)}>
      <form onSubmit={(e) => {
        e.preventDefault();
        if (clean && !bad) close(clean);
      }}>
        <div class="field">
          <label class="label" for="folder-name">Its name</label>
          <input id="folder-name" value={name} autocomplete="off" spellcheck={false} aria-describedby="folder-help" aria-invalid={bad || undefined} onInput={(e) => setName(e.currentTarget.value)} />
          <p class="help" id="folder-help">A folder is there as soon as a file is in it, and goes with the last.</p>
        </div>
        <footer><Button act={() => close(null)}>Cancel</Button><Button type="submit" look="primary" disabled={!clean || bad}>Open it</Button></footer>
      </form>
    </Dialog>
  );
}

async function remove(o: BucketObject): Promise<boolean> {
  if (!(await confirm({ title: `Delete ${nameOf(o.key)}?`, text: `${o.key} has ${bytes(o.size_bytes)}. Addresses that were handed out for it lead nowhere then. This cannot be undone.`, action: "Delete file", danger: true }))) return false;
  // What somebody put there since is not what was shown.
  await call("DELETE /tenant/{tenant_id}/bucket/object", { path: { tenant_id: tenantId() }, query: { key: o.key }, match: `"${o.sha256}"` });
  toast(`${nameOf(o.key)} is deleted`);
  return true;
}

/** One file, opened. */
function One({ object: o, write, close, changed }: { object: BucketObject; write: boolean; close: () => void; changed: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [o.key]);
  return (
    <section class="panel" aria-label={straight(nameOf(o.key))}>
      <div class="part-head"><h2 tabIndex={-1} ref={heading}>{straight(nameOf(o.key))}</h2><Button look="quiet" icon="close" label="Close" act={close} /></div>
      <Facts rows={[
        ["Key", <code>{straight(o.key)}</code>],
        ["Size", bytes(o.size_bytes)],
        ["Type", <code>{straight(o.content_type)}</code>],
        ["Put", <Time at={o.updated_at} />],
        ["First put", <Time at={o.created_at} />],
        ["SHA-256", <><code>{o.sha256}</code> <Copy text={o.sha256} label="Copy the SHA-256" /></>],
        ["As operations name it", <><code>{straight(o.storage_uri)}</code> <Copy text={o.storage_uri} label="Copy the storage_uri" /></>],
      ]} />
      <div class="filters">
        <a class="button primary" href={bytesOf(o.key)} download={nameOf(o.key)}>Download</a>
        <Button act={() => handOut({ key: o.key, write })}>Address for others</Button>
        {can("agents:create") && <Link class="button plain" to={tenantPath(`/agents/import?object=${encodeURIComponent(o.key)}`)}>Import as an agent</Link>}
        {write && <Button look="danger" act={async () => (await remove(o)) && (close(), changed())}>Delete</Button>}
      </div>
    </section>
  );
}

type Row = { folder: string; object?: undefined } | { folder?: undefined; object: BucketObject };
const rowsOf = (f: BucketFolder): Row[] => [...f.folders.map((folder) => ({ folder })), ...f.objects.map((object) => ({ object }))];

function room({ used_bytes, max_bytes }: BucketFolder) {
  return <><meter min={0} max={max_bytes} high={max_bytes * 0.9} value={used_bytes} aria-label="How full the bucket is" /> {bytes(used_bytes)} of {bytes(max_bytes)} used</>;
}

export default function Bucket() {
  const { query } = location.value;
  const tenant = tenantId(), prefix = query.get("prefix") ?? "", write = can("bucket:write");
  const of = useFolder(tenant, prefix);
  const opened = of.data?.objects.find((o) => o.key === query.get("object"));
  const take = (files: File[]): void => upload(tenant, prefix, files);
  const newFolder = async (): Promise<void> => {
    const name = await over<string>((close) => <NewFolder close={close} />);
    if (name) go(at(`${prefix}${name}/`));
  };
  const empty = of.data && !of.data.folders.length && !of.data.objects.length;
  return (
    <Page title="Bucket" part={prefix || undefined} lead={of.data && room(of.data)} actions={write && (
      <>
        <Button act={newFolder}>New folder</Button>
        <Button act={() => handOut({ prefix, write })}>Ask others for a file</Button>
      </>
    )}>
      {prefix && <Crumbs prefix={prefix} />}
      {write && <Drop action="Upload files" label="Files from this computer" multiple take={take}>or drop them here: they go into {prefix ? <code>{straight(prefix)}</code> : "the bucket itself"}</Drop>}
      <Uploads />
      {opened && <One object={opened} write={write} close={() => go(withQuery({ object: null }))} changed={of.reload} />}
      <DataView of={of}>
        {(folder) => (empty ? (
          <Empty title={prefix ? "Nothing lies here" : "The bucket is empty"} text={write ? "Files of any size and kind: what agents are imported from, and what they are exported into." : "Whoever may put files here has not done so yet."} />
        ) : (
          <Table label="Files" rows={rowsOf(folder)} id={(r) => r.folder ?? r.object.key} to={(r) => (r.folder ? at(r.folder) : withQuery({ object: r.object?.key }))}
            columns={[
              { name: "Name", cell: (r) => <span class="entry-name"><Icon name={r.folder ? "folder" : "file"} /><bdi>{straight(nameOf(r.folder ?? r.object.key))}{r.folder && "/"}</bdi></span> },
              { name: "Size", figure: true, cell: (r) => (r.object ? bytes(r.object.size_bytes) : <span class="muted">folder</span>) },
              { name: "Type", wide: "most", cell: (r) => <span class="cut">{r.object?.content_type ?? ""}</span> },
              { name: "Put", wide: true, cell: (r) => r.object && <Time at={r.object.updated_at} /> },
              { name: "SHA-256", wide: "most", cell: (r) => r.object && <code class="muted">{r.object.sha256.slice(0, 12)}</code> },
            ]}
            actions={({ object: o }) => o && (
              <>
                <a class="button quiet bare" href={bytesOf(o.key)} download={nameOf(o.key)} aria-label={`Download ${straight(nameOf(o.key))}`} title="Download"><Icon name="download" /></a>
                {write && <Button look="quiet" icon="trash" label={`Delete ${nameOf(o.key)}`} act={async () => (await remove(o)) && of.reload()} />}
              </>
            )} />
        ))}
      </DataView>
    </Page>
  );
}
