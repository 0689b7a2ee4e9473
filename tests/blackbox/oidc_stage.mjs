// oidc_stage.mjs - a real OpenID provider on this machine, a browser that follows its redirects, and a
// service that signs people in there; for the tests that need them.
import { randomUUID } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ADMIN, equal, here, ok, short, within } from "./harness.mjs";

const home = join(here, "oidc/node_modules/oidc-provider");
export const installed = existsSync(home);

export const SECRET = "s3cret of the client: with /?& and more";
const people = {
  ada: { email: "Ada@example.org", email_verified: true, name: "Ada Example" },
  eve: { email: "eve@example.org", email_verified: true },
  shy: { email: "shy@example.org", email_verified: false },
  sue: { email: "sue@example.org", email_verified: true },
};

// ---- the provider ----

const tools = async () => ({
  Provider: (await import(pathToFileURL(join(home, "lib/index.js")).href)).default,
  Memory: (await import(pathToFileURL(join(home, "lib/adapters/memory_adapter.js")).href)).default,
  jose: await import(pathToFileURL(join(here, "oidc/node_modules/jose/dist/node/esm/index.js")).href),
});

async function freshKey(jose, alg) {
  const { privateKey } = await jose.generateKeyPair(alg, { extractable: true });
  return { ...(await jose.exportJWK(privateKey)), kid: randomUUID(), alg, use: "sig" };
}

/** A provider that signs in whoever the test names: {issuer, port, as, stop, restart}. */
export async function provider(t, { alg = "RS256", userinfo = false, host = "127.0.0.1" } = {}) {
  const { Provider, Memory, jose } = await tools();
  const self = { as: "ada", port: 0, client: null, others: [] };
  const start = async () => {
    const server = http.createServer((request, reply) => self.handle(request, reply));
    await new Promise((done) => server.listen(self.port, "127.0.0.1", done));
    self.port = server.address().port;
    self.issuer = `http://${host}:${self.port}`;
    const key = await freshKey(jose, alg);
    const op = new Provider(self.issuer, {
      clients: [...(self.client ? [self.client] : []), ...self.others],
      jwks: { keys: [key, await freshKey(jose, "ES256")] },
      pkce: { required: () => true, methods: ["S256"] },
      conformIdTokenClaims: userinfo,
      claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
      cookies: { keys: ["k"] },
      adapter: class extends Memory {},
      ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      // Whoever names a resource gets an access token that is a JWT for it.
      features: { devInteractions: { enabled: false }, resourceIndicators: { enabled: true, useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({ scope: "mcp", audience: resource, accessTokenFormat: "jwt", accessTokenTTL: 600, jwt: { sign: { alg } } }) } },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
      interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
      loadExistingGrant: async (ctx) => {
        const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
        grant.addOIDCScope("openid email profile");
        for (const resource of [ctx.oidc.params.resource ?? []].flat()) grant.addResourceScope(resource, "mcp");
        await grant.save();
        return grant;
      },
    });
    op.on("server_error", (_, err) => console.log(`note: the provider says ${err.stack}`));
    self.handle = (request, reply) => (host !== "127.0.0.1" && /^\/interaction\/[^?]*$/.test(request.url)
      ? reply.setHeader("Content-Type", "text/html").end('<meta http-equiv="refresh" content="0;url=?yes">') // as if somebody had typed
      : request.url.startsWith("/interaction/")
      ? op.interactionFinished(request, reply, self.as === "nobody"
        ? { error: "access_denied" }
        : { login: { accountId: self.as } }, { mergeWithLastSubmission: false })
      : op.callback()(request, reply));
    self.server = server;
  };
  self.stop = async () => {
    self.server.closeAllConnections();
    await new Promise((done) => self.server.close(done));
  };
  self.restart = async () => {
    await self.stop();
    await start();
  };
  await start();
  t.onEnd(() => self.stop().catch(() => {}));
  return self;
}

// ---- the browser ----

export class Browser {
  cookies = new Map();

  get(url) {
    const { hostname, port, pathname, search } = new URL(url);
    const origin = `${hostname}:${port}`;
    const jar = this.cookies.get(origin) ?? this.cookies.set(origin, new Map()).get(origin);
    const headers = jar.size ? { Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") } : {};
    return within(15_000, new Promise((done, no) => {
      http.get({ hostname, port, path: pathname + search, headers, agent: false }, (reply) => {
        const parts = [];
        reply.on("data", (part) => parts.push(part));
        reply.on("end", () => {
          for (const line of reply.headers["set-cookie"] ?? []) {
            const [pair] = line.split(";");
            const at = pair.indexOf("=");
            if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(pair.slice(0, at));
            else jar.set(pair.slice(0, at), pair.slice(at + 1));
          }
          const text = Buffer.concat(parts).toString();
          done({ status: reply.statusCode, headers: reply.headers, text, location: reply.headers.location && new URL(reply.headers.location, url).href });
        });
      }).on("error", no);
    }), `GET ${url}`);
  }

  /** Follows redirects until one leads to the callback, which is not called yet. */
  async toCallback(server, path = "/auth/oidc/sso/start") {
    let reply = await this.get(server.origin + path);
    equal(reply.status, 302, `start says ${reply.text}`);
    this.first = reply;
    for (let step = 0; step < 10; step++) {
      if (reply.location?.startsWith(`${server.origin}/auth/oidc/`)) return reply.location;
      ok(reply.location, `the provider stops at ${reply.status} ${short(reply.text)}`);
      reply = await this.get(reply.location);
    }
    throw new Error("the provider never leads back");
  }

  async signIn(server, path) {
    return this.get(await this.toCallback(server, path));
  }

  session(server) {
    return this.cookies.get(new URL(server.origin).host)?.get("lodge_session");
  }
}

/** Where the page leads by itself. */
export const leads = (reply) => /<meta http-equiv="refresh" content="0;url=([^"]*)">/.exec(reply.text)?.[1];

// ---- the service ----

async function stage(t, { engine = "sqlite", op, flags = [], leaks = false, admin = ADMIN } = {}) {
  const place = await t.place(engine);
  const file = join(place.folder, "sso.secret");
  writeFileSync(file, `${SECRET}\n`, { mode: 0o600 });
  const server = await t.serve(place, { flags: ["--oidc", `sso=${op.issuer},lodge:client,${file}`, ...flags], leaks,
    env: { LODGE_ADMIN_EMAIL: admin.email, LODGE_ADMIN_PASSWORD: admin.password } });
  const tenant = await server.enter(admin);
  op.client = { client_id: "lodge:client", client_secret: SECRET, grant_types: ["authorization_code"], response_types: ["code"],
    redirect_uris: [`${server.origin}/auth/oidc/sso/callback`], id_token_signed_response_alg: op.alg };
  await op.restart();
  return { place, server, tenant };
}

export async function setUp(t, options = {}) {
  const op = await provider(t, options);
  op.alg = options.alg ?? "RS256";
  return { op, ...(await stage(t, { ...options, op })) };
}

export const allow = async (server, tenant, email) =>
  equal((await server.request("POST", `/tenant/${tenant}/allowed-accounts`, { body: { email } })).status, 201, `allowing ${email}`);
