// repository.tsx - the git repository of an agent: how it is, how to clone it, and its prompts, files, commits, branches, settings.
import type { ComponentChildren } from "preact";
import { type Data, useData, useList } from "../../lib/data";
import { Time, bytes, human, plural, straight } from "../../lib/format";
import { MAIN, type Repo, cloneByHttp, cloneBySsh } from "../../lib/repo";
import { Link, location } from "../../lib/router";
import { can, tenantPath } from "../../lib/session";
import { Copy } from "../../ui/copy";
import { Curl } from "../../ui/curl";
import { Icon } from "../../ui/icons";
import { Facts, Status } from "../../ui/page";
import { RepoCommits } from "../../ui/repo-commits";
import { RepoFiles } from "../../ui/repo-files";
import { ImageRepo } from "../../ui/repo-image";
import { CommitLink, RepoTabs, at } from "../../ui/repo-parts";
import { RepoPrompts, useProvenance } from "../../ui/repo-prompts";
import { RepoRefs } from "../../ui/repo-refs";
import { NewRepo, RepoSettings } from "../../ui/repo-settings";
import { DataView, Empty } from "../../ui/states";
import type { PartProps } from "../agent";

const HOSTS: Record<string, string> = { embedded: "this service", gitlab: "GitLab", gitea: "Gitea", git: "another git server" };

function Clone({ repo, agent, may }: { repo: Repo; agent: PartProps["agent"]; may: PartProps["may"] }) {
  const ssh = repo.host === "embedded" ? cloneBySsh(repo.url) : null;
  return (
    <section class="part" aria-label="Clone">
      <h2>Clone</h2>
      <Curl text={cloneByHttp(repo.url)} label="Copy the command to clone by HTTP" />
      {repo.host === "embedded"
        ? <p class="muted small">Git asks for a name and a password: any name, and as the password an {can("apikeys:own") ? <Link to={tenantPath("/keys")}>API key</Link> : "API key"} of this tenant. To fetch takes <code>agent:read</code>, to push <code>agent:write</code>.</p>
        : <p class="muted small">It is cloned from where it is kept, with what you are known by there.</p>}
      {ssh && agent.ssh_public_key && (
        <>
          <Curl text={ssh} label="Copy the command to clone by ssh" />
          <p class="muted small">For whoever has the agent's own key, where this machine's ssh is set up for git.</p>
        </>
      )}
      {ssh && !agent.ssh_public_key && <p class="muted small">By ssh it is reached once the agent has a public key{may("agent:write") && <>, which is set under <Link to={tenantPath(`/agents/${agent.id}/settings`)}>Settings</Link></>}.</p>}
    </section>
  );
}

function State({ repo, props, prompts }: { repo: Repo; props: PartProps; prompts: ReturnType<typeof useProvenance> }) {
  const { agent, may, path } = props, files = prompts.data?.files ?? [];
  // What is on the branch, and not what was there when it was last looked at.
  const newest = useList("GET /tenant/{tenant_id}/agents/{agent_id}/repo/commits", { path, query: { ref: MAIN, page: 1, per_page: 1 } }).data?.[0];
  const diverged = files.filter((f) => f.diverged).length, pending = files.filter((f) => f.pending_projection).length;
  return (
    <>
      {repo.last_error && <p class="notice danger" role="alert"><Icon name="warn" /> <span>It could not be looked at{repo.observed_at && <> since <Time at={repo.observed_at} /></>}: {straight(repo.last_error)}{repo.next_attempt_at && <> It is tried again <Time at={repo.next_attempt_at} />.</>}</span></p>}
      {diverged > 0 && <p class="notice ember"><Icon name="warn" /> <span>{plural(diverged, "prompt was", "prompts were")} changed both here and in the repository.</span> <Link to={at("prompts")}>Decide which counts</Link></p>}
      {pending > 0 && <p class="notice"><Icon name="branch" /> <span>The repository has another text for {plural(pending, "prompt")}.</span> <Link to={at("prompts")}>See what differs</Link></p>}
      <Facts rows={[
        ["Address", <><code>{straight(repo.url)}</code> <Copy text={repo.url} label="Copy the address" /></>],
        ...(repo.web_url && /^https?:\/\//.test(repo.web_url) ? [["Its page", <a href={repo.web_url} rel="noreferrer noopener">{straight(repo.web_url)}</a>] as [string, ComponentChildren]] : []),
        ["Kept by", HOSTS[repo.host] ?? human(repo.host)],
        ...(repo.host === "embedded" ? [] : [["Token", repo.has_token ? "one is kept, and shown to nobody" : "none"] as [string, ComponentChildren]]),
        ["Size", bytes(repo.size_bytes)],
        ["Newest commit", newest ? <><CommitLink commit={newest} /> <Copy text={newest.id} label="Copy the commit's hash" /> <bdi>{straight(newest.title)}</bdi> <span class="muted"><Time at={newest.committed_at} none="" /></span></> : repo.tip ? <code>{repo.tip.slice(0, 8)}</code> : <span class="muted">none on the main branch</span>],
        ["Code pinned to", <Link to={at("refs")}><code>{straight(agent.code_ref)}</code></Link>],
        ["Prompts follow it", may("agent:write") ? <Link to={at("settings")}>{human(repo.projection)}</Link> : human(repo.projection)],
        ["Looked at", <><Time at={repo.observed_at} /> {!repo.last_error && <Status tone="pine" icon="check">Well</Status>}</>],
        ...(repo.next_attempt_at && !repo.last_error ? [["Next", <Time at={repo.next_attempt_at} />] as [string, ComponentChildren]] : []),
        ["Made", <Time at={repo.created_at} />],
      ]} />
      <Clone repo={repo} agent={agent} may={may} />
      {may("agent:write") && <ImageRepo path={props.path} agent={agent} />}
    </>
  );
}

function Parts({ repo, props }: { repo: Data<Repo> & { data: Repo }; props: PartProps }) {
  const { agent, of, path, may, concerns } = props, write = may("agent:write"), part = location.value.query.get("part") ?? "";
  const prompts = useProvenance(path, concerns), place = { path, pinned: agent.code_ref, root: agent.slug };
  switch (part) {
    case "": return <State repo={repo.data} props={props} prompts={prompts} />;
    case "prompts": return <RepoPrompts path={path} of={of} provenance={prompts} write={write} agent={agent} concerns={concerns} />;
    case "files": return <RepoFiles {...place} />;
    case "commits": return <RepoCommits {...place} />;
    case "refs": return <RepoRefs path={path} of={of} pinned={agent.code_ref} write={write} />;
    case "settings": return write ? <RepoSettings path={path} of={of} repo={repo} agent={agent} /> : <Empty title="This part is not for you" text="Whoever may change this agent finds it here." />;
    default: return <Empty title="There is no such part" text="The address is wrong. The parts of a repository are above." />;
  }
}

export default function Repository(props: PartProps) {
  const { agent, of, path, may, concerns } = props, write = may("agent:write");
  const repo = useData("GET /tenant/{tenant_id}/agents/{agent_id}/repo", agent.repo_url ? { path } : null, concerns);
  if (!agent.repo_url || repo.error?.status === 404) return <><NewRepo path={path} of={of} write={write} />{write && <ImageRepo path={path} agent={agent} />}</>;
  return (
    <>
      <RepoTabs without={write ? [] : ["settings"]} />
      <DataView of={repo}>{(data) => <Parts repo={{ ...repo, data: data as Repo }} props={props} />}</DataView>
    </>
  );
}
