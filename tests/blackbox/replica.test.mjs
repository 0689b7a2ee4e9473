// replica.test.mjs - reports come from a standby while it is near enough, and what they show is still the
// primary's to permit.
import { equal, ok, psql, test, until } from "./harness.mjs";
import { join } from "node:path";
import { startServer } from "./peers.mjs";

const FLAGS = ["--no-access-log"];
const reads = async (server) => Number(/^lodge_store_replica_reads_total (\d+)$/m.exec((await server.request("GET", "/metrics")).text)[1]);

test("reports are read from a replica that is near enough, and by nobody who may not", async (t) => {
  const primary = await startServer(t);
  const standby = await startServer(t, { of: primary });
  const folder = t.folder();
  const place = { engine: "postgres", folder, data: join(folder, "data"), store: primary.url };
  const server = await t.serve(place, { flags: [...FLAGS, "--store-replica", standby.url] });
  await server.enter();
  const audit = `/tenant/${server.tenant}/audit-logs`;
  const create = async (slug) => {
    const made = await server.request("POST", `/tenant/${server.tenant}/agents`, { body: { name: slug, slug } });
    equal(made.status, 201, made.text);
    return made.json.id;
  };
  const shown = async (id) => {
    const reply = await server.request("GET", `${audit}?per_page=200`);
    equal(reply.status, 200, reply.text);
    return reply.json.items.some((item) => item.resource_id === id);
  };
  const first = await create("first");
  const ask = async () => {
    const before = await reads(server);
    const there = await shown(first);
    return (await reads(server)) > before && there;
  };
  await until(20_000, "a report from the replica", ask);
  const whole = await server.request("GET", `${audit}?format=ndjson`);
  equal(whole.headers["content-type"], "application/x-ndjson", whole.text);
  ok(whole.text.includes(first), "the export has it");

  // Somebody who may read them, and then may not: the replica stands still and knows nothing of it.
  const invited = (await server.request("POST", `/tenant/${server.tenant}/members`, { body: { email: "somebody@example.org", role: "ADMIN" } })).json;
  const entered = (await server.request("POST", "/auth/accept-invite", { token: "", body: { token: invited.invite_token, name: "Somebody", password: "Another-Horse-9-Battery" } })).json;
  const theirs = () => server.request("GET", audit, { token: entered.token });
  equal((await theirs()).status, 200, "an administrator");
  await until(20_000, "the replica to know them", async () => (await psql(standby.url, `select count(*) from members where user_id = '${entered.user.id}'`)) === "1");
  await psql(standby.url, "select pg_wal_replay_pause()");
  await until(20_000, "the replica to stand still", async () => (await psql(standby.url, "select pg_get_wal_replay_pause_state()")) === "paused");
  const before = await reads(server);
  const removed = await server.request("DELETE", `/tenant/${server.tenant}/members/${entered.user.id}`);
  equal(removed.status, 204, removed.text);
  equal((await theirs()).status, 404, "somebody who was removed");
  equal(await psql(standby.url, `select count(*) from members where user_id = '${entered.user.id}'`), "1", "a member, as far as the replica knows");
  equal(await reads(server), before, "reports that the replica gave them");

  // It is too far away some seconds later: all comes from the primary, at once and whole.
  const second = await create("second");
  await until(30_000, "the primary's answer", () => shown(second));
  const still = await reads(server);
  ok(await shown(second), "the primary answers");
  equal(await reads(server), still, "reports of a replica that stands still");
  await psql(standby.url, "select pg_wal_replay_resume()");
  await until(20_000, "the replica again", ask);

  // It dies: nobody notices.
  await standby.kill();
  for (let i = 0; i < 5; i++) ok(await shown(second), "while the replica is gone");
}, { ms: 120_000 });
