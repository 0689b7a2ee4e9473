// theme.ts - light, dark, or as the system is.
import { kept } from "./store";

export const THEMES = ["system", "light", "dark"] as const;
export const theme = kept("theme", "system");
/** Rows: "normal" or "compact". */
export const density = kept("density", "normal");

theme.subscribe((t) => {
  if (t === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = t;
});
density.subscribe((d) => void (document.documentElement.dataset["density"] = d));

export function nextTheme(): void {
  const dark = theme.value === "dark" || (theme.value === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  theme.value = dark ? "light" : "dark";
}
