// session.ts - who is signed in, in which tenant they stand, and what they may do there.
import { computed, signal } from "@preact/signals";
import type { Me, Membership } from "../contract/types";
import { Problem, call, hooks } from "./api";
import { location } from "./router";
import { connection, feed } from "./events";
import { belongsTo, forgetPerson, kept, onLeaving } from "./store";

/** undefined: not known yet; null: nobody. */
export const me = signal<Me | null | undefined>(undefined);
/** True while somebody is asked to sign in again over the screen they were at. */
export const ended = signal(false);
const lastTenant = kept("tenant", "");
let waiting: (() => void)[] = [];
/** Whether somebody has used the console in this browser. */
export const wasHere = (): boolean => lastTenant.peek() !== "";

/** The tenant that the address names (its slug), or where one was last. */
export const tenant = computed<Membership | null>(() => {
  const all = me.value?.memberships ?? [];
  const slug = /^\/t\/([^/]+)/.exec(location.value.path)?.[1];
  return all.find((m) => m.tenant_slug === slug) ?? (slug ? null : all.find((m) => m.tenant_slug === lastTenant.value) ?? all[0] ?? null);
});

/** Whether the role in this tenant allows it; roles on single agents come on top (readOwnAccess). */
export function can(permission: string | undefined): boolean {
  if (!permission) return true;
  if (permission === "super_admin") return me.value?.is_super_admin ?? false;
  return tenant.value?.permissions.includes(permission) ?? false;
}

export const tenantPath = (rest = ""): string => `/t/${tenant.value?.tenant_slug ?? ""}${rest}`;
/** The id that operations take. */
export const tenantId = (): string => tenant.value?.tenant_id ?? "";

export function enter(slug: string): void {
  lastTenant.value = slug;
}

export async function refreshMe(): Promise<void> {
  try {
    const now = await call("GET /me", { again: false });
    if (me.value && now.id !== me.value.id) window.location.assign("/console/"); // another tab has another person's login
    if (belongsTo(now.id)) feed.again();
    if (JSON.stringify(now) !== JSON.stringify(me.value)) me.value = now;
  } catch (err) {
    if (err instanceof Problem && err.status === 401) {
      if (!me.value) me.value = null;
      else if (!ended.value) void hooks.signedOut?.();
    } else if (me.value === undefined) throw err;
  }
}

/** After a password was right: goes on with what waited; another person begins anew. */
export function signedIn(user: Me): void {
  const before = me.value;
  if (belongsTo(user.id)) feed.stop(); // the stream of whoever was here
  if (before && before.id !== user.id) {
    window.location.assign("/console/");
    return;
  }
  me.value = user;
  ended.value = false;
  feed.start();
  const go_on = waiting;
  waiting = [];
  for (const one of go_on) one();
}

/** What is to be done before somebody leaves, such as a removal that could still be undone. */
export const beforeLeaving: (() => Promise<unknown>)[] = [];

/** Ends the login and begins anew with nothing in memory: what waited or was shown is not the next person's. */
export async function signOut(): Promise<void> {
  await Promise.all(beforeLeaving.map((settle) => settle()));
  feed.stop();
  try {
    await call("POST /auth/logout", { again: false });
  } catch (err) {
    if (!(err instanceof Problem && err.status === 401)) {
      feed.start();
      throw err;
    }
  }
  forgetPerson();
  window.location.assign("/console/sign-in");
}

hooks.signedOut = () => {
  if (!me.value) {
    me.value = null;
    return new Promise((done) => waiting.push(done));
  }
  ended.value = true;
  return new Promise((done) => waiting.push(done));
};
hooks.forbidden = () => void refreshMe();

// The login was ended elsewhere: in another tab, or by somebody who may.
connection.subscribe((state) => state === "signed-out" && me.peek() && void refreshMe());

// In another tab somebody signed out, or another person in: what is shown here is no longer theirs to see.
onLeaving(() => me.peek()?.id, () => window.location.assign("/console/"));

let looked = 0;
addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible" && me.value && Date.now() - looked > 10_000) {
    looked = Date.now();
    void refreshMe();
  }
});
