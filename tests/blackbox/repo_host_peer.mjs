// repo_host_peer.mjs - stubs of GitLab and Gitea for what we ask of them, written from their documents; their repositories are real, and git serves them.
import { execFileSync, spawn } from "node:child_process";
import http from "node:http";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createGunzip } from "node:zlib";

export const TOKEN = "glpat-0123456789";

/** The parts of a multipart body, by name: enough for one file. */
function parts(bytes, type) {
  const boundary = /boundary=([^;]+)/.exec(type)?.[1], text = bytes.toString("latin1");
  const found = new RegExp(`^--${boundary}\r\n[^]*?name="?(\\w+)"?[^]*?\r\n\r\n([^]*?)\r\n--${boundary}--`).exec(text);
  return found ? { [found[1]]: Buffer.from(found[2], "latin1") } : {};
}

const answer = (status, json, headers = {}) => ({ status, json, headers });
const taken = (what) => answer(400, { message: { [what]: ["has already been taken"] } });

function page(list, query, { size, total }) {
  const n = Number(query.get("page") ?? 1), each = Math.min(Number(query.get(size) ?? 20), 100), rows = list.slice((n - 1) * each, n * each);
  return answer(200, rows, total ? { [total]: String(list.length) } : {});
}

/** Routes: [method, pattern, function of (what the pattern caught, body, query, request)]. */
function gitlab(p) {
  const project = (one) => ({ id: one.id, name: one.name, path: one.name, path_with_namespace: one.path, description: one.description, default_branch: one.main, visibility: "private",
    http_url_to_repo: `${p.url}/${one.path}.git`, web_url: `${p.url}/${one.path}` });
  const user = (u) => ({ id: u.id, username: u.name, name: u.title, email: u.email, state: "active", avatar_url: u.avatar ? `${p.url}/avatar` : null, is_admin: u.name === "root" });
  const find = (id) => [...p.projects.values()].find((one) => one.path === decodeURIComponent(id) || String(one.id) === id);
  const list = (rows, q) => page(rows, q, { size: "per_page", total: p.faults.has("no total") ? null : "x-total" });
  return [
    ["GET", /^\/user$/, () => answer(200, user(p.users.get("root")))],
    ["GET", /^\/namespaces\/([^/]+)$/, ([id]) => (p.spaces.has(decodeURIComponent(id)) ? answer(200, { id: 42, path: "agents", full_path: decodeURIComponent(id), kind: "group" }) : answer(404, { message: "404 Namespace Not Found" }))],
    ["POST", /^\/projects$/, (_, b) => (p.make(b.namespace_id === 42 ? "agents" : "root", b.path ?? b.name, b) ?? {}).again ? taken("path") : answer(201, project(p.last))],
    ["GET", /^\/projects\/([^/]+)$/, ([id]) => (find(id) ? answer(200, project(find(id))) : answer(404, { message: "404 Project Not Found" }))],
    ["GET", /^\/projects\/([^/]+)\/repository\/(branches|tags)$/, ([id, what], b, q) => list(p.refs(find(id), what).map((name) => ({ name })), q)],
    ["GET", /^\/projects\/([^/]+)\/hooks$/, ([id], b, q) => (p.faults.has("empty page 2") && q.get("page") === "2" ? answer(200, [], { "x-next-page": "3", "x-total": "300" }) : list(find(id).hooks, q))],
    ["POST", /^\/projects\/([^/]+)\/hooks$/, ([id], b) => answer(201, p.hook(find(id), { url: b.url, token: b.token, push_events: b.push_events }))],
    ["PUT", /^\/projects\/([^/]+)\/hooks\/(\d+)$/, ([id, n], b) => answer(200, Object.assign(find(id).hooks.find((h) => String(h.id) === n), b))],
    ["POST", /^\/projects\/([^/]+)\/members$/, ([id], b) => (p.letIn(find(id), p.byId(String(b.user_id)), b.access_level) ? answer(201, { id: b.user_id }) : answer(409, { message: "Member already exists" }))],
    ["GET", /^\/users$/, (_, b, q) => list([...p.users.values()].filter((u) => u.name === q.get("username")).map(user), q)],
    ["POST", /^\/users$/, (_, b) => (p.users.has(b.username) ? answer(409, { message: "Username has already been taken" }) : answer(201, user(p.enter(b.username, b.name, b.email))))],
    ["PUT", /^\/users\/(\d+)$/, ([id], b) => (b.avatar ? answer(200, user(Object.assign(p.byId(id), { avatar: b.avatar }))) : answer(400, { message: "nothing to change" }))],
    ["GET", /^\/users\/(\d+)\/keys$/, ([id], b, q) => list(p.byId(id).keys, q)],
    ["POST", /^\/users\/(\d+)\/keys$/, ([id], b) => (p.key(p.byId(id), b) ? answer(201, p.last) : taken("fingerprint_sha256"))],
  ];
}

