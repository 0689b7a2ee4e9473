/* webhook.c - the services that send events, as data; see webhook.h.
 *
 * To add one: a row here, its sentences, and its name in the enum.  If it
 * signs in a way of its own, that way is a case in webhook_verify.c. */
#include "outside/webhook.h"

#include <stddef.h>

static const struct webhook_phrase github_phrases[] = {
	{ "push", NULL, "{sender} pushed {#commits} commits to {ref} of {place}", .each = "commits",
		.row = "- {id:7} {message:200} ({author.name:80})" },
	{ "pull_request", NULL,
		"{sender} {action} pull request #{number} \"{pull_request.title}\" in {place}",
		.lines = { "From {pull_request.head.label} into {pull_request.base.label}, merged: "
			   "{pull_request.merged}",
			"{pull_request.body:1000}" } },
	{ "pull_request_review", NULL,
		"{sender} {action} a review ({review.state}) of pull request "
		"#{pull_request.number} \"{pull_request.title}\" in {place}",
		.lines = { "{review.body:1000}" } },
	{ "pull_request_review_comment", NULL,
		"{sender} {action} a comment on {comment.path} of pull request "
		"#{pull_request.number} in {place}",
		.lines = { "{comment.body:1000}" } },
	{ "issues", NULL, "{sender} {action} issue #{issue.number} \"{issue.title}\" in {place}",
		.lines = { "{issue.body:1000}" } },
	{ "issue_comment", NULL,
		"{sender} {action} a comment on #{issue.number} \"{issue.title}\" in {place}",
		.lines = { "{comment.body:1000}" } },
	{ "release", NULL, "{sender} {action} release {release.tag_name} of {place}",
		.lines = { "{release.body:1000}" } },
	{ "create", NULL, "{sender} created {ref_type} {ref} in {place}" },
	{ "delete", NULL, "{sender} deleted {ref_type} {ref} in {place}" },
	{ "workflow_run", NULL,
		"Workflow \"{workflow_run.name}\" {action} ({workflow_run.conclusion|workflow_run.status}) "
		"on {workflow_run.head_branch} of {place}" },
	{ "check_run", NULL,
		"Check \"{check_run.name}\" {action} ({check_run.conclusion|check_run.status}) in {place}" },
	{ "ping", NULL, "GitHub tries the webhook of {place|organization.login|hook.type}: {zen}" },
	{ .sentence = "" },
};

static const struct webhook_phrase gitlab_phrases[] = {
	{ "push", NULL, "{sender} pushed {total_commits_count} commits to {ref} of {place}",
		.each = "commits", .row = "- {id:7} {title|message:200} ({author.name:80})" },
	{ "tag_push", NULL, "{sender} pushed {ref} to {place}" },
	{ "merge_request", NULL,
		"{sender} {action} merge request !{object_attributes.iid} "
		"\"{object_attributes.title}\" in {place}",
		.lines = { "From {object_attributes.source_branch} into {object_attributes.target_branch}",
			"{object_attributes.description:1000}" } },
	{ "issue", NULL,
		"{sender} {action} issue #{object_attributes.iid} \"{object_attributes.title}\" in {place}",
		.lines = { "{object_attributes.description:1000}" } },
	{ "note", NULL,
		"{sender} commented on {object_attributes.noteable_type} "
		"\"{merge_request.title|issue.title|commit.title|snippet.title}\" in {place}",
		.lines = { "{object_attributes.note:1000}" } },
	{ "pipeline", NULL,
		"Pipeline #{object_attributes.id} of {object_attributes.ref}: "
		"{object_attributes.status} in {place}" },
	{ .sentence = "" },
};

static const struct webhook_phrase slack_phrases[] = {
	{ "message", NULL, "{sender} wrote in {place}", .lines = { "{event.text:2000}" } },
	{ "app_mention", NULL, "{sender} mentioned the app in {place}",
		.lines = { "{event.text:2000}" } },
	{ "reaction_added", NULL, "{sender} reacted with :{event.reaction}: in {place}" },
	{ .sentence = "", .lines = { "{text|message.text:2000}" } },
};

static const struct webhook_phrase stripe_phrases[] = {
	{ .sentence = "",
		.lines = { "Object: {data.object.object} {data.object.id}",
			"Amount: {data.object.amount|data.object.amount_paid|data.object.amount_due} "
			"{data.object.currency} (in the smallest unit)",
			"Customer: {data.object.customer}", "Status: {data.object.status}" } },
};

static const struct webhook_phrase linear_phrases[] = {
	{ "Issue", NULL, "{sender} {action}d issue {data.identifier} \"{data.title}\"",
		.lines = { "State: {data.state.name}", "Assignee: {data.assignee.name}",
			"{data.description:1000}" } },
	{ "Comment", NULL, "{sender} {action}d a comment on \"{data.issue.title}\"",
		.lines = { "{data.body:1000}" } },
	{ .sentence = "", .lines = { "{data.name|data.title}" } },
};

