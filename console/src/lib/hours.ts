// hours.ts - whether an agent is at work now, and when it will be, by its working hours.
import type { AgentChatConfigRead } from "../contract/types";

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;
const minutes = (text: string | null | undefined, otherwise: number): number => {
  const [h, m] = (text ?? "").split(":").map(Number);
  return Number.isFinite(h) ? (h ?? 0) * 60 + (m ?? 0) : otherwise;
};

/** Null while it is at work; else when it begins again, in its own zone: "Mon 09:00 (Europe/Berlin)". */
export function closedUntil(c: AgentChatConfigRead, now = new Date()): string | null {
  if (!c.working_hours_enabled) return null;
  const zone = c.working_hours_tz ?? "UTC", days = c.working_hours_days?.length ? c.working_hours_days : DAYS;
  const from = minutes(c.working_hours_start, 0), to = minutes(c.working_hours_end, 24 * 60);
  const parts = Object.fromEntries(new Intl.DateTimeFormat("en-US", { timeZone: zone, weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).formatToParts(now).map((p) => [p.type, p.value]));
  const today = DAYS.indexOf(parts["weekday"] as (typeof DAYS)[number]), at = Number(parts["hour"]) * 60 + Number(parts["minute"]);
  const open = (day: number): boolean => (days as readonly string[]).includes(DAYS[(day + 7) % 7] ?? "");
  // Hours that end before they begin go on past midnight.
  if (from < to ? open(today) && at >= from && at < to : (open(today) && at >= from) || (open(today - 1) && at < to)) return null;
  for (let ahead = at < from ? 0 : 1; ahead <= 7; ahead++)
    if (open(today + ahead)) return `${ahead === 0 ? "today" : DAYS[(today + ahead) % 7]} ${(c.working_hours_start ?? "00:00").slice(0, 5)} (${zone})`;
  return `never (${zone})`;
}
