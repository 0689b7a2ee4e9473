// delivery.tsx - how a call to an integration stands, as word, colour and rail.
import type { DeliveryRead } from "../contract/types";
import { human } from "../lib/format";
import { Status, type Tone } from "./page";
import type { Rail } from "./table";

const TONES: Record<string, Tone> = { rejected: "plain", blocked: "ember", accepted: "lake", delivered: "pine", failed: "danger" };
const WORDS: Record<string, string> = { rejected: "Rejected", blocked: "Blocked", accepted: "Accepted", delivered: "Delivered", failed: "Failed" };

export function DeliveryState({ of: d }: { of: DeliveryRead }) {
  return <Status tone={TONES[d.status] ?? "plain"} {...(d.status === "failed" || d.status === "blocked" ? { icon: "warn" as const } : {})}>{WORDS[d.status] ?? d.status}{d.waiting_for ? `, waits for ${d.waiting_for}` : ""}</Status>;
}
export const railOf = (d: DeliveryRead): Rail => (d.status === "failed" ? "danger" : d.status === "blocked" ? "ember" : d.status === "accepted" ? "pine" : "ink");

const OUTCOMES: Record<string, string> = { signature: "The signature is missing, wrong or too old" };
/** What became of it, for people. */
export const outcomeOf = (outcome: string): string => OUTCOMES[outcome] ?? human(outcome);
