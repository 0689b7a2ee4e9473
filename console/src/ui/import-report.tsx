// import-report.tsx - what an import makes of a file, or has made: what comes along, what is matched, what stays behind and why.
import type { ComponentChildren } from "preact";
import type { AgentImportResult } from "../contract/types";
import { plural, straight } from "../lib/format";
import { Link } from "../lib/router";
import { tenantPath } from "../lib/session";
import { Icon } from "./icons";
import { Facts, Tag } from "./page";

const PLATFORMS: Record<string, string> = { lodge: "A bundle of Lodge", letta: "Letta", openai: "OpenAI's assistants", dify: "Dify", flowise: "Flowise", "character-card": "A character card", "agent-md": "A text for agents", "agent-skills": "Skills alone" };

function model(r: AgentImportResult): ComponentChildren {
  if (!r.model_slug_requested) return r.model_slug_resolved ? <><code>{r.model_slug_resolved}</code>, since the file names none</> : "None: the file names none";
  if (r.model_slug_requested === r.model_slug_resolved) return <code>{straight(r.model_slug_requested)}</code>;
  return <><code>{straight(r.model_slug_requested)}</code> is not to be had here: {r.model_slug_resolved ? <code>{straight(r.model_slug_resolved)}</code> : "the tenant's default"} in its place</>;
}

/** What is not taken over as the file has it, a sentence each. */
export function leftBehind(r: AgentImportResult): string[] {
  const failed: [number | undefined, string][] = [[r.skills_failed, "skill"], [r.memories_failed, "memory"]];
  return [
    ...(r.model_warning ? [r.model_warning] : []),
    ...(r.tools_unmatched ?? []).map((name) => `The tool ${name} is not to be had here.`),
    ...failed.flatMap(([n, what]) => (n ? [`${plural(n, what, what === "memory" ? "memories" : undefined)} cannot be taken over.`] : [])),
    ...(r.warnings ?? []),
  ];
}

export function ImportReport({ of: r, made }: { of: AgentImportResult; made: boolean }) {
  const behind = leftBehind(r), tools = r.tools_attached ?? [];
  const along: [string, ComponentChildren][] = [
    ["Skills", plural(r.skills_imported ?? 0, "skill")],
    ["Memories", plural(r.memories_imported ?? 0, "memory", "memories")],
    ["Sessions", `${plural(r.sessions_imported ?? 0, "session")} with ${plural(r.messages_imported ?? 0, "message")}`],
  ];
  if (r.idempotent_reuse)
    return <p class="notice"><Icon name="check" /> <span>This file was imported before, and is the agent <Link to={tenantPath(`/agents/${r.agent_id}`)}>{straight(r.agent_name)}</Link>. Nothing is made of it again.</span></p>;
  return (
    <>
      <Facts rows={[
        ["From", PLATFORMS[r.source_platform] ?? straight(r.source_platform)],
        ["Name", made ? <Link to={tenantPath(`/agents/${r.agent_id}`)}>{straight(r.agent_name)}</Link> : straight(r.agent_name)],
        ["Slug", <code>{r.agent_slug}</code>],
        ["Model", model(r)],
        ["Tools", tools.length ? <span class="tags">{tools.map((t) => <Tag key={t}>{t}</Tag>)}</span> : "None"],
        ...along,
      ]} />
      <h3>{made ? "What stayed behind" : "What stays behind"}</h3>
      {behind.length ? <ul class="behind">{behind.map((text, i) => <li key={i}><Icon name="warn" /> <span>{straight(text)}</span></li>)}</ul> : <p class="muted">Nothing: all that the file says is taken over.</p>}
    </>
  );
}
