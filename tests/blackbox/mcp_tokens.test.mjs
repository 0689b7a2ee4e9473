// mcp_tokens.test.mjs - a client of the Model Context Protocol that is given no key: it finds the OpenID provider by our
// 401, has its person sign in there, and comes with the provider's own token.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { equal, here, match, ok, testBoth } from "./harness.mjs";
import { allow, Browser, installed as providerInstalled, setUp } from "./oidc_stage.mjs";

const sdk = join(here, "mcp-server/node_modules/@modelcontextprotocol/sdk/dist/esm");
const installed = providerInstalled && existsSync(sdk);
if (!installed) console.log("note: the packages of tests/blackbox/oidc or mcp-server are not installed: a provider's tokens are not tried");

const BACK = "http://127.0.0.1:9/back";
const load = (path) => import(pathToFileURL(join(sdk, path)).href);

/** What the makers' client needs to sign somebody in: nothing but what it learns, and a browser. */
class Credentials {
  tokensGot = [];
  redirectUrl = BACK;
  clientMetadata = { redirect_uris: [BACK], client_name: "editor", token_endpoint_auth_method: "none", scope: "openid mcp" };
  clientInformation = () => ({ client_id: "editor" });
  tokens = () => this.tokensGot.at(-1);
  saveTokens = (tokens) => void this.tokensGot.push(tokens);
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);

  async redirectToAuthorization(url) {
    const browser = new Browser();
    this.asked = url;
    for (let at = url.href, step = 0; step < 10; step++) {
      const reply = await browser.get(at);
      ok(reply.location, `the provider stops at ${reply.status} ${reply.text}`);
      at = reply.location;
      if (!at.startsWith(BACK)) continue;
      this.code = new URL(at).searchParams.get("code");
      return ok(this.code, `the provider leads back with ${at}`);
    }
    throw new Error("the provider never leads back");
  }
}

if (installed) testBoth("the makers' client signs its person in at the provider, and asks with the provider's token", async (t, engine) => {
  const { op, place, server, tenant } = await setUp(t, { engine, leaks: engine === "sqlite" });
  const { Client } = await load("client/index.js");
  const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
  const { UnauthorizedError } = await load("client/auth.js");
  op.others = [{ client_id: "editor", token_endpoint_auth_method: "none", grant_types: ["authorization_code"], response_types: ["code"],
    redirect_uris: [BACK] }];
  await op.restart();
  const connect = async (authProvider, path = "/mcp") => {
    const client = new Client({ name: "editor", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(server.origin + path), { authProvider });
    t.onEnd(() => client.close());
    await client.connect(transport).catch(async (err) => {
      ok(err instanceof UnauthorizedError, `it says ${err}`);
      await transport.finishAuth(authProvider.code);
      throw err;
    });
    return client;
  };
  const signIn = async (path) => {
    const who = new Credentials();
    const first = await connect(who, path).then(() => "connected", (err) => err);
    ok(first instanceof UnauthorizedError, `without a token it says ${first.stack ?? first}`);
    return who;
  };

  const stranger = await signIn();
  equal(stranger.asked.searchParams.get("resource"), `${server.origin}/mcp`, "the resource that is asked for");
  ok(stranger.tokens().access_token.split(".").length === 3, "an access token that is a JWT");
  const raw = (token, path = "/mcp") => server.request("POST", path, { token, body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
  const refused = await raw(stranger.tokens().access_token);
  equal(refused.status, 401, `who has never signed in here: ${refused.text}`);
  match(refused.headers["www-authenticate"], /error="invalid_token", resource_metadata="[^"]*\/\.well-known\/oauth-protected-resource\/mcp"/, "the challenge");
  equal(await place.sql("select count(*) from users"), "1", "no account is made by a token");

  await allow(server, tenant, "ada@example.org");
  equal((await new Browser().signIn(server)).status, 200, "Ada signs in here once");
  const token = stranger.tokens().access_token;
  const client = await connect(stranger);
  const { tools } = await client.listTools();
  ok(tools.some((tool) => tool.name === "list_sessions"), "the tools");
  const ask = tools.find((tool) => tool.name.startsWith("ask_"));
  const answer = await client.callTool({ name: ask.name, arguments: { message: "Hello" } });
  ok(answer.structuredContent.session_id, `an answer: ${JSON.stringify(answer)}`);
  equal(await place.sql(`select count(*) from audit_logs where action = 'session.message' and meta like '%"issued_by":"sso"%'`), "1", "audited as the provider's");

  const ofTenant = await signIn(`/mcp/${tenant}`);
  equal(ofTenant.asked.searchParams.get("resource"), `${server.origin}/mcp/${tenant}`, "a tenant's own resource");
  await (await connect(ofTenant, `/mcp/${tenant}`)).listTools();
  equal((await raw(ofTenant.tokens().access_token)).status, 401, "what is for a tenant's address is good there alone");
  for (const path of ["/me", `/tenant/${tenant}/agents`, "/v1/models"])
    equal((await server.request("GET", path, { token })).status, 401, `${path} by such a token`);

  const spoilt = token.slice(0, -8) + (token.endsWith("AAAAAAAA") ? "BBBBBBBB" : "AAAAAAAA");
  equal((await raw(spoilt)).status, 401, "a signature that was changed");
  equal((await raw(token)).status, 200, "the token");
  await place.sql("update users set is_suspended = 1 where email = 'Ada@example.org'");
  equal((await raw(token)).status, 403, "suspended");
  await place.sql("update users set is_suspended = 0 where email = 'Ada@example.org'");
  equal((await raw(token)).status, 200, "no longer");
  await place.sql("delete from identities");
  equal((await raw(token)).status, 401, "unlinked");
  ok(!server.stderr.includes(token.split(".")[2]) && !server.stderr.includes(token.split(".")[1]), "the token is in the log");
}, { ms: 120_000 });
