/* registry.c - the lists of resources and statements; see registry.h.  Nothing else stands here. */
#include "serve/registry.h"

/* clang-format off */
/* Every resource, in the order in which the document shows them. */
#define RESOURCES(X) \
	X(tags) \
	X(system) \
	X(identity) \
	X(account) \
	X(registration) \
	X(invitations) \
	X(reset) \
	X(pages) \
	X(oidc) \
	X(tenants) \
	X(keys) \
	X(members) \
	X(groups) \
	X(allowed) \
	X(plans) \
	X(admin_tenants) \
	X(admin_users) \
	X(admin_accounts) \
	X(admin_queue) \
	X(mailboxes) \
	X(mail) \
	X(mail_write) \
	X(mail_threads) \
	X(mail_attachments) \
	X(mail_waiting) \
	X(mail_rules) \
	X(mail_hook) \
	X(admin_mail) \
	X(agents) \
	X(roles) \
	X(access) \
	X(models) \
	X(agent_models) \
	X(user_models) \
	X(sessions) \
	X(session_messages) \
	X(session_subtasks) \
	X(approvals) \
	X(session_files) \
	X(session_calls) \
	X(session_usage) \
	X(session_export) \
	X(memories) \
	X(session_audit) \
	X(session_events) \
	X(me_events) \
	X(audit) \
	X(costs) \
	X(cost_series) \
	X(agent_clone) \
	X(agent_export) \
	X(agent_import) \
	X(agent_settings) \
	X(agent_chat) \
	X(git_wire) \
	X(avatars) \
	X(repos) \
	X(image_repo) \
	X(repo_bind) \
	X(repo_hook) \
	X(repo_refs) \
	X(repo_files) \
	X(provenance) \
	X(proposals) \
	X(autocomplete) \
	X(bucket_objects) \
	X(bucket_folders) \
	X(bucket_signed) \
	X(skills) \
	X(skill_files) \
	X(agent_skills) \
	X(skill_versions) \
	X(tools) \
	X(tool_import) \
	X(tool_try) \
	X(agent_tools) \
	X(tool_bundles) \
	X(integrations) \
	X(deliveries) \
	X(skill_hooks) \
	X(hooks) \
	X(scanner) \
	X(provider_keys) \
	X(gateway) \
	X(gateway_models) \
	X(endpoints) \
	X(message_speech) \
	X(assistants) \
	X(threads) \
	X(thread_messages) \
	X(runs) \
	X(responses) \
	X(conversations) \
	X(mcp) \
	X(mcp_issuers) \
	X(messages) \
	X(anthropic_models)

/* Types that are published; their operations come with their rooms. */
#define TYPES(X) \
	X(benchmarks)

