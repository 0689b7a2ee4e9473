// main.tsx - where the console begins: who is there, and then either signing in or the frame.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { FunctionComponent } from "preact";
import type { Problem } from "./lib/api";
import { feed } from "./lib/events";
import { me, refreshMe } from "./lib/session";
import "./lib/theme";
import "./lib/keys";
import { Frame } from "./ui/frame";
import { Failed } from "./ui/states";

function Stranger() {
  const [View, setView] = useState<FunctionComponent | null>(null);
  useEffect(() => void import("./screens/sign-in").then((m) => setView(() => m.default)), []);
  return View ? <View /> : null;
}

function App() {
  const [problem, setProblem] = useState<Problem | null>(null);
  const begin = (): void => {
    setProblem(null);
    refreshMe().catch(setProblem);
  };
  useEffect(begin, []);
  useEffect(() => {
    if (me.value) feed.start();
  }, [me.value?.id]);
  if (problem) return <div class="alone"><Failed problem={problem} retry={begin} /></div>;
  if (me.value === undefined) return <div class="boot" role="status">Loading…</div>;
  return me.value === null ? <Stranger /> : <Frame />;
}

const root = document.getElementById("app");
if (root) {
  root.replaceChildren();
  render(<App />, root);
}
