// first.ts - whether somebody who may set things up has not begun yet: then the console opens with the first run.
import { call } from "./api";
import { can, tenant } from "./session";
import { kept } from "./store";

/** True once the first run was gone through or skipped in this browser. */
export const begun = kept("begun", false, true);

export async function isFirstRun(): Promise<boolean> {
  if (begun.value || !tenant.value || !can("tenant:write")) return false;
  try {
    const first = (await call("GET /tenant/{tenant_id}/sessions", { path: { tenant_id: tenant.value.tenant_id }, query: { per_page: 1 } })).total === 0;
    if (!first) begun.value = true;
    return first;
  } catch {
    return false; // whatever is wrong shows on the screen that comes
  }
}
