// sign-in.tsx - what a stranger sees: password, the providers there are, and what is mailed to those who have neither.
import { useEffect, useState } from "preact/hooks";
import { call } from "../lib/api";
import { BASE, location } from "../lib/router";
import { AskForm } from "../ui/ask-form";
import { Button } from "../ui/button";
import { SignInForm } from "../ui/sign-in-form";

const TITLES = { in: "Sign in", reset: "Forgot your password?", register: "Register" };

export default function SignIn() {
  const [providers, setProviders] = useState<string[]>([]);
  const [mail, setMail] = useState(false);
  const [wants, setWants] = useState<keyof typeof TITLES>("in");
  useEffect(() => {
    call("GET /auth/ways").then((r) => (setProviders(r.providers), setMail(r.mail)), () => setProviders([]));
  }, []);
  useEffect(() => {
    document.title = `${TITLES[wants]} – Lodge`;
  }, [wants]);
  const { path, query, hash } = location.value;
  const back = path === "/sign-in" ? "/" : `${path}${query.size ? `?${query}` : ""}${hash ? `#${hash}` : ""}`;
  return (
    <main class="alone">
      <p class="sign"><img src={`${BASE}/icon.svg`} width={28} height={28} alt="" /><span>Lodge</span></p>
      <h1>{TITLES[wants]}</h1>
      {wants !== "in" ? <AskForm key={wants} wants={wants} back={() => setWants("in")} /> : (
        <>
          {providers.length > 0 && (
            <>
              <div class="ways">{providers.map((name) => <a key={name} class="button plain" href={`/auth/oidc/${name}/start?return_to=${encodeURIComponent(BASE + back)}`}>Sign in with {name}</a>)}</div>
              <p class="or"><span>or with a password</span></p>
            </>
          )}
          <SignInForm />
          {mail && <div class="ways"><Button look="quiet" act={() => setWants("reset")}>Forgot your password?</Button><Button look="quiet" act={() => setWants("register")}>Register</Button></div>}
          <p class="muted small">You were invited? Open the link you were given, or <a href="/invite">look for invitations</a>.{!mail && " A forgotten password is reset by whoever runs this service."}</p>
        </>
      )}
    </main>
  );
}
