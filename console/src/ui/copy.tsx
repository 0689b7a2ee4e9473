// copy.tsx - copying a text; where the browser has no clipboard (plain http on a network) it is selected instead.
import { toast } from "./toast";
import { Button } from "./button";

export async function copy(text: string, from?: Element | null): Promise<void> {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    toast("Copied");
    return;
  }
  if (from) getSelection()?.selectAllChildren(from);
  toast(from ? "Selected: press Ctrl+C to copy it" : "This browser copies nothing over plain http; select the text and press Ctrl+C");
}

export function Copy({ text, label = "Copy", from }: { text: string; label?: string; from?: () => Element | null }) {
  return <Button look="quiet" icon="copy" label={label} class="copy" act={() => copy(text, from?.())} />;
}
