// repo-commits.tsx - the commits of an agent's repository, or those that changed one file or folder.
import { useList } from "../lib/data";
import { Time, plural, straight } from "../lib/format";
import type { AgentPath } from "../lib/repo";
import { Link, go, location, withQuery } from "../lib/router";
import { Copy } from "./copy";
import { CommitLink, Crumbs, RefPick, at } from "./repo-parts";
import { DataView, Empty } from "./states";
import { Table } from "./table";

const PER_PAGE = 50, WALKED = "2,000";

export function RepoCommits({ path, pinned, root }: { path: AgentPath; pinned: string; root: string }) {
  const { query } = location.value, ref = query.get("ref"), of = query.get("path") ?? "";
  const list = useList("GET /tenant/{tenant_id}/agents/{agent_id}/repo/commits", { path, query: { ref, path: of || undefined, page: 1, per_page: PER_PAGE } });
  const gone = list.error?.status === 404 && !list.data;
  return (
    <>
      <div class="filters"><RefPick path={path} value={ref ?? pinned} set={(to) => go(withQuery({ ref: to === pinned ? null : to }))} /></div>
      {of && <Crumbs root={root} path={of} part="commits" />}
      {gone ? <Empty title="There is nothing here" text={list.error?.detail} action={<Link class="button plain" to={at("commits", { ref: null })}>To where it is pinned</Link>} /> : (
        <DataView of={list} empty={{ title: of ? "No commit changed it" : "No commits yet", text: of ? `The newest ${WALKED} commits were gone through.` : "Push something, and it is listed here." }}>
          {(rows) => (
            <>
              <Table label="Commits" rows={rows} id={(c) => c.id} columns={[
                { name: "Title", cell: (c) => c.title || "Without a title" },
                { name: "Commit", cell: (c) => <span class="together"><CommitLink commit={c} /><Copy text={c.id} label={`Copy the hash ${c.short_id}`} /></span> },
                { name: "By", wide: true, cell: (c) => <bdi title={straight(c.author_email ?? "")}>{straight(c.author_name ?? c.author_email ?? "nobody")}</bdi> },
                { name: "When", wide: true, cell: (c) => <Time at={c.committed_at} none="unknown" /> },
              ]} />
              {list.total !== undefined && <p class="muted small">{plural(list.total, "commit")}{list.total >= 2000 && ", and older ones that are not gone through"}</p>}
            </>
          )}
        </DataView>
      )}
    </>
  );
}
