// sign-in-again.tsx - a login ended while somebody was at work: they sign in over the screen, which stays as it is.
import { me } from "../lib/session";
import { Dialog } from "../ui/dialog";
import { SignInForm } from "../ui/sign-in-form";

// The link loads the page anew (its target says so to the router): what is in memory is not the next person's.
export default function SignInAgain() {
  return (
    <Dialog title="Sign in again" onClose={() => undefined} closes={false}>
      <p>Your login has ended. What is on the screen stays there, and goes on once you have signed in.</p>
      <SignInForm email={me.value?.email ?? ""} />
      <p class="small"><a href="/console/sign-in" target="_self">Sign in in another way, or as somebody else</a> <span class="muted">What was typed here and is not kept as a draft is lost then.</span></p>
    </Dialog>
  );
}
