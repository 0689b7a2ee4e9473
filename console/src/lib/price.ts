// price.ts - prices of models: the service has dollars a token, people read dollars a million.
import { grouped } from "./format";

export function perMillion(perToken: string | number | null | undefined): string {
  if (perToken === null || perToken === undefined || perToken === "") return "–";
  const usd = Number(perToken) * 1e6;
  if (!Number.isFinite(usd)) return "–";
  return `$${grouped(usd.toFixed(usd < 1 ? 4 : 2)).replace(/(\.\d\d\d*?)0+$/, "$1")}`;
}
