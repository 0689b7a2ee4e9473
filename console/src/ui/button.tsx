// button.tsx - buttons: one that acts says so while it works, and cannot be pressed twice.
import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { straight } from "../lib/format";
import { Icon, type IconName } from "./icons";
import { complain } from "./toast";

export type Look = "primary" | "plain" | "danger" | "quiet";

type Props = Omit<JSX.IntrinsicElements["button"], "onClick" | "icon" | "class" | "ref"> & {
  look?: Look;
  icon?: IconName;
  /** Says what it does where only an icon shows. */
  label?: string;
  busy?: boolean;
  class?: string;
  act?: () => unknown;
  children?: ComponentChildren;
};

/** `act` may return a promise; what it throws is told as a toast. */
export function Button({ look = "plain", icon, label, busy = false, act, children, class: extra, disabled = false, ...rest }: Props) {
  const [working, setWorking] = useState(false);
  const pressed = useRef(false), self = useRef<HTMLButtonElement>(null);
  const [, again] = useState(0);
  // One that has the focus keeps it until it is left: what is disabled would drop it out of the page.
  const held = Boolean(disabled) && self.current !== null && document.activeElement === self.current;
  const name = label && straight(label);
  const on = async (): Promise<void> => {
    if (!act || pressed.current || disabled) return;
    try {
      const done = act();
      if (!(done instanceof Promise)) return;
      pressed.current = true;
      setWorking(true);
      await done;
    } catch (err) {
      complain(err);
    } finally {
      pressed.current = false;
      setWorking(false);
    }
  };
  return (
    <button type="button" {...rest} ref={self} disabled={Boolean(disabled) && !held} aria-disabled={held || undefined} class={`button ${look}${children ? "" : " bare"}${extra ? ` ${extra}` : ""}`} aria-label={name} title={children ? undefined : name} aria-busy={busy || working || undefined}
      {...(held ? { onClick: (e: Event) => e.preventDefault(), onBlur: () => again((n) => n + 1) } : act ? { onClick: () => void on() } : {})}>
      {icon && <Icon name={icon} />}
      {children && <span>{children}</span>}
    </button>
  );
}
