// mail.ts - mail in words: where a message stands, whether its sender is proven, whom it can be answered to.
import type { MailMessageRead } from "../contract/types";
import type { Rail } from "../ui/table";
import type { Tone } from "../ui/page";
import { Problem } from "./api";

export type Message = MailMessageRead;
export type MailState = Message["state"];
export interface Said { word: string; tone: Tone; means: string }

export const STATES: Record<MailState, Said> = {
  received: { word: "Received", tone: "plain", means: "It came." },
  unreadable: { word: "Unreadable", tone: "danger", means: "It came and could not be taken apart. Its bytes are kept as they are, and it set nobody to work." },
  blocked: { word: "Blocked", tone: "danger", means: "The rules keep its sender out: it is stored, and set nobody to work." },
  draft: { word: "Draft", tone: "ember", means: "It goes out when a person sends it." },
  held: { word: "Held", tone: "ember", means: "It has not gone out: a person has to send it." },
  queued: { word: "Queued", tone: "lake", means: "It is on its way out of this service." },
  sent: { word: "Sent", tone: "plain", means: "The mail server of the other side has taken it." },
  delivered: { word: "Delivered", tone: "plain", means: "Everybody it is for has it." },
  bounced: { word: "Bounced", tone: "danger", means: "The other side has sent it back." },
  failed: { word: "Failed", tone: "danger", means: "It could not be sent, and is not tried again by itself." },
};
export const STATE_WORDS = Object.keys(STATES) as MailState[];

export const VERDICTS: Record<Message["verdict"], Said> = {
  pass: { word: "Sender proven", tone: "pine", means: "The domain of the sender vouches for it, or it was written in this service." },
  none: { word: "Sender not proven", tone: "plain", means: "Nothing proves who wrote it: anybody can put such an address there." },
  fail: { word: "Sender forged", tone: "danger", means: "The domain that it names says that it did not send it. Do not trust what it says." },
};

/** Whether a word about the state is needed: what came and what arrived says so by being there. */
export const isPlain = (state: MailState): boolean => state === "received" || state === "delivered" || state === "sent";

export const railOf = (m: Pick<Message, "state" | "verdict" | "direction">): Rail =>
  STATES[m.state].tone === "danger" || (m.direction === "in" && m.verdict === "fail") ? "danger" : STATES[m.state].tone === "ember" ? "ember" : "ink";

/** Who else has it, besides the mailbox that it is in. */
export const others = (m: Message, own: string[]): string[] => [...new Set([m.from, ...m.to, ...m.cc])].filter((one) => !own.includes(one));

/** Where one stands in its lists, at which the service says what is wrong: "to[1]" is an address, not a number. */
export function namedAt(field: string, lists: Record<string, string[]>): string {
  const at = /^(\w+)\[(\d+)\]$/.exec(field);
  return (at && lists[at[1] ?? ""]?.[Number(at[2])]) || field;
}

/** A refusal as one sentence, with the addresses that it is about. */
export function refusalOf(err: unknown, lists: Record<string, string[]>): string | null {
  if (!(err instanceof Problem)) return null;
  return err.fields.length ? err.fields.map((f) => `${namedAt(f.field, lists)} ${f.message}.`).join(" ") : err.detail;
}
