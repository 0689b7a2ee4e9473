// save.ts - changing an agent's own fields; who was slower is shown both versions.
import type { AgentRead } from "../../contract/types";
import { tagged } from "../../lib/api";
import type { Data } from "../../lib/data";
import { save } from "../../ui/merge";
import { toast } from "../../ui/toast";

interface Change { base: AgentRead; of: Data<AgentRead>; path: { tenant_id: string; agent_id: string }; change: Record<string, unknown> }

export async function saveAgent({ base, of, path, change }: Change): Promise<void> {
  const now = await save({ base, etag: of.etag, change, read: () => tagged("GET /tenant/{tenant_id}/agents/{agent_id}", { path }),
    write: (body, match) => tagged("PATCH /tenant/{tenant_id}/agents/{agent_id}", { path, body, match }) });
  of.reload();
  toast(now ? "Saved" : "Theirs is kept");
}
