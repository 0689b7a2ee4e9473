// repo-settings.tsx - making an agent's repository, how its prompts follow it, binding another one, letting it go.
import { useId } from "preact/hooks";
import { AgentRepoCreate, AgentRepoUpdate } from "../contract/forms";
import type { AgentRead, AgentRepoCreate as Making, AgentRepoUpdate as Change } from "../contract/types";
import { address, call, send } from "../lib/api";
import type { Data } from "../lib/data";
import { human } from "../lib/format";
import { type AgentPath, MODES, type Repo } from "../lib/repo";
import { Button } from "./button";
import { Curl } from "./curl";
import { confirm } from "./dialog";
import { ContractForm, type Form, type OwnControl } from "./form";
import { showSecret } from "./secret";
import { toast } from "./toast";

/** The modes that the service knows, each with what it means. */
function Modes({ words, value, set }: { words: string[]; value: string; set: (word: string) => void }) {
  const id = useId();
  return (
    <div class="modes" role="radiogroup" aria-label="How prompts follow the repository">
      {words.map((w) => (
        <label key={w} class="radio"><input type="radio" name={id} checked={value === w} aria-describedby={`${id}-${w}`} onChange={() => set(w)} />
          <span><strong>{human(w)}</strong><br /><span class="muted" id={`${id}-${w}`}>{(MODES as Record<string, string | undefined>)[w]}</span></span></label>
      ))}
    </div>
  );
}

const modes = (form: Form): Record<string, OwnControl> => ({ projection: (value, set) => <Modes words={form.find((f) => f.name === "projection")?.words ?? []} value={String(value)} set={set} /> });
/** The words of a table say what a field is; these what it is for. */
const worded = (form: Form): Form => form.map((f) => (f.name === "projection" ? { ...f, label: "Prompts follow it", help: "", required: true } : f));
const CREATE = worded(AgentRepoCreate), UPDATE = worded(AgentRepoUpdate), BIND = UPDATE.filter((f) => f.name !== "projection").map((f) => (f.name === "url" ? { ...f, label: "Address" } : f));
/** Where there is nothing that a token alone would be for. */
const BIND_NEW = BIND.map((f) => (f.name === "url" ? { ...f, required: true } : f));

export function NewRepo({ path, of, write }: { path: AgentPath; of: Data<AgentRead>; write: boolean }) {
  return (
    <section class="part narrow">
      <h2>No repository yet</h2>
      <p class="muted">An agent may have a git repository of its own, for its prompts and for the code it works on. Nothing needs one.{write ? " It begins with the agent's prompts as its first commit." : " Whoever may change this agent can make one."}</p>
      {write && <ContractForm form={CREATE} custom={modes(CREATE)} action="Make the repository" passing send={async (body) => {
        of.set(await call("POST /tenant/{tenant_id}/agents/{agent_id}/repo", { path, body: body as unknown as Making }));
        toast("The repository is made");
      }} />}
      {write && BIND.length > 0 && (
        <details class="rest part"><summary>Bind one on another host instead</summary>
          <ContractForm form={BIND_NEW} action="Bind it" passing send={async (body) => {
            of.set(await call("PATCH /tenant/{tenant_id}/agents/{agent_id}/repo", { path, body: body as unknown as Change }));
            toast("The repository is bound");
          }} />
        </details>
      )}
    </section>
  );
}

export function RepoSettings({ path, of, repo, agent }: { path: AgentPath; of: Data<AgentRead>; repo: Data<Repo> & { data: Repo }; agent: AgentRead }) {
  const change = async (body: Record<string, unknown>): Promise<void> => {
    of.set(await call("PATCH /tenant/{tenant_id}/agents/{agent_id}/repo", { path, body: body as unknown as Change }));
    repo.reload();
    toast("Saved");
  };
  const remote = repo.data.host !== "embedded";
  const forget = async (): Promise<void> => {
    if (await confirm({ title: "Forget the token?", text: "What is not public is not read any more, and no prompt is committed there.", action: "Forget it", danger: true })) await change({ token: null });
  };
  const hook = async (): Promise<void> => {
    const made = (await (await send("POST", address("POST /tenant/{tenant_id}/agents/{agent_id}/repo/push-hook", { ...path }), { headers: { Accept: "application/json" } })).json()) as { url: string; secret: string };
    await showSecret("The secret of pushes", made.secret, <><p>Enter it at the host as the secret of a webhook for pushes, with the content type <code>application/json</code> and this address. One that was made before counts no longer.</p><Curl text={made.url} label="Copy the address" /></>);
  };
  const letGo = async (): Promise<void> => {
    const kept = repo.data.host === "embedded" ? "It is kept for 30 days and then removed; clone it first if you want to keep it. " : "What is kept elsewhere stays there; our copy and its token go at once. ";
    if (!(await confirm({ title: `Let go of the repository of ${agent.name}?`, text: `${kept}The agent keeps its prompts as they are.`, action: "Let go of it", danger: true, type: agent.slug }))) return;
    of.set(await call("DELETE /tenant/{tenant_id}/agents/{agent_id}/repo", { path }));
    toast("The repository is let go of");
  };
  return (
    <div class="narrow">
      <section class="part">
        <ContractForm form={UPDATE.filter((f) => f.name === "projection")} custom={modes(UPDATE)} value={{ projection: repo.data.projection }} action="Save" send={change} />
      </section>
      {BIND.length > 0 && (
        <section class="part">
          <h2>Bind another repository</h2>
          <p class="muted">One that is kept elsewhere takes the place of this one{remote ? "" : ", which is let go of and kept for 30 days"}. Its branches, files and prompts are read from a copy that is fetched when something moved there.</p>
          <ContractForm key={repo.data.url} form={remote ? BIND : BIND_NEW} action="Bind it" passing send={change} />
          {repo.data.has_token && <p><Button look="danger" act={forget}>Forget the token</Button></p>}
        </section>
      )}
      {remote && (
        <section class="part">
          <h2>Told of pushes</h2>
          <p class="muted">The host is asked once a minute whether something has moved. With a webhook it says so itself, and a push is seen within seconds.</p>
          <Button act={hook}>Make an address and a secret</Button>
        </section>
      )}
      <section class="part">
        <h2>Let go of it</h2>
        <p class="muted">The agent goes on with the prompts that it has, without a repository.</p>
        <Button look="danger" act={letGo}>Let go of the repository</Button>
      </section>
    </div>
  );
}
