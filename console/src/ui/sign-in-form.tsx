// sign-in-form.tsx - address and password; password managers and pasting work.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Problem, call } from "../lib/api";
import { plural } from "../lib/format";
import { signedIn } from "../lib/session";
import { Button } from "./button";

export function wordsOf(p: Problem): string {
  if (p.status !== 429 || !p.retryAfter) return p.detail;
  return `${p.detail} (in ${plural(Math.max(1, Math.ceil(p.retryAfter / 60)), "minute")})`;
}

export function SignInForm({ email: known }: { email?: string }) {
  const [email, setEmail] = useState(known ?? "");
  const [password, setPassword] = useState("");
  const [shown, setShown] = useState(false);
  const [why, setWhy] = useState("");
  const [busy, setBusy] = useState(false);
  const sending = useRef(false);
  const name = useRef<HTMLInputElement>(null), secret = useRef<HTMLInputElement>(null), first = known ? secret : name;
  const id = useId();
  useEffect(() => first.current?.focus(), []);
  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (sending.current) return;
    sending.current = true;
    setBusy(true);
    setWhy("");
    try {
      signedIn((await call("POST /auth/login", { body: { email, password }, again: false })).user);
    } catch (err) {
      setWhy(err instanceof Problem ? wordsOf(err) : "Something in the console failed; reload the page.");
      // Of the two it is mostly the password that was mistyped.
      (err instanceof Problem && err.status === 401 ? secret : first).current?.focus();
      if (err instanceof Problem && err.status === 401) secret.current?.select();
    } finally {
      sending.current = false;
      setBusy(false);
    }
  }
  return (
    <form class="form" onSubmit={(e) => void submit(e)}>
      {why && <p class="notice danger" role="alert">{why}</p>}
      <div class="field">
        <label class="label" for={`${id}-email`}>Email address</label>
        <input ref={name} id={`${id}-email`} type="email" name="email" autofocus={!known} autocomplete="username" required readOnly={Boolean(known)} maxLength={253} value={email} onInput={(e) => setEmail(e.currentTarget.value)} />
      </div>
      <div class="field">
        <label class="label" for={`${id}-password`}>Password</label>
        <div class="control joined">
          <input ref={secret} id={`${id}-password`} type={(shown ? "text" : "password") as "text"} name="password" autofocus={Boolean(known)} autocomplete="current-password" required maxLength={1024} value={password} onInput={(e) => setPassword(e.currentTarget.value)} />
          <Button look="quiet" aria-pressed={shown} act={() => setShown(!shown)}>{shown ? "Hide" : "Show"}</Button>
        </div>
      </div>
      <footer><Button type="submit" look="primary" busy={busy} class="full">Sign in</Button></footer>
    </form>
  );
}
