// sign-in.tsx - what a stranger sees: password, the providers there are, and why one was refused.
import { useEffect, useState } from "preact/hooks";
import { call } from "../lib/api";
import { BASE, location } from "../lib/router";
import { SignInForm } from "../ui/sign-in-form";

export default function SignIn() {
  const [providers, setProviders] = useState<string[]>([]);
  useEffect(() => {
    document.title = "Sign in – Lodge";
    call("GET /auth/ways").then((r) => setProviders(r.providers), () => setProviders([]));
  }, []);
  const { path, query, hash } = location.value;
  const back = path === "/sign-in" ? "/" : `${path}${query.size ? `?${query}` : ""}${hash ? `#${hash}` : ""}`;
  return (
    <main class="alone">
      <p class="sign"><img src={`${BASE}/icon.svg`} width={28} height={28} alt="" /><span>Lodge</span></p>
      <h1>Sign in</h1>
      {providers.length > 0 && (
        <>
          <div class="ways">{providers.map((name) => <a key={name} class="button plain" href={`/auth/oidc/${name}/start?return_to=${encodeURIComponent(BASE + back)}`}>Sign in with {name}</a>)}</div>
          <p class="or"><span>or with a password</span></p>
        </>
      )}
      <SignInForm />
      <p class="muted small">You were invited? Open the link you were given, or <a href="/invite">look for invitations</a>. A forgotten password is reset by whoever runs this service.</p>
    </main>
  );
}
