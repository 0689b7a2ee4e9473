// session-new.tsx - beginning a session with an agent: its greeting, and the first message.
import { useRef } from "preact/hooks";
import { call } from "../lib/api";
import { useAgentAccess } from "../lib/access";
import { useData } from "../lib/data";
import { Markdown } from "../lib/markdown";
import { go } from "../lib/router";
import { tenantId, tenantPath } from "../lib/session";
import { speak } from "../lib/speak";
import type { ScreenProps } from "../routes";
import { Budget, Hours } from "../ui/about";
import { Composer } from "../ui/composer";
import { Page } from "../ui/page";
import { DataView } from "../ui/states";

export default function NewSession({ params }: ScreenProps) {
  const path = { tenant_id: tenantId(), agent_id: params["agent"] ?? "" };
  const agent = useData("GET /tenant/{tenant_id}/agents/{agent_id}", { path }, (e) => e.event === "agent");
  const may = useAgentAccess(path.agent_id);
  const begun = useRef<Promise<{ id: string }> | null>(null);
  // What is said while the first is on its way belongs to the same session.
  const begin = async (text: string, files: File[]): Promise<void> => {
    const first = !begun.current;
    begun.current ??= call("POST /tenant/{tenant_id}/agents/{agent_id}/sessions", { path, body: files.length ? {} : { message: text } });
    const made = await begun.current.catch((err: unknown) => {
      begun.current = null;
      throw err;
    });
    if (files.length || !first) await speak({ tenant_id: path.tenant_id, session_id: made.id }, text, files);
    if (first) go(tenantPath(`/sessions/${made.id}`), { replace: true });
  };
  return (
    <Page title={agent.data ? `New session with ${agent.data.name}` : "New session"} lead={agent.data?.description}>
      <DataView of={agent}>
        {(a) => (
          <div class="chat">
            {a.initial_greeting && <article class="message assistant"><h2>{a.name}</h2><Markdown text={a.initial_greeting} /></article>}
            <div class="chat-foot">
              <Hours agent={a.id} />
              {may("session:write") ? <Composer tenant={path.tenant_id} place={`new:${a.id}`} running={false} stop={null} send={begin} placeholder={`Say something to ${a.name}`} focus />
                : <p class="muted">You may read here, and not write.</p>}
              <p class="muted small"><Budget agent={a.id} moment={0} /></p>
            </div>
          </div>
        )}
      </DataView>
    </Page>
  );
}
