// frame.tsx - what stands round every screen: sidebar, tenant, palette, connection, theme, account.
import { signal } from "@preact/signals";
import { Component, type ComponentChildren, Fragment, type FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isChange } from "../lib/changes";
import "../lib/download";
import { connection, useEvents } from "../lib/events";
import { straight } from "../lib/format";
import { isFirstRun } from "../lib/first";
import { inbox, useInbox } from "../lib/inbox";
import { help, keyList, palette } from "../lib/keys";
import { atWork, favourites, useLive } from "../lib/live";
import { BASE, Link, go, location, matches } from "../lib/router";
import { can, ended, enter, me, refreshMe, signOut, tenant, tenantPath } from "../lib/session";
import { nextTheme } from "../lib/theme";
import { type Route, type ScreenProps, routes } from "../routes";
import { Button } from "./button";
import { Dialog, Dialogs } from "./dialog";
import { Icon } from "./icons";
import { Page } from "./page";
import { Skeleton } from "./states";
import { Toasts } from "./toast";

/** Numbers beside places of the sidebar, by the path of their route; a screen that knows one sets it. */
export const badges = signal<Record<string, { count: number; bad?: boolean }>>({});
const menu = signal(false);
const CALM_MS = 250;

const PARTS = [["work", ""], ["manage", "Manage"], ["admin", "All tenants"]] as const;
const addressOf = (route: Route): string => route.path.replace("/t/:tenant", tenantPath());