function gitea(p) {
  const project = (one) => ({ id: one.id, name: one.name, full_name: one.path, description: one.description, default_branch: one.main ?? "", private: true, clone_url: `${p.url}/${one.path}.git`, html_url: `${p.url}/${one.path}` });
  const user = (u) => ({ id: u.id, login: u.name, full_name: u.title, email: u.email, is_admin: u.name === "root" });
  const find = (owner, name) => p.projects.get(`${owner}/${name}`);
  const list = (rows, q) => page(rows, q, { size: "limit", total: p.faults.has("no total") ? null : "x-total-count" });
  const made = (space, b) => (p.make(space, b.name, b).again ? answer(409, { message: "The repository with the same name already exists." }) : answer(201, project(p.last)));
  const missing = answer(404, { message: "The target couldn't be found." });
  return [
    ["GET", /^\/user$/, () => answer(200, user(p.users.get("root")))],
    ["GET", /^\/orgs\/([^/]+)$/, ([org]) => (p.spaces.has(org) ? answer(200, { id: 42, name: org, username: org }) : missing)],
    ["POST", /^\/user\/repos$/, (_, b) => made("root", b)],
    ["POST", /^\/orgs\/([^/]+)\/repos$/, ([org], b) => (p.spaces.has(org) ? made(org, b) : missing)],
    ["GET", /^\/repos\/([^/]+)\/([^/]+)$/, ([o, r]) => (find(o, r) ? answer(200, project(find(o, r))) : missing)],
    ["GET", /^\/repos\/([^/]+)\/([^/]+)\/(branches|tags)$/, ([o, r, what], b, q) => list(p.refs(find(o, r), what).map((name) => ({ name })), q)],
    ["GET", /^\/repos\/([^/]+)\/([^/]+)\/hooks$/, ([o, r], b, q) => list(find(o, r).hooks, q)],
    ["POST", /^\/repos\/([^/]+)\/([^/]+)\/hooks$/, ([o, r], b) => answer(201, p.hook(find(o, r), { type: b.type, config: b.config, events: b.events, active: b.active }))],
    ["PATCH", /^\/repos\/([^/]+)\/([^/]+)\/hooks\/(\d+)$/, ([o, r, n], b) => answer(200, Object.assign(find(o, r).hooks.find((h) => String(h.id) === n), b))],
    ["PUT", /^\/repos\/([^/]+)\/([^/]+)\/collaborators\/([^/]+)$/, ([o, r, name], b) => (p.letIn(find(o, r), p.users.get(name), b.permission), answer(204))],
    ["GET", /^\/users\/([^/]+)$/, ([name]) => (p.users.has(name) ? answer(200, user(p.users.get(name))) : missing)],
    ["POST", /^\/admin\/users$/, (_, b) => (p.users.has(b.username) ? answer(422, { message: "user already exists" }) : answer(201, user(p.enter(b.username, b.full_name, b.email))))],
    ["POST", /^\/user\/avatar$/, (_, b, q, req) => { (p.users.get(req.headers.sudo) ?? p.users.get("root")).avatar = Buffer.from(b.image, "base64"); return answer(204); }],
    ["GET", /^\/users\/([^/]+)\/keys$/, ([name], b, q) => list(p.users.get(name).keys, q)],
    ["POST", /^\/admin\/users\/([^/]+)\/keys$/, ([name], b) => (p.key(p.users.get(name), b) ? answer(201, p.last) : answer(422, { message: "Key content has been used as non-deploy key" }))],
  ];
}

/** git's own wire for what lies in the folder. */
function git(p, req, res, url) {
  const [, path, what] = /^\/(.+)\.git\/(info\/refs|git-(?:upload|receive)-pack)$/.exec(url.pathname) ?? [], one = p.projects.get(path);
  const basic = Buffer.from((req.headers.authorization ?? "").replace(/^Basic /, ""), "base64").toString();
  if (p.faults.has("broken")) return res.writeHead(502).end("no");
  if (!one) return res.writeHead(404).end();
  if (basic.split(":")[1] !== TOKEN) return res.writeHead(401, { "WWW-Authenticate": "Basic" }).end();
  const kind = what === "info/refs" ? "advertisement" : "result", service = kind === "result" ? what : url.searchParams.get("service");
  const child = spawn("git", [service.slice(4), "--stateless-rpc", ...(kind === "result" ? [] : ["--http-backend-info-refs"]), one.folder],
    { env: { PATH: process.env.PATH, GIT_PROTOCOL: req.headers["git-protocol"] ?? "" }, stdio: ["pipe", "pipe", "ignore"] });
  res.writeHead(200, { "Content-Type": `application/x-${service}-${kind}` });
  if (kind === "advertisement" && (service === "git-receive-pack" || !req.headers["git-protocol"])) res.write(`${(15 + service.length).toString(16).padStart(4, "0")}# service=${service}\n0000`);
  (req.headers["content-encoding"] === "gzip" ? req.pipe(createGunzip()) : req).pipe(child.stdin);
  child.stdout.pipe(res);
}

