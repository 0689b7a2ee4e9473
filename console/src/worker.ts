// worker.ts - the shared worker: one stream of events for all tabs of a browser, which has six connections at most.
import { Feed, type FeedEvent, type FeedState } from "./lib/feed";

const ports = new Set<MessagePort>();
const toAll = (message: unknown): void => ports.forEach((port) => port.postMessage(message));
const feed = new Feed((event: FeedEvent) => toAll({ event }), (state: FeedState) => toAll({ state }));

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
    } else if (data === "bye") {
      ports.delete(port);
      if (!ports.size) feed.stop();
    }
  };
  port.start();
};
