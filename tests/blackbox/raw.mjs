// raw.mjs - a client that says exactly the bytes it is told to, and reads whatever comes back.
import net from "node:net";
import { Failure, ok, short, within } from "./harness.mjs";

export class Raw {
  bytes = Buffer.alloc(0);
  closed = false;
  #waiting = [];

  constructor(port, options = {}) {
    this.socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true, ...options });
    this.socket.on("data", (part) => this.#tell(() => (this.bytes = Buffer.concat([this.bytes, part]))));
    this.socket.on("error", (err) => this.#tell(() => ((this.error = err.code), (this.closed = true))));
    this.socket.on("end", () => this.#tell(() => (this.closed = true)));
    this.socket.on("close", () => this.#tell(() => (this.closed = true)));
  }

  #tell(change) {
    change();
    this.#waiting = this.#waiting.filter((ask) => !ask());
  }

  open() {
    return within(5000, new Promise((done, no) => {
      this.socket.once("connect", done);
      this.socket.once("error", no);
    }), "connecting");
  }

  /** Sends; what cannot be sent because the server has closed is no fault of the test's. */
  send(bytes) {
    if (!this.closed && !this.socket.destroyed) this.socket.write(bytes);
    return this;
  }

  when(good, ms, what) {
    return within(ms, new Promise((done) => {
      const ask = () => good() && (done(), true);
      if (!ask()) this.#waiting.push(ask);
    }), `${what}, having read ${short(this.bytes.toString("latin1").slice(-300))}`);
  }

  untilClosed(ms = 8000) {
    return this.when(() => this.closed, ms, "waiting for the server to close");
  }

  async untilReplies(count, ms = 8000) {
    await this.when(() => this.closed || replies(this.bytes).list.length >= count, ms, `waiting for ${count} replies`);
    const { list } = replies(this.bytes);
    ok(list.length >= count, `closed after ${list.length} of ${count} replies`);
    return list;
  }

  end() {
    this.socket.end();
    return this;
  }

  drop() {
    this.socket.on("error", () => {});
    this.socket.destroy();
  }
}

/** Whole replies in what was read, and what is left after the last of them. */
export function replies(bytes) {
  const list = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf("\r\n\r\n", at);
    if (end < 0) break;
    const lines = bytes.toString("latin1", at, end).split("\r\n");
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(lines[0]);
    if (!status) throw new Failure(`this is not a reply: ${short(lines[0])}`);
    const headers = {};
    for (const line of lines.slice(1)) {
      const colon = line.indexOf(":");
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    const code = Number(status[1]);
    const bare = code < 200 || code === 204 || code === 304;
    const length = bare ? 0 : Number(headers["content-length"] ?? 0);
    if (bytes.length < end + 4 + length) break;
    list.push({ status: code, headers, body: bytes.toString("utf8", end + 4, end + 4 + length) });
    at = end + 4 + length;
  }
  return { list, rest: bytes.subarray(at) };
}

/** Sends the parts, waits for the close, and gives the replies. */
export async function exchange(port, parts, { ms = 8000, end = false } = {}) {
  const raw = new Raw(port);
  await raw.open();
  for (const part of [parts].flat()) raw.send(part);
  if (end) raw.end();
  await raw.untilClosed(ms);
  raw.drop();
  const { list, rest } = replies(raw.bytes);
  ok(rest.length === 0, `bytes after the last reply: ${short(rest.toString("latin1"))}`);
  return list;
}
