// inbox.tsx - what waits for a person, worked through by keyboard: look, decide, go on to the next.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Problem, call } from "../lib/api";
import { Time, human, plural, spelled, straight } from "../lib/format";
import { type Waiting, dealtWith, inbox, problem, putAway, readInbox } from "../lib/inbox";
import { useKeys } from "../lib/keys";
import { agentName } from "../lib/names";
import { Link, go, location, setQuery } from "../lib/router";
import { tenantId, tenantPath } from "../lib/session";
import { Button } from "../ui/button";
import { Choose } from "../ui/filters";
import { Icon, type IconName } from "../ui/icons";
import { Page } from "../ui/page";
import { ProposalDiff, decideProposal, proposalWords } from "../ui/proposal";
import { deleteMail, sendDraft } from "../ui/mail-thread";
import { Empty, Failed, Skeleton } from "../ui/states";
import { complain, toast, undoable } from "../ui/toast";

const KINDS = ["approval", "proposal", "mail", "failed", "room", "delivery"] as const;
const LOOK: Record<Waiting["kind"], { icon: IconName; word: string; rail: string }> = {
  approval: { icon: "warn", word: "Approval needed", rail: "ember" },
  proposal: { icon: "branch", word: "Prompts proposed", rail: "ember" },
  mail: { icon: "send", word: "Mail to send", rail: "ember" },
  failed: { icon: "close", word: "Failed", rail: "danger" },
  room: { icon: "clock", word: "Blocked", rail: "ember" },
  delivery: { icon: "plug", word: "Not delivered", rail: "danger" },
};

const placeOf = (w: Waiting): string | null => (w.kind === "proposal" ? `/agents/${w.agent}/repository?part=prompts` : w.kind === "mail" ? `/agents/${w.agent}/mail?thread=${w.mail.thread_id}` : w.kind === "delivery" ? (w.delivery.session_id ? `/sessions/${w.delivery.session_id}` : null) : `/sessions/${w.session}`);

const pathOf = (agent: string) => ({ tenant_id: tenantId(), agent_id: agent });

async function decide(w: Waiting, approved: boolean): Promise<void> {
  if (w.kind === "proposal") {
    await decideProposal(pathOf(w.agent), w.proposal, approved);
    dealtWith(w);
    return readInbox(["proposal"]);
  }
  if (w.kind !== "approval") return;
  try {
    await call("POST /tenant/{tenant_id}/sessions/{session_id}/approvals/{approval_id}", { path: { tenant_id: tenantId(), session_id: w.session, approval_id: w.approval.id }, body: { approved } });
  } catch (err) {
    if (err instanceof Problem && [404, 409].includes(err.status)) dealtWith(w); // somebody else was first
    throw err;
  }
  dealtWith(w);
  toast(`${w.approval.tool_name} is ${approved ? "approved" : "denied"}`);
}

async function again(w: Waiting): Promise<void> {
  if (w.kind !== "delivery") return;
  await call("POST /tenant/{tenant_id}/integrations/{integration_id}/deliveries/{delivery_id}/redeliver", { path: { tenant_id: tenantId(), integration_id: w.delivery.integration_id, delivery_id: w.delivery.id } });
  dealtWith(w);
  toast("It is being delivered again");
}

async function send(w: Waiting): Promise<void> {
  if (w.kind === "mail" && (await sendDraft({ tenant_id: tenantId(), agent_id: w.agent }, w.mail))) dealtWith(w);
}

function discard(w: Waiting): void {
  if (w.kind !== "mail") return;
  const back = putAway(w);
  undoable(w.mail.state === "held" ? "The message is deleted" : "The draft is deleted", async () => {
    await deleteMail({ tenant_id: tenantId(), agent_id: w.agent }, w.mail);
    dealtWith(w);
  }, back);
}

function dismiss(w: Waiting): void {
  if (w.kind === "approval") return; // it holds an agent up: it is decided, not put away
  const back = putAway(w);
  toast("Put away", { undo: back });
}

function About({ w }: { w: Waiting }) {
  switch (w.kind) {
    case "approval":
      return <><p>It wants to call <strong class="mono">{w.approval.tool_name}</strong> with:</p><pre tabIndex={0} dir="auto">{spelled(w.approval.arguments)}</pre>
        {(w.approval.pinned?.length ?? 0) > 0 && <p class="muted small">Set for the agent, whatever the model said: {w.approval.pinned?.join(", ")}</p>}</>;
    case "proposal":
      return <>{proposalWords(w.proposal)}<ProposalDiff path={pathOf(w.agent)} proposal={w.proposal} /></>;
    case "mail":
      return <><p class="muted">From <bdi>{straight(w.mail.from)}</bdi> to <bdi>{straight([...w.mail.to, ...w.mail.cc].join(", ") || "nobody")}</bdi></p><p class="cut-lines">{straight(w.mail.preview)}</p>
        {w.mail.error && <p class="muted small">{straight(w.mail.error)}</p>}</>;
    case "failed":
      return w.error ? <p class="cut-lines"><bdi>{w.error}</bdi></p> : null;
    case "room":
      return <p>It waits for {w.room === "hours" ? "working hours" : w.room === "budget" ? "room in the budget" : "room in the rate"}{w.until ? <> and goes on by itself <Time at={w.until} />.</> : "; only other limits will help."}</p>;
    case "delivery":
      return <p><bdi>{w.delivery.event ?? "An event"}</bdi>, {plural(w.delivery.attempts, "attempt")}{w.delivery.error && <>: <bdi>{w.delivery.error}</bdi></>}</p>;
  }
}

