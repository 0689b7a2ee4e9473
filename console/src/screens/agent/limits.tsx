// limits.tsx - how much an agent may spend, how often it answers, and on which days and hours.
import { useState } from "preact/hooks";
import { AgentBudgetUpdate, AgentChatConfigUpdate } from "../../contract/forms";
import type { AgentChatConfigRead } from "../../contract/types";
import { tagged } from "../../lib/api";
import { type Data, useData } from "../../lib/data";
import { money } from "../../lib/format";
import { ContractForm, type Typed } from "../../ui/form";
import { save } from "../../ui/merge";
import { Facts } from "../../ui/page";
import { DataView } from "../../ui/states";
import { toast } from "../../ui/toast";
import type { PartProps } from "../agent";

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const ZONES: string[] = (Intl as unknown as { supportedValuesOf?: (what: string) => string[] }).supportedValuesOf?.("timeZone") ?? ["UTC"];

const minutes = (clock: string | null | undefined, none: number): number => {
  const m = /^(\d{2}):(\d{2})$/.exec(clock ?? "");
  return m ? Number(m[1]) * 60 + Number(m[2]) : none;
};

/** A week: which hours of which day it answers.  The drawing repeats what the fields say. */
function Week({ days, start, end, set }: { days: string[]; start: string; end: string; set?: (days: string[]) => void }) {
  const from = minutes(start, 0), to = Math.max(from, minutes(end, 1440));
  const words = `${start || "00:00"} to ${end || "24:00"}`;
  return (
    <table class="week" aria-label="Days and hours">
      <tbody>
        {DAYS.map((day) => {
          const open = !days.length || days.includes(day);
          return (
            <tr key={day}>
              <th scope="row">{set ? <label><input type="checkbox" checked={days.includes(day)} onChange={(e) => set(DAYS.filter((d) => (d === day ? e.currentTarget.checked : days.includes(d))))} /> {day}</label> : day}</th>
              <td>
                <svg viewBox="0 0 1440 22" preserveAspectRatio="none" role="img" aria-label={open ? `${day}: ${words}` : `${day}: closed`}>
                  <rect class="closed" x={0} y={1} width={1440} height={20} />
                  {open && <rect class="open" x={from} y={1} width={to - from} height={20} />}
                </svg>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Hours({ of, path }: { of: Data<AgentChatConfigRead>; path: PartProps["path"] }) {
  const value = of.data as AgentChatConfigRead;
  const [clock, setClock] = useState<{ start: string; end: string } | null>(null);
  const shown = clock ?? { start: value.working_hours_start ?? "", end: value.working_hours_end ?? "" };
  const time = (name: string) => (v: string | boolean | string[], set: (v: string) => void) => <input type="time" aria-label={name} value={String(v)} onInput={(e) => set(e.currentTarget.value)} />;
  return (
    <ContractForm form={AgentChatConfigUpdate} value={value as Record<string, unknown>} action="Save limits"
      first={["chat_rpm_limit", "chat_rph_limit", "working_hours_enabled", "working_hours_days", "working_hours_start", "working_hours_end", "working_hours_tz"]}
      custom={{
        working_hours_days: (v, set) => <Week days={Array.isArray(v) ? v : []} {...shown} set={set} />,
        working_hours_start: time("Begins at"),
        working_hours_end: time("Ends at"),
        working_hours_tz: (v, set) => (
          <>
            <input aria-label="Time zone" list="zones" autocomplete="off" spellcheck={false} value={String(v)} onInput={(e) => set(e.currentTarget.value)} />
            <datalist id="zones">{ZONES.map((z) => <option key={z} value={z} />)}</datalist>
          </>
        ),
      }}
      follow={(typed: Typed) => {
        const next = { start: String(typed["working_hours_start"] ?? ""), end: String(typed["working_hours_end"] ?? "") };
        if (next.start !== shown.start || next.end !== shown.end) queueMicrotask(() => setClock(next));
      }}
      send={async (change) => {
        if (Array.isArray(change["working_hours_days"]) && !change["working_hours_days"].length) change["working_hours_days"] = null; // none chosen: every day
        const now = await save({ base: value, etag: of.etag, change, read: () => tagged("GET /tenant/{tenant_id}/agents/{agent_id}/chat-config", { path }),
          write: (body, match) => tagged("PUT /tenant/{tenant_id}/agents/{agent_id}/chat-config", { path, body, match }) });
        of.reload();
        toast(now ? "Saved" : "Theirs is kept");
      }} />
  );
}

export default function Limits({ path, may, concerns }: PartProps) {
  const budget = useData("GET /tenant/{tenant_id}/agents/{agent_id}/budget", { path }, concerns);
  const hours = useData("GET /tenant/{tenant_id}/agents/{agent_id}/chat-config", { path }, concerns);
  const show = (n: number | null | undefined): string => (n ? `${n}` : "no limit");
  return (
    <div class="narrow">
      <section class="part">
        <h2>Budget</h2>
        <DataView of={budget} rows={1}>
          {(b) => may("agent:budget:write") ? (
            <ContractForm form={AgentBudgetUpdate} value={b as unknown as Record<string, unknown>} action="Save budget" send={async (change) => {
              const now = await save({ base: b, etag: budget.etag, change, read: () => tagged("GET /tenant/{tenant_id}/agents/{agent_id}/budget", { path }),
                write: (body, match) => tagged("PUT /tenant/{tenant_id}/agents/{agent_id}/budget", { path, body, match }) });
              budget.reload();
              toast(now ? "Saved" : "Theirs is kept");
            }} />
          ) : <Facts rows={[["In any 60 minutes", b.hourly_limit_usd === null ? "no limit" : money(b.hourly_limit_usd)]]} />}
        </DataView>
      </section>
      <section class="part">
        <h2>Rates and working hours</h2>
        <DataView of={hours} rows={6}>
          {(c) => may("agent:write") ? <Hours of={hours} path={path} /> : (
            <>
              <Facts rows={[["Messages in a minute", show(c.chat_rpm_limit)], ["Messages in an hour", show(c.chat_rph_limit)], ["Working hours", c.working_hours_enabled ? `in ${c.working_hours_tz ?? "UTC"}` : "always"]]} />
              {c.working_hours_enabled && <Week days={c.working_hours_days ?? []} start={c.working_hours_start ?? ""} end={c.working_hours_end ?? ""} />}
            </>
          )}
        </DataView>
      </section>
    </div>
  );
}
