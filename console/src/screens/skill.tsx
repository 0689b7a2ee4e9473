// skill.tsx - one skill: its text with a preview, its files, what it looks like as SKILL.md, taking it out and deleting it.
import { useRef, useState } from "preact/hooks";
import { SkillUpdate } from "../contract/forms";
import type { SkillRead } from "../contract/types";
import { address, call, send, tagged } from "../lib/api";
import { type Data, useData } from "../lib/data";
import { Time, bytes } from "../lib/format";
import { Markdown } from "../lib/markdown";
import { go } from "../lib/router";
import { can, tenantId, tenantPath } from "../lib/session";
import type { ScreenProps } from "../routes";
import { Button } from "../ui/button";
import { confirm } from "../ui/dialog";
import { ContractForm } from "../ui/form";
import { save } from "../ui/merge";
import { Facts, Page, Tag } from "../ui/page";
import { Pairs } from "../ui/pairs";
import { DataView, Empty } from "../ui/states";
import { Table } from "../ui/table";
import { complain, toast } from "../ui/toast";

type Path = { tenant_id: string; skill_id: string };

function Files({ skill, of, path, write }: { skill: SkillRead; of: Data<SkillRead>; path: Path; write: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  const [folder, setFolder] = useState("references");
  const url = (file: string, method = "GET"): string => address(`${method} /tenant/{tenant_id}/skills/{skill_id}/file`, path, { path: file });
  const put = async (files: FileList): Promise<void> => {
    for (const f of files) await send("PUT", url(`${folder ? `${folder.replace(/\/+$/, "")}/` : ""}${f.name}`, "PUT"), { body: f, headers: { "Content-Type": "application/octet-stream" } });
    of.reload();
    toast(files.length === 1 ? "The file is added" : "The files are added");
  };
  return (
    <section class="part">
      <h2>Files</h2>
      {write && (
        <div class="filters">
          <label class="choose"><span>Into the folder</span><input class="inline" value={folder} onInput={(e) => setFolder(e.currentTarget.value)} /></label>
          <input ref={input} type="file" multiple class="hidden" tabIndex={-1} aria-label="Files from this computer" onChange={(e) => {
            const list = e.currentTarget.files;
            if (list?.length) put(list).catch(complain);
          }} />
          <Button act={() => input.current?.click()}>Add files</Button>
        </div>
      )}
      {skill.files.length ? (
        <Table label="Files" rows={skill.files} id={(f) => f.path}
          columns={[
            { name: "Path", cell: (f) => <a href={url(f.path)} download={f.path.split("/").at(-1)}>{f.path}</a> },
            { name: "Size", figure: true, cell: (f) => bytes(f.size_bytes) },
            { name: "SHA-256", wide: true, cell: (f) => <code class="muted">{f.sha256.slice(0, 12)}</code> },
          ]}
          {...(write ? { actions: (f: { path: string }) => <Button look="quiet" icon="trash" label={`Delete ${f.path}`} act={async () => {
            if (!(await confirm({ title: `Delete ${f.path}?`, text: "Agents that have the skill no longer read it.", action: "Delete file", danger: true }))) return;
            await send("DELETE", url(f.path, "DELETE"));
            of.reload();
          }} /> } : {})} />
      ) : <Empty title="No files" text="References, templates and scripts that the instructions speak of." />}
    </section>
  );
}

export default function Skill({ params }: ScreenProps) {
  const path = { tenant_id: tenantId(), skill_id: params["skill"] ?? "" };
  const of = useData("GET /tenant/{tenant_id}/skills/{skill_id}", { path });
  const write = can("skills:write") && of.data?.tenant_id === tenantId();
  const remove = async (s: SkillRead): Promise<void> => {
    if (!(await confirm({ title: `Delete ${s.name}?`, text: "Its files, and the grants and configurations of every agent that has it, go with it.", action: "Delete skill", danger: true, type: s.slug }))) return;
    await call("DELETE /tenant/{tenant_id}/skills/{skill_id}", { path });
    toast(`${s.name} is deleted`);
    go(tenantPath("/skills"));
  };
  return (
    <Page title={of.data?.name ?? "Skill"} lead={of.data?.description} actions={of.data && (
      <>
        <a class="button plain" href={address("GET /tenant/{tenant_id}/skills/{skill_id}/SKILL.md", path)} download={`${of.data.slug}.SKILL.md`}>SKILL.md</a>
        <a class="button plain" href={address("GET /tenant/{tenant_id}/skills/{skill_id}/export", path)} download={`${of.data.slug}.zip`}>Take it out as a zip</a>
      </>
    )}>
      <DataView of={of}>
        {(s) => (
          <>
            {write ? (
              <section class="part narrow">
                <ContractForm form={SkillUpdate} value={s as unknown as Record<string, unknown>} first={["name", "description", "visibility", "instructions"]} action="Save skill"
                  custom={{ metadata: (v, set) => <Pairs label="Metadata" text={String(v)} set={set} /> }}
                  send={async (change) => {
                    const now = await save({ base: s, etag: of.etag, change, read: () => tagged("GET /tenant/{tenant_id}/skills/{skill_id}", { path }), write: (body, match) => tagged("PATCH /tenant/{tenant_id}/skills/{skill_id}", { path, body, match }) });
                    of.reload();
                    toast(now ? "Saved" : "Theirs is kept");
                  }} />
              </section>
            ) : <section class="part"><h2>Instructions</h2><Markdown text={s.instructions} /></section>}
            <Files skill={s} of={of} path={path} write={write} />
            <Facts rows={[["Slug", <code>{s.slug}</code>], ["Seen by", <Tag>{s.visibility}</Tag>], ["Made", <Time at={s.created_at} />], ["Changed", <Time at={s.updated_at} />]]} />
            {write && <section class="part"><h2>Delete</h2><p class="muted">Every agent that has it loses it at once.</p><Button look="danger" act={() => remove(s)}>Delete this skill</Button></section>}
          </>
        )}
      </DataView>
    </Page>
  );
}
