// delivery.tsx - one call to an integration: what it said, what became of it, and a second try.
import { call } from "../lib/api";
import { useData } from "../lib/data";
import { Time, exact } from "../lib/format";
import { Link } from "../lib/router";
import { tenantId, tenantPath } from "../lib/session";
import type { ScreenProps } from "../routes";
import { Button } from "../ui/button";
import { DeliveryState, outcomeOf } from "../ui/delivery";
import { Facts, Page } from "../ui/page";
import { DataView } from "../ui/states";
import { toast } from "../ui/toast";
import { Boxed, pretty } from "../ui/boxed";

export default function Delivery({ params }: ScreenProps) {
  const path = { tenant_id: tenantId(), integration_id: params["integration"] ?? "", delivery_id: params["delivery"] ?? "" };
  const one = useData("GET /tenant/{tenant_id}/integrations/{integration_id}/deliveries/{delivery_id}", { path }, (e) => e.data.tenant_id === path.tenant_id && ["status", "session", "message"].includes(e.event));
  const d = one.data?.delivery;
  // What was delivered can be again only where its session failed for having waited too long; the service knows which did.
  const made = useData("GET /tenant/{tenant_id}/sessions/{session_id}", d?.status === "delivered" && d.session_id ? { path: { tenant_id: path.tenant_id, session_id: d.session_id } } : null);
  const can_again = d && (d.status === "failed" || d.status === "blocked" || made.data?.status === "failed");
  const again = async (): Promise<void> => {
    await call("POST /tenant/{tenant_id}/integrations/{integration_id}/deliveries/{delivery_id}/redeliver", { path });
    toast("It is delivered again");
    one.reload();
  };
  return (
    <Page title={d?.event ? `${d.event}${d.action ? `.${d.action}` : ""}` : "Delivery"} lead={d?.summary} narrow above={<p class="small"><Link to={tenantPath(`/integrations/${path.integration_id}`)}>All calls of the integration</Link></p>}
      actions={can_again && <Button look="primary" act={again}>Redeliver</Button>}>
      <DataView of={one}>{({ delivery, body }) => (
        <>
          <Facts rows={[
            ["State", <DeliveryState of={delivery} />], ["Outcome", outcomeOf(delivery.outcome)], ...(delivery.error ? [["Why not", delivery.error] as [string, string]] : []),
            ["Session", delivery.session_id ? <Link to={tenantPath(`/sessions/${delivery.session_id}`)}>{delivery.session_id}</Link> : <span class="muted">none was made</span>],
            ["Came", <>{exact(delivery.created_at)} (<Time at={delivery.created_at} />)</>], ["Delivered", <Time at={delivery.delivered_at} none="not" />], ["Attempts", delivery.attempts], ["Sender's id", <code>{delivery.delivery_id || "none"}</code>],
            ["From", <>{delivery.caller_ip ?? "unknown"} <span class="muted">{delivery.user_agent}</span></>], ...(delivery.calls > 1 ? [["Calls", `${delivery.calls} alike`] as [string, string]] : []),
          ]} />
          <section aria-labelledby="body"><h2 id="body">What it said</h2>{body === null ? <p class="muted">The body was not kept.</p> : <Boxed label="What it said" text={pretty(body)} name={`delivery-${delivery.id}.json`} />}</section>
        </>
      )}</DataView>
    </Page>
  );
}
