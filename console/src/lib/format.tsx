// format.tsx - money, tokens, times and sizes as people read them.
import { signal } from "@preact/signals";
import { kept } from "./store";

/** True: times are shown in UTC. */
export const utc = kept("utc", false);

/** Making one of these takes longer than using it a hundred times: each when it is first wanted, and then kept. */
function once<A extends string | number | boolean, T>(make: (of: A) => T): (of: A) => T {
  const made = new Map<A, T>();
  return (of) => made.get(of) ?? (made.set(of, make(of)), made.get(of) as T);
}
const dollars = once((digits: number) => new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", minimumFractionDigits: digits, maximumFractionDigits: digits }));
const numbers = once((brief: boolean) => new Intl.NumberFormat("en-US", brief ? { notation: "compact", maximumSignificantDigits: 3 } : {}));
const zone = (utc: boolean) => (utc ? { timeZone: "UTC" } : {});
const exactly = once((utc: boolean) => new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium", ...zone(utc) }));
const days = once((utc: boolean) => new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", ...zone(utc) }));
const words = once((style: "short") => new Intl.RelativeTimeFormat("en", { numeric: "auto", style }));

/** Dollars with one precision; what is less than a cent says so instead of $0.00. */
export function money(usd: number | null | undefined, digits = 2): string {
  if (usd === null || usd === undefined) return "–";
  const least = 10 ** -digits;
  return usd > 0 && usd < least ? `< ${dollars(digits).format(least)}` : dollars(digits).format(usd);
}
/** The one place where cents become dollars. */
export const centsToUsd = (cents: number): number => cents / 100;

export const count = (n: number | null | undefined): string => (n === null || n === undefined ? "–" : numbers(false).format(n));
export const tokens = (n: number | null | undefined): string => (n === null || n === undefined ? "–" : n < 10_000 ? numbers(false).format(n) : numbers(true).format(n));
export const plural = (n: number, one: string, many = `${one}s`): string => `${numbers(false).format(n)} ${n === 1 ? one : many}`;

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

export const exact = (iso: string): string => `${exactly(utc.value).format(new Date(iso))}${utc.value ? " UTC" : ""}`;

export function relative(iso: string): string {
  const s = (Date.parse(iso) - Math.max(now.value, Date.now())) / 1000, far = Math.abs(s);
  if (far < 45) return s > 5 ? `in ${Math.ceil(s)} s` : "just now";
  if (far < 3600) return words("short").format(Math.round(s / 60), "minute");
  if (far < 86_400) return words("short").format(Math.round(s / 3600), "hour");
  if (far < 86_400 * 14) return words("short").format(Math.round(s / 86_400), "day");
  return days(utc.value).format(new Date(iso));
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

/** A name with such codes: "\u202Egnp.exe" must not read as exe.png, nor two names as one.  Signs that join letters or pictures stay between those. */
export const straight = (name: string): string => name.replace(UNSEEN, (sign, at: number) => (/[\u200C\u200D\uFE0E\uFE0F]/.test(sign) && /[^\u0000-\u02FF]/.test(name[at - 1] ?? "") && !UNSEEN_ONE.test(name[at - 1] ?? "") ? sign : code(sign)));

/** Names that are written in one way. */
const NAMES: Record<string, string> = Object.fromEntries(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].map((method) => [method, method])
  .concat([["http", "HTTP"], ["mcp", "MCP"], ["github", "GitHub"], ["gitlab", "GitLab"], ["openai", "OpenAI"], ["openai_responses", "OpenAI Responses"]]));

/** "in_progress" and "IN_PROGRESS" for people. */
export const human = (word: string): string => NAMES[word] ?? (word[0] ?? "").toUpperCase() + word.slice(1).toLowerCase().replaceAll("_", " ");
