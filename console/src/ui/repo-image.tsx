// repo-image.tsx - the repository from which an agent's own container image is built: made once, and told of again.
import { useState } from "preact/hooks";
import type { AgentImageRepoRead, AgentRead } from "../contract/types";
import { call } from "../lib/api";
import { straight } from "../lib/format";
import { type AgentPath, cloneByHttp, cloneBySsh } from "../lib/repo";
import { Button } from "./button";
import { Curl } from "./curl";

export function ImageRepo({ path, agent }: { path: AgentPath; agent: AgentRead }) {
  const [made, setMade] = useState<AgentImageRepoRead | null>(null), ssh = made && agent.ssh_public_key ? cloneBySsh(made.repo_url) : null;
  return (
    <section class="part" aria-label="Image">
      <h2>Image</h2>
      <p class="muted">A second repository holds what the agent's own container image is built from: a Dockerfile, the packages it needs, and a pipeline that builds it. {agent.image_ref ? <>It works with <code>{straight(agent.image_ref)}</code>.</> : "It has no image of its own yet."}</p>
      {made ? (
        <div role="status">
          <Curl text={cloneByHttp(made.repo_url)} label="Copy the command to clone the image repository by HTTP" />
          {ssh && <Curl text={ssh} label="Copy the command to clone the image repository by ssh" />}
          <p class="muted small">What its pipeline prints last is what the agent's image_ref should hold.</p>
        </div>
      ) : <Button act={async () => setMade(await call("POST /tenant/{tenant_id}/agents/{agent_id}/image-repo", { path }))}>Make it, or show the one it has</Button>}
    </section>
  );
}
