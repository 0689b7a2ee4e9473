// curl.tsx - a call that works as it stands, with a button to copy it.
import { useRef } from "preact/hooks";
import { Copy } from "./copy";

export function Curl({ text, label = "Copy the command" }: { text: string; label?: string }) {
  const ref = useRef<HTMLPreElement>(null);
  return <div class="curl"><Copy text={text} label={label} from={() => ref.current} /><pre ref={ref} tabIndex={0} role="group" aria-label={label.replace("Copy t", "T")}>{text}</pre></div>;
}
