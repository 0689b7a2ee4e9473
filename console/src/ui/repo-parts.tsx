// repo-parts.tsx - pieces of the Repository part of an agent: its parts as links, which ref is looked at, the way to a folder.
import type { AgentPromptCommitRead } from "../contract/types";
import { useData } from "../lib/data";
import { straight } from "../lib/format";
import type { AgentPath } from "../lib/repo";
import { Link, location, withQuery } from "../lib/router";
import { type Find, Pick } from "./pick";
import { Tabs } from "./tabs";

export const PARTS = [["", "State"], ["prompts", "Prompts"], ["files", "Files"], ["commits", "Commits"], ["refs", "Branches and tags"], ["settings", "Settings"]] as const;

/** An address within this part; what is not named is left behind, but for the ref. */
export const at = (part: string, more: Record<string, string | null> = {}): string => withQuery({ part, path: null, file: null, q: null, after: null, ...more });

export function RepoTabs({ without }: { without: string[] }) {
  const now = location.value.query.get("part") ?? "";
  return <Tabs sub label="Parts of the repository" tabs={PARTS.filter(([part]) => !without.includes(part)).map(([part, label]) => ({ to: at(part), label, here: part === now }))} />;
}

const SHOWN = 50;

/** A branch or tag by typing, or the whole hash of a commit. */
export function RefPick({ path, value, set }: { path: AgentPath; value: string; set: (ref: string) => void }) {
  const refs = useData("GET /tenant/{tenant_id}/agents/{agent_id}/repo/refs", { path });
  const find: Find = async (q) => {
    const text = q.trim().toLowerCase(), { branches = [], tags = [] } = refs.data ?? {};
    const found = [...branches.map((name) => ({ id: name, label: name, detail: "branch" })), ...tags.map((name) => ({ id: name, label: name, detail: "tag" }))].filter((c) => c.label.toLowerCase().includes(text)).slice(0, SHOWN);
    return /^[0-9a-f]{40}$/.test(text) ? [{ id: text, label: text, detail: "commit" }, ...found] : found;
  };
  return <label class="choose"><span>At</span><Pick bare label="Branch, tag or commit" placeholder="Branch, tag or commit" find={find} value={{ id: value, label: value }} set={(c) => c && set(c.id)} /></label>;
}

/** From the root to a folder or a file, each step a link. */
export function Crumbs({ root, path, part, file = false }: { root: string; path: string; part: string; file?: boolean }) {
  const steps = path.split("/").filter(Boolean);
  return (
    <nav class="crumbs" aria-label="Folder">
      <Link to={at(part)} aria-current={steps.length ? undefined : "page"}>{straight(root)}</Link>
      {steps.map((step, i) => {
        const here = steps.slice(0, i + 1).join("/"), last = i === steps.length - 1;
        return <span key={here}><span aria-hidden="true" class="muted"> / </span>{last && file ? <strong><bdi>{straight(step)}</bdi></strong> : <Link to={at(part, { path: here })} aria-current={last ? "page" : undefined}><bdi>{straight(step)}</bdi></Link>}</span>;
      })}
    </nav>
  );
}

/** A commit by its short hash: its files, or its page where the repository is kept elsewhere. */
export function CommitLink({ commit: c }: { commit: AgentPromptCommitRead }) {
  const web = /^https?:\/\//.test(c.web_url ?? "") ? c.web_url : null;
  return web ? <a href={web} rel="noreferrer noopener" title={straight(c.title)}><code>{c.short_id}</code></a> : <Link to={at("files", { ref: c.id })}><code>{c.short_id}</code></Link>;
}