/** Where one goes most often, and whether it is at work. */
function Favourites() {
  const { path } = location.value;
  if (!tenant.value || !favourites.value.length) return null;
  return (
    <div class="nav-part">
      <h2 class="nav-title" id="favourites">Favourites</h2>
      <ul aria-labelledby="favourites">
        {favourites.value.map((a) => {
          const to = tenantPath(`/agents/${a.id}`), works = atWork.value.has(a.id);
          return (
            <li key={a.id}>
              <Link to={to} class="nav-favourite" aria-current={path === to ? "page" : path.startsWith(`${to}/`) ? "true" : undefined} onClick={() => (menu.value = false)}>
                <span class={works ? "dot works" : "dot"} aria-hidden="true" /><span>{straight(a.name)}</span>{works && <span class="hidden">at work</span>}
              </Link>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Nav() {
  const { path } = location.value;
  return (
    <nav aria-label="Main">
      {PARTS.map(([part, title]) => {
        const own = routes.filter((r) => r.nav?.part === part && can(r.needs) && (tenant.value || !r.path.startsWith("/t/")));
        return own.length > 0 && (
          <Fragment key={part}>
            <div class="nav-part">
            {title && <h2 class="nav-title">{title}</h2>}
            <ul>
              {own.map((r) => {
                const to = addressOf(r), badge = badges.value[r.path];
                return (
                  <li key={r.path}>
                    <Link to={to} aria-current={path === to ? "page" : path.startsWith(`${to}/`) ? "true" : undefined} onClick={() => (menu.value = false)}>
                      {r.nav && <Icon name={r.nav.icon} />}<span>{r.title}</span>
                      {badge && badge.count > 0 && <span class={badge.bad ? "badge bad" : "badge"} aria-label={`${badge.count} waiting`}>{badge.count}</span>}
                    </Link>
                  </li>
                );
              })}
            </ul>
          </div>
          {part === "work" && <Favourites />}
          </Fragment>
        );
      })}
    </nav>
  );
}

function TenantSwitcher() {
  const all = me.value?.memberships ?? [];
  const now = tenant.value;
  if (!now) return <span class="tenant">Lodge</span>;
  if (all.length === 1) return <Link to={tenantPath("/agents")} class="tenant"><span class="mark" aria-hidden="true">{now.tenant_name[0]}</span><span>{now.tenant_name}</span></Link>;
  return (
    <label class="tenant">
      <span class="mark" aria-hidden="true">{now.tenant_name[0]}</span>
      <span class="hidden">Tenant</span>
      <select value={now.tenant_slug} onChange={(e) => {
        // The same kind of screen in the other tenant, where it is a list.
        const rest = /^\/t\/[^/]+(\/[^/]+)/.exec(location.value.path)?.[1] ?? "/agents";
        enter(e.currentTarget.value);
        go(`/t/${e.currentTarget.value}${rest}`);
      }}>
        {all.map((m) => <option key={m.tenant_id} value={m.tenant_slug}>{m.tenant_name}</option>)}
      </select>
    </label>
  );
}

const WORDS = { off: "Not connected", connecting: "Connecting…", live: "Live", limited: "Too many streams are open; reading every 5 seconds", waiting: "Connection lost; trying again", "signed-out": "Signed out", gone: "Not connected" } as const;

function Foot() {
  return (
    <div class="frame-foot">
      <p class={`connection ${connection.value}`} role="status"><span class="dot" aria-hidden="true" /> {WORDS[connection.value]}</p>
      <div class="foot-row">
        <Link to="/account" class="account"><Icon name="user" /><span>{me.value?.name ?? me.value?.email}</span></Link>
        <Button look="quiet" icon="moon" label="Switch between light and dark" act={nextTheme} />
        <Button look="quiet" icon="help" label="Keys" act={() => void (help.value = true)} />
        <Button look="quiet" icon="out" label="Sign out" act={signOut} />
      </div>
    </div>
  );
}

// The screen that the address names comes while the service says who is there.
routes.find((r) => matches(r.path, location.peek().path))?.load().catch(() => undefined);

/** What a screen throws is said in its place, and the frame stays. */
class Guard extends Component<{ children: ComponentChildren; at: string }, { failed: string | null }> {
  override state = { failed: null as string | null };
  override componentDidCatch(err: unknown): void {
    reportError(err);
    this.setState({ failed: this.props.at });
  }
  override render() {
    if (this.state.failed !== null && this.state.failed === this.props.at)
      return <Page title="This screen failed" lead="The fault is in the console, not in what you did. Reload the page; if it fails again, tell whoever runs this service."><Button act={() => window.location.reload()}>Reload</Button></Page>;
    return this.props.children;
  }
}

function Screen() {
  const { path } = location.value;
  const found = routes.map((route) => ({ route, params: matches(route.path, path) })).find((r) => r.params);
  const [shown, setShown] = useState<{ load: Route["load"]; View: FunctionComponent<ScreenProps> } | null>(null);
  const [failed, setFailed] = useState(false);
  const route = found?.route;
  useEffect(() => {
    let wanted = true;
    setFailed(false);
    route?.load().then((m) => wanted && setShown({ load: route.load, View: m.default }), () => wanted && setFailed(true));
    return () => void (wanted = false);
  }, [route?.load]); // lines with one function are one screen, which stays while its address changes
  useEffect(() => {
    if (tenant.value && path.startsWith("/t/")) enter(tenant.value.tenant_slug);
  }, [tenant.value?.tenant_slug, path]);
  if (!found || (path.startsWith("/t/") && !tenant.value))
    return <Page title="There is nothing here" lead="The address is wrong, what it named is gone, or you can no longer see it."><a class="button plain" href={`${BASE}/`}>To the beginning</a></Page>;
  if (!can(route?.needs)) return <Page title="You may not see this" lead={<>It needs the permission <code>{route?.needs}</code>. {route?.needs === "super_admin" ? "Only super administrators have it." : "An owner or administrator of this tenant can grant it."}</>}>{null}</Page>;
  if (failed) return <Page title="This screen could not be loaded" lead="The service was not reached, or is a newer one."><Button act={() => window.location.reload()}>Reload</Button></Page>;
  if (!shown || shown.load !== route?.load) return <div class="page"><Skeleton /></div>;
  return <Guard at={path}><shown.View key={tenant.value?.tenant_id} params={found.params ?? {}} /></Guard>;
}

/** Something that is loaded when it is first wanted. */
function Later({ load, close }: { load: () => Promise<{ default: FunctionComponent<{ close: () => void }> }>; close: () => void }) {
  const [View, setView] = useState<FunctionComponent<{ close: () => void }> | null>(null);
  useEffect(() => void load().then((m) => setView(() => m.default)), []);
  return View ? <View close={close} /> : null;
}

function Keys() {
  return (
    <Dialog title="Keys" onClose={() => (help.value = false)}>
      <dl class="keys">{keyList().map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <p class="muted">Keys of one letter can be switched off in <Link to="/account" onClick={() => (help.value = false)}>your account</Link>.</p>
    </Dialog>
  );
}

const firstScreen = (): string => {
  if (!me.value?.memberships.length && !me.value?.is_super_admin) return "/account"; // which says what to do
  const first = routes.find((r) => r.nav && can(r.needs) && (tenant.value || !r.path.startsWith("/t/")));
  return first ? addressOf(first) : "/account";
};

/** What the frame shows is kept true: what waits for a person beside its place in the sidebar, who is at work, what one may do. */
function Watch() {
  const [calm, setCalm] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setCalm(true), CALM_MS);
    return () => clearTimeout(timer);
  }, []);
  useEvents((e) => void ((isChange(e, "member", me.value?.id) || isChange(e, "user", me.value?.id) || isChange(e, "tenant") || isChange(e, "group")) && refreshMe()));
  return calm ? <Beside /> : null;
}

/** What stands beside the screen is read after it: a browser asks for six things at a time. */
function Beside() {
  useInbox();
  useLive();
  const waits = inbox.value ?? [], count = waits.length, bad = waits.some((w) => w.kind === "failed" || w.kind === "delivery");
  useEffect(() => {
    badges.value = { ...badges.value, "/t/:tenant/inbox": { count, bad } };
  }, [count, bad]);
  return null;
}

export function Frame() {
  const { path } = location.value;
  const home = path === "/" || path === "/sign-in";
  useEffect(() => {
    if (home) void isFirstRun().then((first) => go(first ? tenantPath("/start") : firstScreen(), { replace: true }));
  }, [home]);
  return (
    <div class={menu.value ? "frame open" : "frame"} onKeyDown={(e) => {
      if (e.key !== "Escape" || !menu.value || e.defaultPrevented || document.querySelector("dialog[open]")) return;
      menu.value = false;
      document.querySelector<HTMLElement>(".frame-top button")?.focus();
    }}>
      <a class="skip" href="#main">Skip to what this page is about</a>
      <header class="frame-top">
        <Button look="quiet" icon="menu" label={menu.value ? "Close the menu" : "Open the menu"} aria-expanded={menu.value} act={() => void (menu.value = !menu.value)} />
        <span class="wordmark">{tenant.value?.tenant_name ?? "Lodge"}</span>
        <Button look="quiet" icon="search" label="Find" act={() => void (palette.value = true)} />
      </header>
      <aside class="frame-side" aria-label="Sidebar">
        <TenantSwitcher />
        <button type="button" class="find" onClick={() => (palette.value = true)}><Icon name="search" /><span>Find</span><kbd>Ctrl K</kbd></button>
        <Nav />
        <Foot />
      </aside>
      <main id="main" tabIndex={-1}>{!home && <Screen />}</main>
      {palette.value && <Later load={() => import("./palette")} close={() => (palette.value = false)} />}
      {help.value && <Keys />}
      {ended.value && <Later load={() => import("../screens/sign-in-again")} close={() => undefined} />}
      {tenant.value && <Watch />}
      <Dialogs />
      <Toasts />
    </div>
  );
}
