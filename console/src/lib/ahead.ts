// ahead.ts - asks for all files of the screen that the address names at once: a browser learns what a file imports only when it has it, and
// so would fetch them one after the other.
import { BASE, location, matches } from "./router";

declare const AHEAD: string; // from build.mjs: "chunk chunk …|places of the frame's|pattern=places;…"

export function fetchAhead(): void {
  const [names = "", frame = "", routes = ""] = AHEAD.split("|"), chunks = names.split(" ");
  const own = routes.split(";").map((r) => r.split("=")).find(([pattern]) => matches(pattern ?? "", location.peek().path))?.[1] ?? "";
  for (const place of `${frame} ${own}`.split(" ")) {
    const name = chunks[parseInt(place, 36)];
    if (!name) continue;
    const link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = `${BASE}/assets/${name}.js`;
    document.head.append(link);
  }
}
