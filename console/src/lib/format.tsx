// format.tsx - money, tokens, times and sizes as people read them.
import { signal } from "@preact/signals";
import { kept } from "./store";

/** True: times are shown in UTC. */
export const utc = kept("utc", false);

// The browser's own formats of numbers and dates are not used on the way to a first screen: making one takes it several milliseconds.
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = (n: number): string => String(n).padStart(2, "0");

/** "1234567.5" with commas. */
export const grouped = (digits: string): string => digits.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
const whole = (n: number): string => grouped(String(Math.round(n)));
const dollars = (usd: number, digits: number): string => `${usd < 0 ? "-" : ""}$${grouped(Math.abs(usd).toFixed(digits))}`;

/** Three digits that count, and how many thousands: 35.2K, 1M. */
function brief(n: number): string {
  const units = ["", "K", "M", "B", "T"];
  let size = 0, part = Math.abs(n);
  while (part >= 999.5 && size < units.length - 1) (part /= 1000), size++;
  return `${n < 0 ? "-" : ""}${grouped(String(part < 999.5 ? Number(part.toPrecision(3)) : Math.round(part)))}${units[size]}`;
}

/** What the clock says there, or in UTC. */
const shifted = (at: Date, inUtc: boolean): Date => (inUtc ? at : new Date(at.getTime() - at.getTimezoneOffset() * 60_000));
/** "1 Dec 2026"; without the year where `year` is false. */
export function day(at: Date, inUtc: boolean, year = true): string {
  const d = shifted(at, inUtc);
  return `${d.getUTCDate()} ${MONTHS[d.getUTCMonth()]}${year ? ` ${d.getUTCFullYear()}` : ""}`;
}
/** "04:00:00". */
function clock(at: Date, inUtc: boolean): string {
  const d = shifted(at, inUtc);
  return [d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds()].map(two).join(":");
}
/** "3 min ago", "in 2 days". */
const away = (n: number, unit: string): string => (n > 0 ? `in ${n} ${unit}` : `${-n} ${unit} ago`);

/** Dollars with one precision; what is less than a cent says so instead of $0.00. */
export function money(usd: number | null | undefined, digits = 2): string {
  if (usd === null || usd === undefined) return "–";
  const least = 10 ** -digits;
  return usd > 0 && usd < least ? `< ${dollars(least, digits)}` : dollars(usd, digits);
}
/** What something cost; much of it is a fraction of a cent, and what is free says so. */
export const price = (usd: number): string => (usd === 0 ? "no cost" : money(usd, usd < 1 ? 4 : 2));

export const count = (n: number | null | undefined): string => (n === null || n === undefined ? "–" : whole(n));
export const tokens = (n: number | null | undefined): string => (n === null || n === undefined ? "–" : n < 10_000 ? whole(n) : brief(n));
export const plural = (n: number, one: string, many = `${one}s`): string => `${whole(n)} ${n === 1 ? one : many}`;

export function bytes(n: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let i = 0;
  while (n >= 1000 && i < units.length - 1) (n /= 1000), i++;
  return `${i ? n.toFixed(n < 10 ? 1 : 0) : n} ${units[i]}`;
}

export function span(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s.toFixed(s < 10 ? 1 : 0)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
  return plural(Math.round(s / 86_400), "day");
}

const now = signal(Date.now());
setInterval(() => (now.value = Date.now()), 30_000);

export const exact = (iso: string): string => `${day(new Date(iso), utc.value)}, ${clock(new Date(iso), utc.value)}${utc.value ? " UTC" : ""}`;

export function relative(iso: string): string {
  const s = (Date.parse(iso) - Math.max(now.value, Date.now())) / 1000, far = Math.abs(s);
  if (far < 45) return s > 5 ? `in ${Math.ceil(s)} s` : "just now";
  if (far < 3600) return away(Math.round(s / 60) || -1, "min");
  if (far < 86_400) return away(Math.round(s / 3600), "h");
  const days = Math.round(s / 86_400);
  if (Math.abs(days) === 1) return days < 0 ? "yesterday" : "tomorrow";
  return Math.abs(days) < 14 ? away(days, "days") : day(new Date(iso), utc.value);
}

/** "3 min ago", with the exact time when it is pointed at. */
export function Time({ at, none = "never" }: { at: string | null | undefined; none?: string }) {
  return at ? <time dateTime={at} title={exact(at)}>{relative(at)}</time> : <span class="muted">{none}</span>;
}

/** Signs that are not seen, or that move others. */
const UNSEEN = /[\p{Cf}\p{Zl}\p{Zp}\u034F\u115F\u1160\u17B4\u17B5\u180B-\u180F\u3164\uFE00-\uFE0F\uFFA0]/gu;
const UNSEEN_ONE = new RegExp(UNSEEN.source, "u");
const code = (sign: string): string => [...Array(sign.length).keys()].map((i) => `\\u${sign.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");

/** A value as it will be sent, with a code for each sign that is not seen or moves others. */
export const spelled = (value: unknown): string => (JSON.stringify(value, null, 2) ?? "").replace(UNSEEN, code);

/** A long text in which nothing turns the letters beside it: signs that only say which way a word runs stay. */
export const unturned = (text: string): string => text.replace(/[\u202A-\u202E\u2066-\u2069]/g, code);

/** A name with such codes: "\u202Egnp.exe" must not read as exe.png, nor two names as one.  Signs that join letters or pictures stay between those. */
export const straight = (name: string): string => name.replace(UNSEEN, (sign, at: number) => (/[\u200C\u200D\uFE0E\uFE0F]/.test(sign) && /[^\u0000-\u02FF]/.test(name[at - 1] ?? "") && !UNSEEN_ONE.test(name[at - 1] ?? "") ? sign : code(sign)));

/** Names that are written in one way. */
const NAMES: Record<string, string> = Object.fromEntries(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].map((method) => [method, method])
  .concat([["http", "HTTP"], ["mcp", "MCP"], ["sql", "SQL"], ["github", "GitHub"], ["gitlab", "GitLab"], ["openai", "OpenAI"], ["openai_responses", "OpenAI Responses"]]));

/** "in_progress" and "IN_PROGRESS" for people. */
export const human = (word: string): string => NAMES[word] ?? (word[0] ?? "").toUpperCase() + word.slice(1).toLowerCase().replaceAll("_", " ");
