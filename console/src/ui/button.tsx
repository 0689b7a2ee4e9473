// button.tsx - buttons: one that acts says so while it works, and cannot be pressed twice.
import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
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
export function Button({ look = "plain", icon, label, busy = false, act, children, class: extra, ...rest }: Props) {
  const [working, setWorking] = useState(false);
  const pressed = useRef(false);
  const on = async (): Promise<void> => {
    if (!act || pressed.current) return;
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
    <button type="button" {...rest} class={`button ${look}${children ? "" : " bare"}${extra ? ` ${extra}` : ""}`} aria-label={label} title={children ? undefined : label} aria-busy={busy || working || undefined}
      {...(act ? { onClick: () => void on() } : {})}>
      {icon && <Icon name={icon} />}
      {children && <span>{children}</span>}
    </button>
  );
}
