// git_host.mjs - another host of repositories: git's own http-backend behind a small server, with a token, and with the faults that
// hosts have.
import { execFileSync, spawn } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { PLAIN } from "./git_stage.mjs";

const BACKEND = "/usr/lib/git-core/git-http-backend";

/** Hosts what lies under `folder`; `host.fault` is asked first, and may answer by itself. */
export async function gitHost(t, folder, { token = "s3cret" } = {}) {
  const host = { token, readOnly: false, fault: null, asked: [], children: new Set() };
  const server = createServer((request, response) => {
    host.asked.push(`${request.method} ${request.url}`);
    if (host.fault?.(request, response)) return;
    const given = Buffer.from((request.headers.authorization ?? "").replace(/^Basic /, ""), "base64").toString();
    if (host.token && !given.endsWith(`:${host.token}`)) return void response.writeHead(401, { "WWW-Authenticate": "Basic" }).end();
    const url = new URL(request.url, "http://host");
    if (host.readOnly && `${request.url}`.includes("receive-pack")) return void response.writeHead(403).end();
    const child = spawn(BACKEND, [], { env: { ...PLAIN, GIT_PROJECT_ROOT: folder, GIT_HTTP_EXPORT_ALL: "1", PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1), REQUEST_METHOD: request.method, CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "", GIT_PROTOCOL: request.headers["git-protocol"] ?? "",
      REMOTE_USER: "lodge", GIT_CONFIG_COUNT: "2", GIT_CONFIG_KEY_0: "safe.directory", GIT_CONFIG_VALUE_0: "*",
      GIT_CONFIG_KEY_1: "http.receivepack", GIT_CONFIG_VALUE_1: "true" } });
    host.children.add(child);
    child.on("close", () => host.children.delete(child));
    request.pipe(child.stdin).on("error", () => {});
    let head = Buffer.alloc(0), headed = false;
    child.stdout.on("data", (bytes) => {
      if (headed) return void response.write(bytes);
      head = Buffer.concat([head, bytes]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      headed = true;
      const lines = head.subarray(0, end).toString().split("\r\n").map((line) => line.split(/: (.*)/s));
      const status = lines.find(([name]) => name === "Status")?.[1] ?? "200";
      response.writeHead(Number.parseInt(status, 10), Object.fromEntries(lines.filter(([name]) => name !== "Status")));
      response.write(head.subarray(end + 4));
    });
    child.stdout.on("end", () => (headed ? response.end() : response.writeHead(500).end()));
  });
  const listen = (port) => new Promise((done) => server.listen(port, "127.0.0.1", done));
  await listen(0);
  host.port = server.address().port;
  host.url = (name) => `http://127.0.0.1:${host.port}/${name}`;
  /** Nobody is there any more; and back again, at the same place. */
  host.leave = () => new Promise((done) => { server.close(done); server.closeAllConnections(); });
  host.back = () => listen(host.port);
  t.onEnd(() => new Promise((done) => { for (const child of host.children) child.kill("SIGKILL"); server.close(done); server.closeAllConnections(); }));
  return host;
}

/** A bare repository with these files on its main branch; `put` adds to it as somebody who pushes does. */
export function bare(folder, name, files = {}, branch = "main") {
  const at = join(folder, name);
  const git = (args, input, more) => execFileSync("git", args, { cwd: at, input, env: { ...PLAIN, ...more }, stdio: ["pipe", "pipe", "pipe"] }).toString().trim();
  execFileSync("git", ["init", "-q", "--bare", `--initial-branch=${branch}`, at], { env: PLAIN });
  const put = (path, text, onto = branch) => {
    const index = { GIT_INDEX_FILE: join(at, "index.test") };
    let parent = [];
    try {
      git(["read-tree", onto], "", index);
      parent = ["-p", git(["rev-parse", onto])];
    } catch {
      git(["read-tree", "--empty"], "", index);
    }
    git(["update-index", "--add", "--cacheinfo", `100644,${git(["hash-object", "-w", "--stdin"], text)},${path}`], "", index);
    const made = git(["commit-tree", ...parent, "-m", `Change ${path}`, git(["write-tree"], "", index)]);
    git(["update-ref", `refs/heads/${onto}`, made]);
    return made;
  };
  for (const [path, text] of Object.entries(files)) put(path, text);
  return { at, git, put };
}
