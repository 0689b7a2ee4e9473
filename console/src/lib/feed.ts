// feed.ts - a stream of events over one connection that is taken up again where it broke: /me/events, everything one
// may see, or those of one session.
//
// Where there are too many streams (429) it asks every few seconds what there is, from the same place on, until it may have one.
// Read by fetch and not by EventSource, which can neither say where to go on after it gave up nor tell 401 from a
// broken line.  Runs in the shared worker, or in a tab where there is none.

export interface FeedEvent { event: string; id: string; data: unknown }
export type FeedState = "off" | "connecting" | "live" | "limited" | "waiting" | "signed-out" | "gone";

const SILENT_MS = 45_000; // the service says something every 15 s
const LEAST_MS = 500, MOST_MS = 20_000, ASK_MS = 5_000, LIMITED_S = 30;

export class Feed {
  #tell: (event: FeedEvent) => void;
  #say: (state: FeedState) => void;
  #abort: AbortController | null = null;
  #url: string;
  #last: string;
  #wake: (() => void) | null = null;
  #running = false;
  #round = 0;
  #catching = false;
  #more = false;
  #nudged = false;
  #limited = 0; // seconds until a stream is asked for again; 0: there may be one
  state: FeedState = "off";

  /** `after` is where it begins; without it, with what happens next. */
  constructor(tell: (event: FeedEvent) => void, say: (state: FeedState) => void, url = "/me/events", after = "") {
    this.#tell = tell;
    this.#say = say;
    this.#url = url;
    this.#last = after;
  }

  start(): void {
    if (this.#running) {
      this.nudge();
      return;
    }
    this.#running = true;
    void this.#run();
  }

  stop(): void {
    this.#running = false;
    this.#last = "";
    this.#abort?.abort();
    this.#wake?.();
    this.#set("off");
  }

  /** What has happened since, without holding a connection. */
  async catchUp(): Promise<void> {
    if (this.#running) {
      if (this.state === "limited") this.nudge();
      return;
    }
    if (this.#catching) {
      this.#more = true;
      return;
    }
    this.#catching = true;
    do {
      this.#more = false;
      await this.#ask();
    } while (this.#more && !this.#running);
    this.#catching = false;
  }

  /** Lets the connection go, and keeps its place. */
  pause(): void {
    this.#running = false;
    this.#abort?.abort();
    this.#wake?.();
    this.#set("off");
  }

  /** Do not wait any longer: the network is back, or somebody has signed in. */
  nudge(): void {
    if (this.#wake) this.#wake();
    else this.#nudged = this.#running; // it is asking: what it hears may be from before
  }

  #set(state: FeedState): void {
    if (state === this.state) return;
    this.state = state;
    this.#say(state);
  }

  async #run(): Promise<void> {
    const round = ++this.#round;
    let wait = LEAST_MS;
    while (this.#running && round === this.#round) {
      this.#set("connecting");
      const worked = await this.#once(this.#url);
      const goes = (): boolean => this.#running && round === this.#round;
      if (!goes()) break;
      if (this.#limited) {
        for (const until = Date.now() + this.#limited * 1000; goes() && Date.now() < until; await this.#rest(ASK_MS)) {
          const told = await this.#ask();
          if (goes() && this.state !== "signed-out") this.#set(told ? "limited" : "waiting");
        }
        continue;
      }
      wait = worked ? LEAST_MS : Math.min(MOST_MS, wait * 2);
      if (this.state !== "signed-out") this.#set("waiting");
      await this.#rest(this.state === "signed-out" ? MOST_MS : wait * (0.75 + Math.random() / 2));
    }
  }

  async #rest(ms: number): Promise<void> {
    if (this.#nudged) {
      this.#nudged = false;
      return;
    }
    await new Promise<void>((done) => {
      const timer = setTimeout(done, ms);
      this.#wake = () => {
        clearTimeout(timer);
        done();
      };
    });
    this.#wake = null;
  }

  /** What there is so far. */
  #ask(): Promise<boolean> {
    return this.#once(`${this.#url}${this.#url.includes("?") ? "&" : "?"}wait=false`, false);
  }

  /** One connection until it ends; true if it told anything. */
  async #once(url: string, stays = true): Promise<boolean> {
    const abort = (this.#abort = new AbortController());
    let timer = setTimeout(() => abort.abort(), SILENT_MS), told = false;
    if (stays) this.#limited = 0;
    try {
      const reply = await fetch(url, {
        headers: { Accept: "text/event-stream", ...(this.#last ? { "Last-Event-ID": this.#last } : {}) },
        signal: abort.signal, credentials: "same-origin", cache: "no-store",
      });
      if (reply.status === 401) {
        this.#set("signed-out");
        return false;
      }
      if (reply.status === 404) {
        this.#running = false; // there is nothing to wait for
        this.#set("gone");
        return false;
      }
      if (stays && reply.status === 429) this.#limited = Number(reply.headers.get("retry-after")) || LIMITED_S;
      if (!reply.ok || !reply.body) return false;
      if (stays) this.#set("live");
      this.#nudged = false;
      told = true;
      const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done || abort.signal.aborted) return told;
        clearTimeout(timer);
        timer = setTimeout(() => abort.abort(), SILENT_MS);
        rest = this.#take(rest + value);
      }
    } catch {
      return told;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Tells the whole events of a text and gives back what is left of it. */
  #take(text: string): string {
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      let event = "message", data = "", id: string | null = null;
      for (const line of text.slice(0, end).split("\n")) {
        if (line.startsWith("data:")) data += (data ? "\n" : "") + line.slice(5).trimStart();
        else if (line.startsWith("event:")) event = line.slice(6).trim();
        else if (line.startsWith("id:")) id = line.slice(3).trim();
      }
      if (id !== null) this.#last = id;
      if (data)
        try {
          this.#tell({ event, id: this.#last, data: JSON.parse(data) as unknown });
        } catch {
          // not JSON: not ours
        }
      text = text.slice(end + 2);
    }
    return text;
  }
}
