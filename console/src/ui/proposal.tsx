// proposal.tsx - what a push would make of an agent's prompts, put before people: the difference, and a word on it.
import type { ComponentChildren } from "preact";
import { AgentUpdate } from "../contract/forms";
import type { PromptProposalRow } from "../contract/types";
import { Problem, call } from "../lib/api";
import { coloured } from "../lib/colour";
import { useData, useList } from "../lib/data";
import type { Happening } from "../lib/events";
import { Time, human, straight, unturned } from "../lib/format";
import type { AgentPath } from "../lib/repo";
import { Button } from "./button";
import { type Tone, Status } from "./page";
import { DataView } from "./states";
import { Table } from "./table";
import { toast } from "./toast";

export const promptLabel = (field: string): string => AgentUpdate.find((f) => f.name === field)?.label ?? field;
const TONES: Record<PromptProposalRow["status"], Tone> = { pending: "ember", approved: "pine", rejected: "plain", superseded: "plain", withdrawn: "plain" };
const proposalPath = (path: AgentPath, p: PromptProposalRow) => ({ ...path, proposal_id: p.id });

/** Says the word; false where it is too late, and there is something else to look at. */
export async function decideProposal(path: AgentPath, p: PromptProposalRow, approved: boolean): Promise<boolean> {
  try {
    await call("POST /tenant/{tenant_id}/agents/{agent_id}/prompt-proposals/{proposal_id}", { path: proposalPath(path, p), body: { approved } });
  } catch (err) {
    if (!(err instanceof Problem && [404, 409].includes(err.status))) throw err;
    toast(`${err.detail} Nothing was written; look at what is asked now.`, { bad: true });
    return false;
  }
  toast(approved ? "The prompts are the repository's now" : "The prompts stay as they are; this text is not asked about again");
  return true;
}

/** Without the lines that name the files. */
const hunks = (diff: string): string => diff.slice(Math.max(0, diff.search(/^@@/m)));

/** The difference to each prompt, as git shows it. */
export function ProposalDiff({ path, proposal: p }: { path: AgentPath; proposal: PromptProposalRow }) {
  const of = useData("GET /tenant/{tenant_id}/agents/{agent_id}/prompt-proposals/{proposal_id}", { path: proposalPath(path, p) });
  return (
    <DataView of={of} rows={2}>
      {({ files }) => files.map((f) => (
        <div key={f.file} class="block">
          <p class="label">{promptLabel(f.field)}</p>
          {f.diff ? <pre class="box" tabIndex={0} role="group" aria-label={`What would change in ${promptLabel(f.field)}`} dir="auto">{coloured(unturned(hunks(f.diff)), "diff")}</pre> : null}
          {f.diff_cut && <p class="muted small">{f.diff ? "This is the beginning of the difference." : "The texts are too long to be compared here."} Look at the file before you decide.</p>}
        </div>
      ))}
    </DataView>
  );
}

export const proposalWords = (p: PromptProposalRow) => <p>Commit <code>{p.commit_id.slice(0, 8)}</code>{p.author_name && <> by <bdi>{straight(p.author_name)}</bdi></>} would change {p.fields.map(promptLabel).join(" and ")}.</p>;

/** What waits of one agent, then what is shown with it, then what was decided. */
export function Proposals({ path, write, concerns, done, children }: { children: ComponentChildren; path: AgentPath; write: boolean; concerns: (e: Happening) => boolean; done: () => void }) {
  const list = useList("GET /tenant/{tenant_id}/agents/{agent_id}/prompt-proposals", { path, query: { per_page: 20 } }, concerns);
  const waiting = list.data?.find((p) => p.status === "pending"), past = list.data?.filter((p) => p.status !== "pending") ?? [];
  const decide = async (p: PromptProposalRow, approved: boolean): Promise<void> => {
    await decideProposal(path, p, approved);
    list.reload();
    done();
  };
  return (
    <>
      {waiting && (
        <section class="part decision" aria-label="Proposed by a push">
          <h2><bdi>{straight(waiting.title || "Without a title")}</bdi></h2>
          {proposalWords(waiting)}
          <ProposalDiff key={waiting.id} path={path} proposal={waiting} />
          {write ? <div class="decide"><Button look="primary" icon="check" act={() => decide(waiting, true)}>Approve</Button><Button look="danger" icon="close" act={() => decide(waiting, false)}>Reject</Button></div> : <p>Whoever may change this agent decides on it.</p>}
        </section>
      )}
      {children}
      {past.length > 0 && (
        <details class="rest part"><summary>What was decided</summary>
          <Table label="Proposals" rows={past} id={(p) => p.id} columns={[
            { name: "Commit", cell: (p) => p.title || "Without a title" },
            { name: "State", cell: (p) => <Status tone={TONES[p.status]}>{human(p.status)}</Status> },
            { name: "By", wide: true, cell: (p) => <bdi>{straight(p.decided_by_name ?? "")}</bdi> },
            { name: "When", wide: true, cell: (p) => <Time at={p.decided_at} none="" /> },
          ]} />
          {list.more && <div class="more"><Button act={list.more}>Show more</Button></div>}
        </details>
      )}
    </>
  );
}