static const struct webhook_phrase sentry_phrases[] = {
	{ "issue", NULL, "Sentry: issue {data.issue.shortId} {action}: {data.issue.title}",
		.lines = { "In: {data.issue.culprit}",
			"Level {data.issue.level}, seen {data.issue.count} times" } },
	{ "error", NULL, "Sentry: an error was {action}: {data.error.title}",
		.lines = { "In: {data.error.culprit}" } },
	{ "event_alert", NULL, "Sentry: alert \"{data.triggered_rule}\": {data.event.title}",
		.lines = { "In: {data.event.culprit}" } },
	{ "metric_alert", NULL, "Sentry: {data.description_title}",
		.lines = { "{data.description_text:1000}" } },
	{ .sentence = "" },
};

static const struct webhook_phrase other_phrases[] = {
	{ .sentence = "",
		.lines = { "{title|subject|name|data.title|data.subject|data.name:300}",
			"{message|text|description|data.message|data.text:1000}" } },
};

#define OTHER_FACTS                                                                           \
	.facts = { .event = { "event", "type", "event_type" },                                \
		.action = { "action" },                                                       \
		.sender = { "sender.login", "sender", "user.name", "user", "actor" },         \
		.place = { "repository.full_name", "repository", "project.name", "project" }, \
		.link = { "url", "link", "data.url", "html_url" } },                          \
	.phrases = other_phrases

const struct webhook_provider webhook_providers[WEBHOOK_SERVICES] = {
	[WEBHOOK_GITHUB] = { "github", "GitHub", SIGNS_BODY, "x-hub-signature-256",
		"sha256=", .id_headers = { "x-github-delivery" }, .event_header = "x-github-event",
		.ping = "ping",
		.facts = { .action = { "action" },
			.sender = { "sender.login", "pusher.name" },
			.place = { "repository.full_name", "organization.login" },
			.link = { "comment.html_url", "review.html_url", "pull_request.html_url",
				"issue.html_url", "compare", "repository.html_url" } },
		.phrases = github_phrases },
	[WEBHOOK_GITLAB] = { "gitlab", "GitLab", SIGNS_GITLAB, "webhook-signature", "v1,",
		.time_header = "webhook-timestamp", .tolerance_s = 300,
		.id_headers = { "webhook-id", "idempotency-key", "x-gitlab-event-uuid" },
		.facts = { .event = { "object_kind", "event_name" },
			.action = { "object_attributes.action", "action" },
			.sender = { "user.username", "user_username", "user_name", "user.name" },
			.place = { "project.path_with_namespace", "group.full_path",
				"project.name" },
			.link = { "object_attributes.url", "commits.0.url", "project.web_url" } },
		.phrases = gitlab_phrases },
	[WEBHOOK_SLACK] = { "slack", "Slack", SIGNS_SLACK, "x-slack-signature",
		"v0=", .time_header = "x-slack-request-timestamp", .tolerance_s = 300,
		.id_paths = { "event_id", "trigger_id" },
		.facts = { .event = { "event.type", "type", "command" },
			.action = { "event.subtype", "actions.0.action_id" },
			.sender = { "event.user", "user_id", "user.id", "event.bot_id" },
			.place = { "event.channel", "channel_id", "channel.id",
				"event.item.channel", "event.channel.id" },
			.link = { "response_url" } },
		.phrases = slack_phrases },
	[WEBHOOK_STRIPE] = { "stripe", "Stripe", SIGNS_STRIPE, "stripe-signature",
		"v1=", .tolerance_s = 300, .id_paths = { "id" },
		.facts = { .event = { "type" },
			.sender = { "account" },
			.place = { "account" },
			.link = { "data.object.hosted_invoice_url", "data.object.receipt_url" } },
		.phrases = stripe_phrases },
	[WEBHOOK_LINEAR] = { "linear", "Linear", SIGNS_BODY, "linear-signature", "",
		.tolerance_s = 60, .time_in_ms = "webhookTimestamp",
		.id_headers = { "linear-delivery" },
		.facts = { .event = { "type" },
			.action = { "action" },
			.sender = { "actor.name", "actor.email", "actor.id" },
			.place = { "data.team.key", "data.team.name", "data.teamId",
				"organizationId" },
			.link = { "url", "data.url" } },
		.phrases = linear_phrases },
	[WEBHOOK_SENTRY] = { "sentry", "Sentry", SIGNS_BODY, "sentry-hook-signature", "",
		.id_headers = { "request-id" }, .event_header = "sentry-hook-resource",
		.facts = { .action = { "action" },
			.sender = { "actor.name" },
			.place = { "data.issue.project.slug", "data.event.project",
				"data.error.project", "data.project_slug" },
			.link = { "data.issue.web_url", "data.event.web_url", "data.error.web_url",
				"data.web_url", "data.issue.permalink" } },
		.phrases = sentry_phrases },
	[WEBHOOK_STANDARD] = { "standard", "Standard Webhooks", SIGNS_STANDARD, "webhook-signature",
		"v1,", .time_header = "webhook-timestamp", .tolerance_s = 300,
		.id_headers = { "webhook-id", "svix-id" }, OTHER_FACTS },
	[WEBHOOK_GENERIC] = { "generic", "Webhook", SIGNS_BODY, "x-hub-signature-256",
		"sha256=", .id_by_body = true, OTHER_FACTS },
};
