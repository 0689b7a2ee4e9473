// download.ts - a file is asked for before a browser goes to fetch it, so that an ended login is asked for again and a
// refusal is said: a browser itself would say nothing, or keep the refusal under the file's name.
import { complain } from "../ui/toast";
import { Problem, send } from "./api";

const asked = new WeakSet<HTMLAnchorElement>();
const NO_METHOD = 405;

async function ask(url: string): Promise<void> {
  try {
    await send("HEAD", url);
  } catch (err) {
    if (!(err instanceof Problem && err.status === NO_METHOD)) throw err;
    await send("GET", "/me"); // what is written down when it is read cannot be asked for first; the login can
  }
}

addEventListener("click", (event) => {
  const link = (event.target as Element | null)?.closest?.<HTMLAnchorElement>("a[download]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || new URL(link.href).origin !== window.location.origin || link.protocol === "blob:") return;
  if (asked.delete(link)) return;
  event.preventDefault();
  ask(link.href).then(() => {
    asked.add(link);
    link.click();
  }, complain);
});