function Row({ w, chosen, name, choose }: { w: Waiting; chosen: boolean; name: string; choose: () => void }) {
  const look = LOOK[w.kind], to = placeOf(w);
  return (
    <li id={`w-${w.key}`} class={chosen ? "waits chosen" : "waits"} tabIndex={-1} data-rail={look.rail} aria-current={chosen ? "true" : undefined} onFocusCapture={choose}>
      <div class="waits-head"><Icon name={look.icon} /><strong>{look.word}</strong>
        {to ? <Link to={tenantPath(to)}><bdi>{straight(w.title || "A session without a title")}</bdi></Link> : <bdi>{straight(w.title ?? "")}</bdi>}
        {name && <span class="muted"><bdi>{name}</bdi></span>}<span class="muted small"><Time at={w.at} /></span></div>
      <About w={w} />
      <div class="decide">
        {(w.kind === "approval" || w.kind === "proposal") && <><Button look="primary" icon="check" act={() => decide(w, true)}>Approve</Button><Button look="danger" icon="close" act={() => decide(w, false)}>{w.kind === "proposal" ? "Reject" : "Deny"}</Button></>}
        {w.kind === "mail" && <><Button look="primary" icon="send" label={`Send: ${w.title}`} act={() => send(w)}>Send</Button>
          {w.mail.state === "draft" && <Link class="button plain" to={tenantPath(`${to}&write=edit:${w.mail.id}`)} aria-label={`Change: ${straight(w.title)}`}>Change</Link>}
          <Button look="quiet" label={`Discard: ${w.title}`} act={() => discard(w)}>Discard</Button></>}
        {w.kind === "delivery" && <Button act={() => again(w)}>Deliver again</Button>}
        {w.kind !== "approval" && <Button act={() => dismiss(w)}>Put away</Button>}
      </div>
    </li>
  );
}

export default function Inbox() {
  const kind = KINDS.find((k) => k === location.value.query.get("kind"));
  const all = inbox.value, rows = useMemo(() => (all ?? []).filter((w) => !kind || w.kind === kind), [all, kind]);
  const [key, setKey] = useState(""); // of the chosen one: others come and go above it
  useEffect(() => void readInbox(), []);
  const found = rows.findIndex((w) => w.key === key), chosen = rows[found];
  // Where the chosen one stood, for when it is dealt with.
  const place = useRef(0);
  if (found >= 0) place.current = found;
  // What was dealt with goes, and the focus on to what stands in its place.
  const leaving = useRef("");
  useEffect(() => {
    if (!leaving.current || rows.some((w) => w.key === leaving.current)) return;
    leaving.current = "";
    const next = rows[Math.min(place.current, rows.length - 1)];
    if (next) document.getElementById(`w-${next.key}`)?.focus({ preventScroll: true });
    else document.querySelector<HTMLElement>("h1")?.focus();
  });
  const step = (by: number): void => {
    const from = found >= 0 ? found + by : place.current;
    const w = rows[Math.min(rows.length - 1, Math.max(0, from))];
    if (w) setKey(w.key);
    const row = w && document.getElementById(`w-${w.key}`);
    row?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: "nearest" });
  };
  // Only what is in view of whoever presses the key: a row that has the focus, and is still the same.
  const act = (run: (w: Waiting) => unknown) => (): void => {
    const row = chosen && document.getElementById(`w-${chosen.key}`);
    if (!chosen || !row?.contains(document.activeElement)) return;
    leaving.current = chosen.key;
    Promise.resolve(run(chosen)).catch((err: unknown) => {
      leaving.current = "";
      complain(err);
    });
  };
  useKeys({
    j: () => step(document.activeElement?.closest(".waits") ? 1 : 0), k: () => step(document.activeElement?.closest(".waits") ? -1 : 0),
    Enter: act((w) => placeOf(w) && go(tenantPath(placeOf(w) ?? ""))),
    a: act((w) => decide(w, true)), d: act((w) => decide(w, false)), r: act(again), x: act(dismiss),
  }, [["j, k", "Next and previous"], ["Enter", "Open"], ["a, d", "Approve, deny"], ["r", "Deliver again"], ["x", "Put away"]]);
  return (
    <Page title="Inbox" lead="What waits for a person. Of what failed, the last seven days.">
      <div class="filters"><Choose label="Kind" value={kind ?? ""} words={KINDS} set={(k) => setQuery({ kind: k })} /><span class="muted small keys-hint"><kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> opens, <kbd>a</kbd> approves, <kbd>d</kbd> denies</span></div>
      {problem.value && !all ? <Failed problem={problem.value} retry={() => void readInbox()} /> : !all ? <Skeleton />
        : rows.length === 0 ? (kind ? <Empty title="Nothing matches" text={`Nothing of this kind waits (${human(kind)}).`} action={<Button act={() => setQuery({ kind: null })}>Clear filters</Button>} />
          : <Empty title="Nothing waits for you" text="Approvals, prompts that a push would change, drafts of mail, runs that failed and events that could not be delivered come here by themselves." action={<Link class="button plain" to={tenantPath("/sessions")}>Sessions</Link>} />)
          : <ul class="inbox" aria-label="What waits">{rows.map((w) => <Row key={w.key} w={w} chosen={w.key === key} name={"agent" in w ? agentName(w.agent) ?? "" : ""} choose={() => setKey(w.key)} />)}</ul>}
    </Page>
  );
}