/** {url, projects, users, requests, faults, spaces}; faults is a set of words, which begin with what they apply to. */
export async function repoHostPeer(t, kind) {
  let ids = 100;
  const folder = t.folder();
  const p = { kind, projects: new Map(), users: new Map(), requests: [], faults: new Set(), spaces: new Set(["agents"]) };
  p.enter = (name, title, email) => (p.users.set(name, { id: ++ids, name, title, email, keys: [] }), p.users.get(name));
  p.byId = (id) => [...p.users.values()].find((u) => String(u.id) === id);
  p.make = (space, name, { description = "" } = {}) => {
    const path = `${space}/${name}`, at = join(folder, `${path}.git`);
    if (p.projects.has(path)) return { again: true };
    mkdirSync(join(folder, space), { recursive: true });
    execFileSync("git", ["init", "-q", "--bare", "-b", "main", at]);
    p.projects.set(path, (p.last = { id: ++ids, name, path, description, folder: at, hooks: [], members: new Map(), main: null }));
    return p.last;
  };
  p.refs = (one, what) => execFileSync("git", ["for-each-ref", "--format=%(refname:lstrip=2)", what === "tags" ? "refs/tags" : "refs/heads"], { cwd: one.folder }).toString().split("\n").filter(Boolean);
  p.hook = (one, hook) => (one.hooks.push({ id: ++ids, ...hook }), one.hooks.at(-1));
  p.letIn = (one, user, may) => (one.members.has(user.name) ? false : (one.members.set(user.name, may), true));
  p.key = (user, { title, key }) => {
    const bare = key.split(" ").slice(0, 2).join(" ");
    if ([...p.users.values()].some((u) => u.keys.some((k) => k.key.startsWith(bare)))) return null;
    user.keys.push((p.last = { id: ++ids, title, key: `${bare} comment@host` }));
    return p.last;
  };
  p.enter("root", "Root", "root@example.org");
  const [base, routes] = kind === "gitlab" ? ["/api/v4", gitlab(p)] : ["/api/v1", gitea(p)];
  const server = http.createServer(async (req, res) => {
    const url = new URL(req.url, "http://x");
    if (!url.pathname.startsWith(base)) return git(p, req, res, url);
    const bytes = [];
    for await (const piece of req) bytes.push(piece);
    const body = Buffer.concat(bytes), type = req.headers["content-type"] ?? "", path = url.pathname.slice(base.length);
    const read = type.startsWith("multipart/") ? parts(body, type) : body.length ? JSON.parse(body) : {};
    p.requests.push({ method: req.method, path, body: read, headers: req.headers });
    for (const [word, act] of [["limited", () => res.writeHead(429, { "Retry-After": "7" }).end()], ["slow", () => {}], ["cut", () => { res.writeHead(200, { "Content-Length": 100 }).write("{"); res.destroy(); }],
      ["elsewhere", () => res.writeHead(302, { Location: "https://elsewhere.example.org/" }).end()], ["garbage", () => res.writeHead(200, { "Content-Type": "text/html" }).end("<html>")], ["broken", () => res.writeHead(502).end("no")],
      ["moved", () => res.writeHead(301, { Location: `${p.url}${base}${path}?moved=1` }).end()]])
      if (p.faults.has(word) && !url.searchParams.has("moved")) return act();
    if (![req.headers["private-token"], (req.headers.authorization ?? "").replace(/^(token|Bearer) /, "")].includes(TOKEN)) return res.writeHead(401, { "Content-Type": "application/json" }).end('{"message":"401 Unauthorized"}');
    if (p.faults.has("hooks hang") && path.endsWith("/hooks")) return;
    if (p.faults.has("hooks refused") && path.endsWith("/hooks")) return res.writeHead(422, { "Content-Type": "application/json" }).end('{"message":"Invalid url given"}');
    for (const [method, pattern, run] of routes) {
      const caught = method === req.method && pattern.exec(path);
      if (!caught) continue;
      const said = run(caught.slice(1), read, url.searchParams, req);
      return res.writeHead(said.status, { "Content-Type": "application/json", ...said.headers }).end(said.json === undefined ? undefined : JSON.stringify(said.json));
    }
    res.writeHead(404, { "Content-Type": "application/json" }).end('{"message":"404 Not Found"}');
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.onEnd(() => { server.closeAllConnections(); server.close(); });
  p.url = `http://127.0.0.1:${server.address().port}`;
  return p;
}
