// help.mjs - what the tables say to programs, said to people who fill in a form: an empty field instead of null, a box that is
// ticked instead of true.
//
// Most follows by rule; what cannot is in the table below, by form and field.  check.mjs refuses a help that still speaks of
// what only programs see.

const OWN = {
  "AdminModelUpdate.config": "How to reach the model. The key and the values of headers are sealed and never read back; left empty, they stay as they are.",
  "AdminModelUpdate.pricing": "Dollars a token, as texts: prompt, completion, cache read, cache write. All of them anew; one that is left out is not set.",
  "ModelCreate.pricing": "Dollars a token, as texts: prompt, completion, cache read, cache write; each may be left out.",
  "ModelCreate.config": "How to reach the model; a demonstration model and a router need none.",
  "ModelConfig.api_key": "The provider's key, sealed and never shown. Left empty, the stored one stays.",
  "ModelConfig.base_url": "Where the provider's API begins, without a query; https, unless this service allows private addresses.",
  "ModelConfig.headers": "Further headers of each call. Their values are sealed and never shown: one that nothing is typed at stays, and one that is removed goes.",
  "AdminTenantUpdate.is_suspended": "The same as the state Suspended.",
  "AgentUpdate.is_active": "When off, it takes no new sessions and no work; what exists can still be read.",
  "AgentSkillConfigUpdate.config": "The whole configuration, sealed before it is stored. Without any value it is cleared.",
  "AgentToolUpdate.configuration": "All of the settings anew.",
  "ApiKeyCreate.scopes": "What the key may do, at most. Without a choice it may all that you may, but for approving tool calls, which must be chosen.",
  "ApiKeyCreate.expires_at": "When it stops working; left empty, never.",
  "IntegrationCreate.guardrails": "What events must pass.",
  "IntegrationUpdate.guardrails": "What events must pass, in place of what stands.",
  "IntegrationGuardrails.refuse_repeats_hours": "For so many hours a body that was taken is refused when it comes again. Some services do not sign an event's id, so that what was recorded can be sent again; but two real events may have one body. Left empty, both are taken.",
  "MemberAdd.email": "You get a link to hand on to them. Somebody who has an account here finds the invitation there instead.",
  "MemberAdd.role": "Not above your own; only owners give OWNER.",
  "MemberUpdate.role": "Not above your own; only owners give or take OWNER.",
  "ScannerUpdate.token": "The credential, never shown again. Left empty, the stored one stays while scanner and address stay the same.",
  "SkillCreate.allowed_tools": "Tools that other programs let the skill use without asking; kept for taking it out. Here each tool's own setting counts.",
  "SkillUpdate.allowed_tools": "Tools that other programs let the skill use without asking; kept for taking it out. Here each tool's own setting counts.",
  "SkillCreate.created_by_agent_id": "The agent that wrote it; it must be allowed to write skills.",
  "ToolBundleUpdate.description": "What the bundle is for.",
  "ToolCreate.name": "Letters, digits, _, . and -; of a tool that is built in, its name.",
  "ToolCreate.input_schema": "What a model may pass to it. Without any it is called as it is.",
  "ToolUpdate.input_schema": "What a model may pass to it.",
  "ToolCreate.config": "",
  "ToolUpdate.config": "The value of a header that is shown as dots stays as it is while the address stays at the same host.",
  "ToolCreate.grantable_by": "Who may give it to an agent. Left open: members, unless it has secrets.",
  "ToolUpdate.name": "Agents that have it keep it under another name.",
  "ToolUpdate.repeat_safe": "A call whose outcome was lost may be made again.",
  "ToolTry.arguments": "What the tool is given.",
};

const RULES = [
  [/\s*\([^()]*_[^()]*\)/g, ""],
  [/;? ?(null|absent) (means|is) false/gi, ""],
  [/; false unless said\.?/gi, "."],
  [/;? ?\bnull (clears|removes) it\.?/gi, "."],
  [/[;,] (changing it )?needs [a-z_]+(:[a-z_]+)+/g, ""],
  [/;? ?not for kind builtin\.?/gi, "."],
  [/; only with requires_approval/g, "; only where a person approves"],
  [/; absent: false/g, ""],
  [/\bif absent\b/g, "if left empty"],
  [/\b(null or absent|null|absent)\b/g, "empty"],
  [/\b(Null or absent|Null|Absent)\b/g, "Empty"],
  [/^True: (\w)/, (_, c) => c.toUpperCase()],
  [/^True (\w)/, (_, c) => c.toUpperCase()],
  [/^False: /, "When off, "],
  [/^False (\w+)/, "When off, it $1"],
  [/\bfalse\b/g, "off"],
  [/\btrue\b/g, "on"],
  [/\.\.+$/, "."],
  [/^\.$/, ""],
];

export function helpOf(form, field, said, words = []) {
  let help = OWN[`${form}.${field}`] ?? said;
  for (const [from, to] of RULES) help = help.replace(from, to);
  for (const w of words) if (w.includes("_")) help = help.replaceAll(w, w.replaceAll("_", " "));
  return help && help[0].toUpperCase() + help.slice(1);
}

/** What only programs see, in a help. */
export const foreign = (help) => (/\b(null|absent|true|false|builtin|JSON Schema)\b|[a-z]_[a-z]/i.exec(help) ?? /\b[a-z]+:[a-z]+\b/.exec(help))?.[0];
