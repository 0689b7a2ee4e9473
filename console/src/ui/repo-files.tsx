// repo-files.tsx - what is in an agent's repository: folders, and a file with its lines numbered.
//
// Names and texts are strangers': names are shown with every sign, of a text so much as a page can bear.  Links and modules are shown as
// what they are, and lead nowhere.
import { useEffect, useRef, useState } from "preact/hooks";
import type { RepoEntry, RepoEntryKind } from "../contract/types";
import { coloured } from "../lib/colour";
import { useData } from "../lib/data";
import { linesOf } from "../lib/diff";
import { bytes, count, plural, straight, unturned } from "../lib/format";
import { type AgentPath, fileUrl, useText } from "../lib/repo";
import { Link, go, location, withQuery } from "../lib/router";
import { Icon, type IconName } from "./icons";
import { Crumbs, RefPick, at } from "./repo-parts";
import { Button } from "./button";
import { DataView, Empty, Failed, Skeleton } from "./states";
import { Table } from "./table";

const PER_PAGE = 500, LINES = 2000, LINE_MAX = 2000;
const KINDS: Record<RepoEntryKind, { icon: IconName; word: string }> = {
  folder: { icon: "folder", word: "folder" },
  file: { icon: "file", word: "" },
  program: { icon: "tool", word: "may be run" },
  link: { icon: "link", word: "link, not followed" },
  module: { icon: "branch", word: "another repository, not followed" },
};

const nameOf = (path: string): string => path.split("/").at(-1) ?? path;
const languageOf = (path: string): string => (/^(Dockerfile|Makefile)$/i.exec(nameOf(path))?.[0] ?? nameOf(path).split(".").at(-1) ?? "").toLowerCase();

interface Place { path: AgentPath; commit: string | null; pinned: string }

function Folder({ path, commit: ref, folder, after }: Place & { folder: string; after: string | null }) {
  const of = useData("GET /tenant/{tenant_id}/agents/{agent_id}/repo/tree", { path, query: { ref, path: folder || undefined, after: after ?? undefined, per_page: PER_PAGE } });
  const to = (e: RepoEntry): string | undefined => (e.kind === "folder" ? at("files", { path: e.path }) : e.kind === "file" || e.kind === "program" ? at("files", { file: e.path }) : undefined);
  if (of.error?.status === 404 && !of.data) return <Empty title="There is nothing here" text={of.error.detail} action={<Link class="button plain" to={at("files", { ref: null })}>To where it is pinned</Link>} />;
  return (
    <DataView of={of}>
      {(tree) => {
        const all = !after && !tree.next_after, rows = all ? [...tree.entries].sort((a, b) => Number(b.kind === "folder") - Number(a.kind === "folder")) : tree.entries;
        if (!rows.length) return <Empty title="The folder is empty" />;
        return (
          <>
            <Table label="Files" rows={rows} id={(e) => e.path} to={to} columns={[
              { name: "Name", cell: (e) => <span class="entry-name"><Icon name={KINDS[e.kind].icon} /><bdi>{straight(e.name)}{e.kind === "folder" && "/"}</bdi></span> },
              { name: "Size", figure: true, cell: (e) => <>{e.size_bytes !== null && bytes(e.size_bytes).replace(" ", "\u00a0")}{KINDS[e.kind].word && <span class="muted">{e.size_bytes !== null && ", "}{KINDS[e.kind].word}</span>}</> },
              { name: "Object", wide: "most", cell: (e) => <code class="muted">{e.object_id.slice(0, 8)}</code> },
            ]} />
            <p class="muted small">At commit <Link to={at("files", { ref: tree.commit_id, path: folder })}><code>{tree.commit_id.slice(0, 8)}</code></Link>{!all && <>, {plural(rows.length, "entry", "entries")} {after && <>after <bdi>{straight(after)}</bdi></>}</>}</p>
            {(after || tree.next_after) && <div class="pages">{after && <Link class="button plain" to={withQuery({ after: null })}>From the beginning</Link>}{tree.next_after && <Link class="button plain" to={withQuery({ after: tree.next_after })}>More entries</Link>}</div>}
          </>
        );
      }}
    </DataView>
  );
}

/** Lines with numbers beside them; what has no end is cut, and says so. */
function Lines({ text, name }: { text: string; name: string }) {
  const [most, setMost] = useState(LINES);
  const lines = linesOf(text), shown = lines.slice(0, most).map((line) => (line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)} [${count(line.length - LINE_MAX)} more characters]` : line));
  return (
    <>
      <div class="lines" tabIndex={0} role="group" aria-label={`Text of ${straight(name)}`}>
        <pre aria-hidden="true">{shown.map((_, i) => i + 1).join("\n")}</pre>
        <pre dir="auto">{coloured(unturned(shown.join("\n")), languageOf(name))}</pre>
      </div>
      {lines.length > most && <div class="more"><Button act={() => setMost(most + LINES)}>Show more of {plural(lines.length, "line")}</Button></div>}
    </>
  );
}

function File({ path, commit: ref, pinned, file }: Place & { file: string }) {
  const url = fileUrl(path, ref, file), of = useText(url), name = nameOf(file), { data } = of;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), [file]);
  return (
    <section class="part" aria-label={straight(name)}>
      <div class="part-head">
        <h2 tabIndex={-1} ref={heading}><bdi>{straight(name)}</bdi></h2>
        <div class="filters"><Link class="button plain" to={at("commits", { path: file })}>Its commits</Link><a class="button plain" href={url} download={name}>Download</a></div>
      </div>
      {data && <p class="muted small">{data.size === null ? "" : `${bytes(data.size)}, `}{data.text === null ? "no text" : data.whole ? plural(linesOf(data.text).length, "line") : "too long to show all of it"}, at <bdi>{straight(ref ?? pinned)}</bdi></p>}
      {of.error ? <Failed problem={of.error} retry={of.reload} /> : !data ? <Skeleton /> : data.text === null ? <Empty title="It is no text" text="Pictures, programs and the like are not shown. Download it to look at it." />
        : data.text === "" ? <Empty title="The file is empty" /> : (
          <>
            <Lines key={url} text={data.text} name={name} />
            {!data.whole && <p class="notice"><span>This is the beginning of it. The rest is in the download.</span></p>}
          </>
        )}
    </section>
  );
}

export function RepoFiles({ path, pinned, root }: { path: AgentPath; pinned: string; root: string }) {
  const { query } = location.value, ref = query.get("ref"), file = query.get("file"), folder = query.get("path") ?? "";
  return (
    <>
      <div class="filters"><RefPick path={path} value={ref ?? pinned} set={(to) => go(withQuery({ ref: to === pinned ? null : to, after: null }))} /></div>
      <Crumbs root={root} path={file ?? folder} part="files" file={file !== null} />
      {file !== null ? <File path={path} commit={ref} pinned={pinned} file={file} /> : <Folder path={path} commit={ref} pinned={pinned} folder={folder} after={query.get("after")} />}
    </>
  );
}
