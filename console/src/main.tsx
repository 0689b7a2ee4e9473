// main.tsx - where the console begins: who is there, and then either signing in or the frame.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { FunctionComponent } from "preact";
import type { Problem } from "./lib/api";
import { fetchAhead } from "./lib/ahead";
import { feed } from "./lib/events";
import { location } from "./lib/router";
import { me, refreshMe, wasHere } from "./lib/session";
import "./lib/theme";
import { Failed } from "./ui/states";

// A stranger is given the sign-in alone; who was here before, or comes by the address of something in a tenant, gets the frame and the screen while the
// service says who they are.
const frame = (): Promise<FunctionComponent> => import("./ui/frame").then((m) => m.Frame);
const signIn = (): Promise<FunctionComponent> => import("./screens/sign-in").then((m) => m.default);
const known = refreshMe(); // first of all: everything else waits for it
known.catch(() => undefined);
if (wasHere() || location.peek().path.startsWith("/t/")) {
  fetchAhead();
  void frame();
}

function Loaded({ load }: { load: () => Promise<FunctionComponent> }) {
  const [View, setView] = useState<FunctionComponent | null>(null);
  useEffect(() => void load().then((view) => setView(() => view)), []);
  return View ? <View /> : <div class="boot" role="status">Loading…</div>;
}

function App() {
  const [problem, setProblem] = useState<Problem | null>(null);
  const begin = (): void => {
    setProblem(null);
    refreshMe().catch(setProblem);
  };
  useEffect(() => void known.catch(setProblem), []);
  useEffect(() => {
    if (me.value) feed.start();
  }, [me.value?.id]);
  if (problem) return <main class="alone"><Failed problem={problem} retry={begin} /></main>;
  if (me.value === undefined) return <div class="boot" role="status">Loading…</div>;
  return me.value === null ? <Loaded key="stranger" load={signIn} /> : <Loaded key="frame" load={frame} />;
}

const root = document.getElementById("app");
if (root) {
  root.replaceChildren();
  render(<App />, root);
}
