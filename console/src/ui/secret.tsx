// secret.tsx - a secret that the service shows once: it goes only when the reader says that it is saved.
import { useEffect, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { guards } from "../lib/router";
import { Button } from "./button";
import { copy } from "./copy";
import { Dialog, over } from "./dialog";

const guard = (): string => "The secret is not saved yet, and is not shown again. Leave all the same?";

function Once({ title, secret, children, close }: { title: string; secret: string; children?: ComponentChildren; close: () => void }) {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    guards.add(guard);
    return () => void guards.delete(guard);
  }, []);
  const saved = (): void => {
    guards.delete(guard); // before anything goes on from here
    close();
  };
  return (
    <Dialog title={title} onClose={close} closes={false} wide>
      <p>This is shown only now. Nobody can read it again, here or in the service.</p>
      <div class="secret"><code ref={ref} tabIndex={0}>{secret}</code><Button icon="copy" act={() => copy(secret, ref.current)}>Copy</Button></div>
      {children}
      <footer><Button look="primary" act={saved}>I have saved it</Button></footer>
    </Dialog>
  );
}

/** `after` is shown below it, such as a call that works with it. */
export const showSecret = (title: string, secret: string, after?: ComponentChildren): Promise<unknown> =>
  over((close) => <Once title={title} secret={secret} close={() => close(null)}>{after}</Once>);
