// hooks_sdk.test.mjs - events signed by the services' own packages are taken, and what those packages
// refuse is refused here.
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { equal, here, ok, shared, test } from "./harness.mjs";
import { load } from "./hooks/packages.mjs";

const home = join(here, "hooks/node_modules");
const installed = existsSync(join(home, "stripe"));
if (!installed) console.log("note: the packages of tests/blackbox/hooks are not installed: the services' own signatures are not tried");
const trial = (name, run) => installed && test(name, run);

const house = shared(async (t) => {
  const server = await t.serve(await t.place());
  const tenant = await server.enter();
  const agent = (await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: "Hooked", slug: "hooked" } })).json.id;
  return { server, tenant, agent };
});

/** An integration: {secret, send(body, headers)}. */
async function integration(provider, more = {}) {
  const { server, tenant, agent } = await house();
  const made = await server.request("POST", `/tenant/${tenant}/integrations`, { body: { provider, label: provider, agent_id: agent, ...more } });
  equal(made.status, 201, made.text);
  const send = async (body, headers) => (await server.request("POST", `/hooks/${made.json.id}`, { token: null, body, headers })).status;
  return { secret: made.json.signing_secret, send };
}

const event = (more = {}) => JSON.stringify({ hello: "wörld 😀", n: 1.5, ...more }, null, 2);

/** Taken once, then known; not taken with another body. */
async function taken(hook, body, headers) {
  equal(await hook.send(body, headers), 202, "the event");
  equal(await hook.send(body, headers), 200, "its repeat");
  equal(await hook.send(`${body} `, headers), 401, "another body");
  equal(await hook.send(JSON.stringify(JSON.parse(body)), headers), 401, "the same, written anew");
}

trial("@octokit/webhooks-methods signs for github and generic", async () => {
  const { sign, verify } = await load("@octokit/webhooks-methods");
  for (const provider of ["github", "generic"]) {
    const hook = await integration(provider);
    const body = event();
    const signature = await sign(hook.secret, body);
    ok(await verify(hook.secret, body, signature), "its own check");
    await taken(hook, body, { "X-Hub-Signature-256": signature, "X-GitHub-Delivery": "d-1", "X-GitHub-Event": "push" });
  }
});

trial("standardwebhooks and svix sign for standard and gitlab", async () => {
  const { Webhook: Standard } = await load("standardwebhooks");
  const { Webhook: Svix } = await load("svix");
  for (const provider of ["standard", "gitlab"])
    for (const [id, Webhook] of [["msg_a", Standard], ["msg_b", Svix]]) {
      const hook = await integration(provider);
      const body = event();
      const now = new Date();
      const signature = new Webhook(hook.secret).sign(id, now, body);
      const headers = { "webhook-id": id, "webhook-timestamp": String(Math.floor(now / 1000)), "webhook-signature": signature };
      new Standard(hook.secret).verify(body, headers);
      await taken(hook, body, headers);
      if (provider === "standard") {
        const branded = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.replace("webhook-", "svix-"), value]));
        const other = await integration(provider, { signing_secret: hook.secret });
        new Svix(other.secret).verify(body, branded);
        await taken(other, body, branded);
      }
      const late = new Date(now - 3600_000);
      equal(await hook.send(body, { ...headers, "webhook-id": "late", "webhook-timestamp": String(Math.floor(late / 1000)),
        "webhook-signature": new Webhook(hook.secret).sign("late", late, body) }), 401, "an hour late");
    }
});

trial("stripe signs for stripe", async () => {
  const { default: Stripe } = await load("stripe");
  const stripe = new Stripe("sk_test_nothing");
  const secret = "whsec_chosen_by_stripe";
  const hook = await integration("stripe", { signing_secret: secret });
  const payload = event({ id: "evt_1", object: "event", type: "invoice.paid" });
  const header = stripe.webhooks.generateTestHeaderString({ payload, secret });
  equal(stripe.webhooks.constructEvent(payload, header, secret).id, "evt_1", "its own check");
  await taken(hook, payload, { "Stripe-Signature": header });
  const timestamp = Math.floor(Date.now() / 1000) - 3600;
  equal(await hook.send(event({ id: "evt_2" }), { "Stripe-Signature": stripe.webhooks.generateTestHeaderString({ payload: event({ id: "evt_2" }), secret, timestamp }) }),
    401, "an hour late");
});

trial("@linear/sdk takes for linear's what we take", async () => {
  const { LinearWebhookClient } = await load("@linear/sdk/webhooks");
  const hook = await integration("linear", { signing_secret: "lin_wh_chosen_by_linear" });
  const client = new LinearWebhookClient("lin_wh_chosen_by_linear");
  const body = event({ type: "Issue", action: "create", webhookTimestamp: Date.now() });
  const signature = createHmac("sha256", "lin_wh_chosen_by_linear").update(body).digest("hex");
  ok(client.verify(Buffer.from(body), signature, JSON.parse(body).webhookTimestamp), "its own check");
  await taken(hook, body, { "Linear-Signature": signature, "Linear-Delivery": "d-1" });
});
