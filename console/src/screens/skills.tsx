// skills.tsx - the skills of a tenant: found, made, brought in from a file.
import { useRef } from "preact/hooks";
import type { SkillRead } from "../contract/types";
import { Problem, address, send } from "../lib/api";
import { useList } from "../lib/data";
import { Time, plural } from "../lib/format";
import { Link, go, location, setQuery } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import { Button } from "../ui/button";
import { confirm } from "../ui/dialog";
import { Choose, Search } from "../ui/filters";
import { Page, Tag } from "../ui/page";
import { DataView } from "../ui/states";
import { Table } from "../ui/table";
import { complain, toast } from "../ui/toast";

/** A zip of a skill's folder, or a SKILL.md by itself. */
async function bringIn(file: File): Promise<void> {
  const type = /\.(md|markdown|txt)$/i.test(file.name) ? "text/markdown" : "application/zip";
  const put = async (replace: boolean): Promise<SkillRead> => (await send("POST", address("POST /tenant/{tenant_id}/skills/import", { tenant_id: tenantId() }, replace ? { replace } : {}), { body: file, headers: { "Content-Type": type } })).json() as Promise<SkillRead>;
  let made: SkillRead;
  try {
    made = await put(false);
  } catch (err) {
    if (!(err instanceof Problem) || err.status !== 409) throw err;
    if (!(await confirm({ title: "Replace the skill that is there?", text: `${err.detail} Its text and files are replaced by those of ${file.name}; grants and configurations stay.`, action: "Replace it", danger: true }))) return;
    made = await put(true);
  }
  toast(`${made.name} is brought in`);
  go(tenantPath(`/skills/${made.id}`));
}

export default function Skills() {
  const { query } = location.value;
  const q = query.get("q") ?? "", visibility = query.get("visibility") ?? "";
  const skills = useList("GET /tenant/{tenant_id}/skills", { path: { tenant_id: tenantId() }, query: { q: q || undefined, visibility: (visibility || undefined) as "private" | undefined } });
  const file = useRef<HTMLInputElement>(null);
  const write = can("skills:write");
  return (
    <Page title="Skills" lead={skills.total === undefined ? undefined : plural(skills.total, "skill")} actions={write && (
      <>
        <input ref={file} class="hidden" type="file" accept=".zip,.md,.skill" tabIndex={-1} aria-label="A skill from this computer" onChange={(e) => {
          const chosen = e.currentTarget.files?.[0];
          e.currentTarget.value = "";
          if (chosen) bringIn(chosen).catch(complain);
        }} />
        <Button act={() => file.current?.click()}>Bring one in</Button>
        <Link to={tenantPath("/skills/new")} class="button primary">New skill</Link>
      </>
    )}>
      <div class="filters" role="search">
        <Search label="Search skills" value={q} set={(text) => setQuery({ q: text })} />
        <Choose label="Seen by" value={visibility} words={["private", "tenant", "public"]} set={(word) => setQuery({ visibility: word })} />
      </div>
      <DataView of={skills} filtered={Boolean(q || visibility)} filters={["q", "visibility"]} empty={{ title: "No skills yet", text: "A skill is a set of instructions and files that an agent's models read when they need it.", ...(write ? { action: <Link to={tenantPath("/skills/new")} class="button primary">New skill</Link> } : {}) }}>
        {(rows) => (
          <Table label="Skills" rows={rows} id={(s) => s.id} to={(s) => tenantPath(`/skills/${s.id}`)}
            columns={[
              { name: "Skill", cell: (s) => s.name },
              { name: "What it does", wide: true, cell: (s) => <span class="cut">{s.description}</span> },
              { name: "Seen by", cell: (s) => <Tag>{s.visibility}</Tag> },
              { name: "Files", figure: true, wide: true, cell: (s) => s.files.length },
              { name: "Changed", wide: true, cell: (s) => <Time at={s.updated_at} /> },
            ]} />
        )}
      </DataView>
    </Page>
  );
}
