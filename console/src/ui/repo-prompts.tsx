// repo-prompts.tsx - where each prompt stands against its file, what differs between the two, and which side shall count.
//
// What somebody decides on is what they saw: both sides are read once more before the word is sent, and shown anew if one has moved.
import { useEffect, useRef, useState } from "preact/hooks";
import type { AgentPromptFileProvenanceRead, AgentPromptProvenanceRead, AgentRead, PromptSide } from "../contract/types";
import { Problem, call } from "../lib/api";
import { type Data, useData } from "../lib/data";
import type { Happening } from "../lib/events";
import { Time, straight } from "../lib/format";
import { type AgentPath, MAIN, fileUrl, readText, useText } from "../lib/repo";
import { Link, go, location, withQuery } from "../lib/router";
import { tenantPath } from "../lib/session";
import { Button } from "./button";
import { Icon } from "./icons";
import { Status } from "./page";
import { Proposals, promptLabel } from "./proposal";
import { CommitLink, at } from "./repo-parts";
import { Sides } from "./sides";
import { DataView, Empty, Failed, Skeleton } from "./states";
import { Table } from "./table";
import { toast } from "./toast";

type Prompt = AgentPromptFileProvenanceRead;
type Field = "description_prompt" | "bootstrap_instructions" | "initial_greeting";

const TEXT_MAX = 2_100_000;
const liveOf = (agent: AgentRead, field: string): string => String((agent as unknown as Record<string, unknown>)[field] ?? "");
/** As the service compares them: no byte order mark, one kind of newline, none at the end. */
const bare = (text: string): string => text.replace(/^\uFEFF/, "").replace(/\r\n/g, "\n").replace(/\n$/, "");

export function stateOf(p: Prompt) {
  if (!p.repo_present) return <Status tone="plain">Not in the repository</Status>;
  if (p.diverged) return <Status tone="ember" icon="warn">Both have moved</Status>;
  return p.pending_projection ? <Status tone="lake" icon="branch">The repository has another</Status> : <Status tone="pine" icon="check">Nothing to settle</Status>;
}

function Resolve({ prompt, agent, differs, resolve }: { prompt: Prompt; agent: AgentRead; differs: boolean; resolve: (take: PromptSide) => Promise<void> }) {
  const newest = prompt.commits[0];
  return (
    <div class="choices-two">
      <section aria-label="Take the repository's text">
        <h3>Take the repository's text</h3>
        <p>The agent works with the file's text from then on{newest && <>, as commit <code>{newest.short_id}</code> left it</>}. What the prompt says now is replaced. Nothing is changed in the repository.</p>
        <Button disabled={!differs || !prompt.repo_present} act={() => resolve("repository")}>Take the repository's text</Button>
      </section>
      <section aria-label="Keep the live prompt">
        <h3>Keep the live prompt</h3>
        <p>The prompt is committed to the branch <code>{MAIN}</code> as {straight(agent.name)}, on top of what is there. The file's present text stays in the history. The agent goes on as it does.</p>
        <Button disabled={!differs} act={() => resolve("live")}>Keep the live prompt</Button>
      </section>
    </div>
  );
}

interface Shown { path: AgentPath; of: Data<AgentRead>; provenance: Data<AgentPromptProvenanceRead>; write: boolean }

