// lmtp.mjs - a house with mailboxes, and a client of LMTP that says only what a test wants to be said.
import net from "node:net";
import { join } from "node:path";
import { Failure, equal, within } from "./harness.mjs";

export const DOMAIN = "mail.example.org";

/** Flags of a service that takes mail at a socket of its own in the folder of the place. */
export const mailFlags = (place, name = "lmtp") => ["--mail-domain", DOMAIN, "--lmtp-listen", `unix:${join(place.folder, name)}`, "--no-access-log"];

/** Agents of the first tenant that have external mailboxes. */
export async function furnish(server, slugs = ["desk"]) {
  const tenant = await server.enter();
  const opened = await server.request("PATCH", `/admin/tenants/${tenant}`, { body: { external_mail_enabled: true } });
  equal(opened.status, 200, opened.text);
  const agents = [];
  for (const slug of slugs) {
    const made = await server.request("POST", `/tenant/${tenant}/agents`, { body: { name: slug, slug } });
    equal(made.status, 201, made.text);
    const enabled = await server.request("PATCH", `/agents/${made.json.id}`, { body: { external_mail_enabled: true } });
    equal(enabled.status, 200, enabled.text);
    agents.push(made.json.id);
  }
  return { tenant, agents };
}

export class Lmtp {
  #rest = "";
  #waiting = [];
  #replies = [];

  constructor(where) {
    this.socket = net.connect(where);
    this.socket.setEncoding("latin1").on("data", (text) => this.#heard(text));
    const end = () => {
      this.closed = true;
      this.#waiting.splice(0).forEach(({ no }) => no(new Failure("the connection ended")));
    };
    this.socket.on("close", end).on("error", end);
  }

  #heard(text) {
    this.#rest += text;
    for (let end; (end = this.#rest.search(/^\d{3} .*\r\n/m)) >= 0;) {
      end = this.#rest.indexOf("\r\n", end) + 2;
      const reply = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end);
      if (this.#waiting.length) this.#waiting.shift().done(reply);
      else this.#replies.push(reply);
    }
  }

  /** The next reply. */
  hear(ms = 20_000) {
    if (this.#replies.length) return Promise.resolve(this.#replies.shift());
    if (this.closed) return Promise.reject(new Failure("the connection ended"));
    return within(ms, new Promise((done, no) => this.#waiting.push({ done, no })), "a reply");
  }

  async say(text, wanted) {
    this.socket.write(text);
    const reply = await this.hear();
    if (wanted && !reply.startsWith(wanted)) throw new Failure(`to ${text.slice(0, 60)} it says ${reply}, not ${wanted}`);
    return reply;
  }

  async greet() {
    const reply = await this.hear();
    if (!reply.startsWith("220 ")) throw new Failure(`it greets with ${reply}`);
    await this.say("LHLO test\r\n", "250");
    return this;
  }

  /** One message: the replies to it, one for each recipient that was taken. */
  async letter(recipients, id, text = "Hello") {
    this.socket.write(`MAIL FROM:<jo@example.net>\r\n${recipients.map((to) => `RCPT TO:<${to}>\r\n`).join("")}DATA\r\n`);
    await this.hear();
    let taken = 0;
    for (const _ of recipients) taken += (await this.hear()).startsWith("250") ? 1 : 0;
    const go = await this.hear();
    if (!go.startsWith("354")) return [go];
    this.socket.write(`From: Jo <jo@example.net>\r\nMessage-ID: <${id}@example.net>\r\n\r\n${text}\r\n.\r\n`);
    const replies = [];
    for (let i = 0; i < taken; i++) replies.push(await this.hear());
    return replies;
  }

  end() {
    this.socket.destroy();
  }
}
