// ask-form.tsx - who has no password that works asks for a link to their address: to set a new one, or to make an account.
// What is said afterwards is the same whoever has the address.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Problem, call } from "../lib/api";
import { Button } from "./button";
import { wordsOf } from "./sign-in-form";

export function AskForm({ wants, back }: { wants: "reset" | "register"; back: () => void }) {
  const [email, setEmail] = useState(""), [name, setName] = useState(""), [password, setPassword] = useState("");
  const [why, setWhy] = useState("");
  const [busy, setBusy] = useState(false), [sent, setSent] = useState(false);
  const first = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => first.current?.focus(), []);
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setWhy("");
    try {
      if (wants === "reset") await call("POST /auth/reset", { body: { email }, again: false });
      else await call("POST /auth/register", { body: { email, name, password }, again: false });
      setSent(true);
    } catch (err) {
      setWhy(err instanceof Problem ? wordsOf(err) : "Something in the console failed; reload the page.");
      first.current?.focus();
    } finally {
      setBusy(false);
    }
  }
  if (sent)
    return (
      <div class="form">
        <p role="status">{wants === "reset"
          ? `If ${email} has an account here, a letter with a link is on its way to it. The link is good for an hour.`
          : `If ${email} may have an account here, a letter with a link is on its way to it. The link is good for 24 hours.`} Look where unwanted mail goes, too.</p>
        <footer><Button act={back} class="full">Back to signing in</Button></footer>
      </div>
    );
  return (
    <form class="form" onSubmit={(e) => void submit(e)}>
      <p>{wants === "reset" ? "A link by which you set a new password is sent to your address." : "Your address must have been allowed or invited here. A link that makes your account is sent to it."}</p>
      {why && <p class="notice danger" role="alert">{why}</p>}
      <div class="field">
        <label class="label" for={`${id}-email`}>Email address</label>
        <input ref={first} id={`${id}-email`} type="email" name="email" autocomplete="username" required maxLength={253} value={email} onInput={(e) => setEmail(e.currentTarget.value)} />
      </div>
      {wants === "register" && (
        <>
          <div class="field">
            <label class="label" for={`${id}-name`}>Your name</label>
            <input id={`${id}-name`} type="text" name="name" autocomplete="name" required maxLength={255} value={name} onInput={(e) => setName(e.currentTarget.value)} />
          </div>
          <div class="field">
            <label class="label" for={`${id}-password`}>Password, at least 8 characters</label>
            <input id={`${id}-password`} type="password" name="password" autocomplete="new-password" required minLength={8} maxLength={1024} value={password} onInput={(e) => setPassword(e.currentTarget.value)} />
          </div>
        </>
      )}
      <footer><Button type="submit" look="primary" busy={busy} class="full">Send the link</Button><Button look="quiet" act={back} class="full">Back to signing in</Button></footer>
    </form>
  );
}