/* The sets of statements that no resource carries. */
#define STATEMENTS(X) \
	X(caller_sql) \
	X(caller_permit_sql) \
	X(caller_absent_sql) \
	X(audit_sql) \
	X(chain_sql) \
	X(chain_check_sql) \
	X(chain_break_sql) \
	X(sealed_sql) \
	X(holders_sql) \
	X(idempotency_sql) \
	X(maintenance_sql) \
	X(jobs_sql) \
	X(jobs_wait_sql) \
	X(queue_claim_sql) \
	X(queue_lease_sql) \
	X(queue_look_sql) \
	X(queue_admin_sql) \
	X(bootstrap_sql) \
	X(new_user_sql) \
	X(health_sql) \
	X(replica_sql) \
	X(version_sql) \
	X(machine_key_sql) \
	X(throttle_sql) \
	X(proof_sql) \
	X(account_admin_sql) \
	X(account_erase_sql) \
	X(oidc_people_sql) \
	X(doors_sql) \
	X(letter_fill_sql) \
	X(approval_letter_sql) \
	X(erase_sql) \
	X(gone_sql) \
	X(gone_agent_sql) \
	X(gone_heirs_sql) \
	X(sweep_sql) \
	X(model_sql) \
	X(model_edit_sql) \
	X(gate_sql) \
	X(session_row_sql) \
	X(hub_sql) \
	X(feed_sql) \
	X(feed_number_sql) \
	X(retention_sql) \
	X(forget_sql) \
	X(ledger_sql) \
	X(budget_sql) \
	X(budget_rate_sql) \
	X(agent_row_sql) \
	X(mailbox_sql) \
	X(mail_secret_sql) \
	X(mail_arrival_sql) \
	X(mail_intake_sql) \
	X(letters_sql) \
	X(mail_row_sql) \
	X(mail_object_sql) \
	X(mail_rule_sql) \
	X(mail_wake_sql) \
	X(mail_tool_sql) \
	X(mail_post_sql) \
	X(mail_send_sql) \
	X(mail_ramp_sql) \
	X(mail_dkim_sql) \
	X(mail_domains_sql) \
	X(mail_outgoing_sql) \
	X(mail_answer_sql) \
	X(agent_slug_sql) \
	X(agent_import_sql) \
	X(agent_export_sql) \
	X(chat_config_sql) \
	X(refold_sql) \
	X(search_sql) \
	X(search_words_sql) \
	X(skill_store_sql) \
	X(skillset_sql) \
	X(actor_sql) \
	X(session_wait_sql) \
	X(hook_sql) \
	X(hook_log_sql) \
	X(hook_deliver_sql) \
	X(agent_tools_sql) \
	X(builtin_session_sql) \
	X(builtin_memory_sql) \
	X(builtin_skill_sql) \
	X(ledger_check_sql) \
	X(cost_name_sql) \
	X(provider_key_sql) \
	X(run_view_sql) \
	X(response_sql) \
	X(response_agent_sql) \
	X(response_history_sql) \
	X(tx_sql) \
	X(tx_call_sql) \
	X(session_end_sql) \
	X(approval_sql) \
	X(session_sql) \
	X(session_branch_sql) \
	X(session_owner_sql)  \
	X(session_past_sql) \
	X(session_part_sql) \
	X(event_sql) \
	X(prompt_sql) \
	X(turn_sql) \
	X(session_file_row_sql) \
	X(session_file_move_sql) \
	X(turn_model_sql) \
	X(turn_answer_sql) \
	X(subtask_sql) \
	X(bucket_row_sql) \
	X(bucket_sweep_sql) \
	X(bucket_move_sql) \
	X(bucket_mark_sql) \
	X(bucket_check_sql) \
	X(repo_sql) \
	X(repo_url_sql) \
	X(repo_sweep_sql) \
	X(repo_moved_sql) \
	X(repo_mark_sql) \
	X(mirror_sql) \
	X(mirror_sweep_sql) \
	X(prompt_base_sql) \
	X(converge_sql) \
	X(proposal_sql) \
	X(repo_keep_sql) \
	X(repo_check_sql) \
	X(repo_ssh_sql) \
	X(host_sync_sql) \
	X(host_sweep_sql)

/* clang-format on */

#define X(name) extern const struct resource name##_resource;
RESOURCES(X)
#undef X

#define X(area)                                       \
	extern const struct to_come area##_to_come[]; \
	static const struct resource area##_types = { .name = #area, .to_come = area##_to_come };
TYPES(X)
#undef X

const struct resource *const api_resources[] = {
#define X(name) &name##_resource,
	RESOURCES(X)
#undef X
#define X(name) &name##_types,
		TYPES(X)
#undef X
};
const size_t api_resource_count = sizeof api_resources / sizeof *api_resources;

#define X(name) extern const struct statement_set name;
STATEMENTS(X)
#undef X

static const struct statement_set *const shared[] = {
#define X(name) &name,
	STATEMENTS(X)
#undef X
		NULL,
};

const struct statement_set *api_next_set(struct set_walk *w)
{
	for (;;) {
		const struct statement_set *const *sets =
			w->room == 0 ? shared : api_resources[w->room - 1]->statements;

		if (sets && sets[w->at])
			return sets[w->at++];
		if (w->room == api_resource_count)
			return NULL;
		w->room++;
		w->at = 0;
	}
}