function Difference({ path, of, provenance, write, agent, prompt }: Shown & { agent: AgentRead; prompt: Prompt }) {
  const url = fileUrl(path, MAIN, prompt.file), file = useText(prompt.repo_present ? url : null, TEXT_MAX), live = bare(liveOf(agent, prompt.field));
  const [moved, setMoved] = useState("");
  const heading = useRef<HTMLHeadingElement>(null), label = promptLabel(prompt.field), text = prompt.repo_present ? file.data?.text : "";
  useEffect(() => heading.current?.focus({ preventScroll: true }), [prompt.file]);
  const newest = prompt.commits[0]?.id, seen = useRef(newest);
  useEffect(() => {
    if (seen.current !== newest) file.reload();
    seen.current = newest;
  }, [newest]);
  const anew = (why: string): void => {
    setMoved(why);
    of.reload();
    provenance.reload();
    file.reload();
    heading.current?.focus();
  };
  const resolve = async (take: PromptSide): Promise<void> => {
    const now = await call("GET /tenant/{tenant_id}/agents/{agent_id}", { path });
    const there = prompt.repo_present ? (await readText(url, undefined, TEXT_MAX)).text : "";
    if (bare(liveOf(now, prompt.field)) !== live || there !== text) return anew("One side was changed since you opened this.");
    try {
      provenance.set(await call("POST /tenant/{tenant_id}/agents/{agent_id}/prompt-provenance/resolve", { path, body: { file: prompt.file, take } }));
    } catch (err) {
      if (!(err instanceof Problem && err.status === 409)) throw err;
      return anew(err.detail);
    }
    of.reload();
    file.reload();
    setMoved("");
    const before = liveOf(now, prompt.field);
    toast(take === "live" ? `${label} is committed to ${MAIN}` : `${label} is the repository's now`, take === "live" ? {} : {
      undo: () => void call("PATCH /tenant/{tenant_id}/agents/{agent_id}", { path, body: { [prompt.field as Field]: before || null } }).then(() => (of.reload(), provenance.reload()), (err: unknown) => toast((err as Error).message, { bad: true })),
    });
  };
  return (
    <section class="part difference" aria-label={label}>
      <div class="part-head"><h2 tabIndex={-1} ref={heading}>{label}</h2><Button look="quiet" icon="close" label="Close" act={() => go(withQuery({ file: null }))} /></div>
      {moved && <p class="notice ember" role="alert"><Icon name="warn" /> <span>{straight(moved)} Nothing was done. What stands here now is what there is: look at it again.</span></p>}
      {file.error ? <Failed problem={file.error} retry={file.reload} /> : text === undefined ? <Skeleton />
        : text === null || (file.data && !file.data.whole && prompt.repo_present) ? <Empty title="The file is no prompt" text="It is no text, or longer than 2 MiB. It is never taken; push a text in its place, or keep the live prompt." />
          : !prompt.repo_present ? <p class="muted">The main branch has no file <code>{prompt.file}</code>. A file that is missing or removed never clears a prompt.</p>
            : <Sides label={`${label}: repository and live`} left={{ name: "Repository", text: bare(text) }} right={{ name: "Live prompt", text: live }} />}
      {write && text !== undefined && <Resolve prompt={prompt} agent={agent} differs={text === null || bare(text) !== live} resolve={resolve} />}
      {prompt.commits.length > 0 && (
        <>
          <h3>Commits that made it</h3>
          <ol class="made-by" aria-label="Commits">
            {prompt.commits.map((c) => <li key={c.id}><CommitLink commit={c} /> <bdi>{straight(c.title || "Without a title")}</bdi> <span class="muted small"><bdi>{straight(c.author_name ?? "")}</bdi> <Time at={c.committed_at} none="" /></span></li>)}
          </ol>
        </>
      )}
    </section>
  );
}

export function useProvenance(path: AgentPath, concerns: (e: Happening) => boolean): Data<AgentPromptProvenanceRead> {
  return useData("GET /tenant/{tenant_id}/agents/{agent_id}/prompt-provenance", { path }, concerns);
}

export function RepoPrompts(props: Shown & { agent: AgentRead; concerns: (e: Happening) => boolean }) {
  const { path, of, write, concerns, provenance, agent } = props, file = location.value.query.get("file");
  return (
    <DataView of={provenance} rows={3}>
      {({ available, files, unavailable_reason }) => {
        if (!available) return <Empty title="The repository cannot be read" text={<>{straight(unavailable_reason ?? "")} The agent goes on with the prompts that it has.</>} action={<Button act={provenance.reload}>Try again</Button>} />;
        const opened = files.find((p) => p.file === file);
        return (
          <Proposals path={path} write={write} concerns={concerns} done={() => (of.reload(), provenance.reload())}>
            <Table label="Prompts and their files" rows={files} id={(p) => p.file} to={(p) => at("prompts", { file: p.file })} rail={(p) => (p.diverged ? "ember" : "ink")} columns={[
              { name: "Prompt", cell: (p) => promptLabel(p.field) },
              { name: "State", cell: stateOf },
              { name: "File", wide: "most", cell: (p) => (p.repo_present ? <Link to={at("files", { file: p.file, ref: MAIN })}><code>{p.file}</code></Link> : <code class="muted">{p.file}</code>) },
              { name: "Newest commit", wide: true, cell: (p) => (p.commits[0] ? <CommitLink commit={p.commits[0]} /> : <span class="muted">none</span>) },
              { name: "When", wide: true, cell: (p) => <Time at={p.commits[0]?.committed_at} none="" /> },
            ]} />
            {opened ? <Difference key={opened.file} {...props} prompt={opened} /> : <p class="muted small">Open one to see what differs, and to say which side counts. <Link to={tenantPath(`/agents/${agent.id}/prompts`)}>Write the prompts</Link></p>}
          </Proposals>
        );
      }}
    </DataView>
  );
}
