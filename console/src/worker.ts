// worker.ts - the shared worker: one stream of events for all tabs of a browser, which has six connections at most, and the
// counting of those that tabs hold besides, so that some stay free for requests.
import { Feed, type FeedEvent, type FeedState } from "./lib/feed";

const ports = new Set<MessagePort>();
const toAll = (message: unknown): void => ports.forEach((port) => port.postMessage(message));
const feed = new Feed((event: FeedEvent) => toAll({ event }), (state: FeedState) => toAll({ state }));

const LINES_MAX = 3;
const lines: MessagePort[] = []; // in the order of asking: the first few have one

function giveUp(port: MessagePort): void {
  const at = lines.indexOf(port);
  if (at < 0) return;
  lines.splice(at, 1);
  if (at < LINES_MAX) lines[LINES_MAX - 1]?.postMessage({ line: true });
}

(self as unknown as { onconnect: (e: MessageEvent) => void }).onconnect = (connected) => {
  const port = connected.ports[0];
  if (!port) return;
  port.onmessage = ({ data }) => {
    if (data === "start") {
      ports.add(port);
      feed.start();
      port.postMessage({ state: feed.state });
    } else if (data === "stop") {
      feed.stop();
    } else if (data === "nudge") {
      feed.nudge();
    } else if (data === "line") {
      if (!lines.includes(port)) lines.push(port);
      if (lines.indexOf(port) < LINES_MAX) port.postMessage({ line: true });
    } else if (data === "no line") {
      giveUp(port);
    } else if (data === "bye") {
      ports.delete(port);
      giveUp(port);
      if (!ports.size) feed.stop();
    }
  };
  port.start();
};
