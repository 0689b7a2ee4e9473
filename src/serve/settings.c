/* settings.c - the table of settings, and what can be said of a setting without reading any.
 *
 * See settings.h.  A new setting is a member of struct settings and a row
 * here; its flag, variable, key, help, manual and tests follow.  What the
 * service does with a value is decided elsewhere. */
#include "serve/settings.h"

#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "bucket/bucket.h"
#include "mailboxes/mailbox.h"
#include "outside/address.h"
#include "outside/oidc.h"
#include "repos/image_files.h"
#include "serve/setting_value.h"

enum {
	KIB = 1024,
	MIB = 1024 * KIB,
	GIB = 1024 * MIB,
	SECOND = 1000,
	MINUTE = 60 * SECOND,
	HOUR = 60 * MINUTE,
	DAY = 24 * HOUR,
};

enum { TEXT_MAX = 4000, NETWORKS_MAX = 64 };

static const char *const repo_hosts[] = { "embedded", "gitlab", "gitea", NULL };
static const char *const levels[] = {
	[LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug", NULL
};
static const char *const formats[] = { [LOG_TEXT] = "text", [LOG_JSON] = "json", NULL };

/* clang-format off */
#define SETTING_KIND(x) \
	_Generic((x), \
		bool: SETTING_FLAG, \
		int64_t: SETTING_NUMBER, \
		int: SETTING_WORD, \
		const char *: SETTING_TEXT, \
		struct settings_size: SETTING_SIZE, \
		struct settings_span: SETTING_SPAN, \
		struct settings_networks: SETTING_NETWORKS)
/* clang-format on */

#define SETTING(member, ...)                                                      \
	{                                                                         \
		.name = #member, .at = offsetof(struct settings, member),         \
		.kind = SETTING_KIND(((struct settings *)0)->member), __VA_ARGS__ \
	}
#define BETWEEN(lo, hi) .min = (lo), .max = (hi)
#define PATH .shows = "PATH", .max = TEXT_MAX

static bool check_image(const char *text)
{
	return !*text || image_base_is_pinned(text);
}

const struct setting settings_table[] = {
	SETTING(config, .group = "The file of settings", .preset = "", PATH, .no_key = true,
		.derived = "lodge.conf here, else /etc/lodge/lodge.conf, if there is one",
		.doc = "Read settings from this file: lines of key = value, # begins a comment."),

	SETTING(listen, .group = "Listening", .preset = "127.0.0.1:8080", BETWEEN(1, 1000),
		.shows = "HOST:PORT", .check = setting_check_listen,
		.what = "an address to listen on",
		.wanted = "HOST:PORT or [IPV6]:PORT, several with commas",
		.doc = "Where to listen; several with commas. Port 0 takes any free port."),
	SETTING(public_url, .group = "Listening", .preset = "", BETWEEN(0, 1000), .shows = "URL",
		.derived = "http(s):// and the first address listened on",
		.check = setting_check_url, .what = "the address of a site",
		.wanted =
			"one like https://lodge.example.com, without a question mark or a password",
		.doc = "The address by which people and other services reach this one."),
	SETTING(tls_cert, .group = "Listening", .preset = "", PATH, .derived = "plain HTTP",
		.file = FILE_CERTIFICATE, .reloads = true,
		.doc = "The certificate chain (PEM) to serve HTTPS with; needs tls_key."),
	SETTING(tls_key, .group = "Listening", .preset = "", PATH, .derived = "plain HTTP",
		.file = FILE_TLS_KEY, .reloads = true,
		.doc = "The private key (PEM) of the certificate; needs tls_cert."),
	SETTING(console, .group = "Listening", .preset = "true",
		.doc = "Serve the console, which people use in a browser, at /console/."),
	SETTING(trusted_proxies, .group = "Listening", .preset = "", BETWEEN(0, NETWORKS_MAX),
		.shows = "LIST", .derived = "none", .what = "a list of addresses",
		.wanted = "addresses or networks like 10.0.0.0/8 or ::1, with commas between",
		.reloads = true,
		.doc = "Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed: addresses or "
		       "networks, with commas between."),

	SETTING(data, .group = "Data", .preset = "./data", .min = 1, PATH, .file = FILE_FOLDER,
		.doc = "The folder in which the service keeps its files; made if it is not there."),
	SETTING(store, .group = "Data", .preset = "", BETWEEN(0, TEXT_MAX), .shows = "STORE",
		.derived = "sqlite:<data>/lodge.db", .check = setting_check_store, .secret = true,
		.what = "a store", .wanted = "sqlite:PATH or postgres://USER@HOST/DATABASE",
		.doc = "The database: sqlite:PATH, postgres://... or postgresql://... A password in it "
		       "belongs in the file or the variable, where other users cannot see it."),
	SETTING(store_direct, .group = "Data", .preset = "", BETWEEN(0, TEXT_MAX), .shows = "STORE",
		.derived = "none: store is direct", .check = setting_check_postgres, .secret = true,
		.what = "a PostgreSQL database", .wanted = "postgres://USER@HOST/DATABASE",
		.doc = "The same database by a way around a pooler. It says that store leads through one "
		       "in transaction mode, such as PgBouncer, where nothing may stay on a session; "
		       "what needs one, such as hearing of changes and lodge migrate, goes this way."),
	SETTING(store_replica, .group = "Data", .preset = "", BETWEEN(0, TEXT_MAX),
		.shows = "STORE", .derived = "none", .check = setting_check_postgres,
		.secret = true, .what = "a PostgreSQL database",
		.wanted = "postgres://USER@HOST/DATABASE",
		.doc = "A standby of the database, for reports: what may be up to 10 seconds old is read "
		       "there while it is reachable and no older. Who may read it is decided by the "
		       "database itself."),
	SETTING(master_key_file, .group = "Data", .preset = "", PATH,
		.derived = "<data>/master.key", .file = FILE_MASTER_KEY,
		.doc = "The key that seals stored secrets. Back it up apart from the store: without "
		       "it they cannot be read."),
	SETTING(bucket, .group = "Data", .preset = "", BETWEEN(0, TEXT_MAX), .shows = "BUCKET",
		.derived = "dir:<data>/bucket", .check = bucket_where_valid, .what = "a bucket",
		.wanted = "dir:PATH or s3://BUCKET/PREFIX",
		.doc = "Where the bytes of tenants' buckets lie: dir:PATH, a folder that the service makes and "
		       "marks as its own, or s3://BUCKET or s3://BUCKET/PREFIX, with the settings that "
		       "follow. Processes that share a PostgreSQL share the bucket too."),
	SETTING(bucket_also, .group = "Data", .preset = "", BETWEEN(0, TEXT_MAX), .shows = "BUCKET",
		.derived = "none", .check = bucket_where_valid, .what = "a bucket",
		.wanted = "dir:PATH or s3://BUCKET/PREFIX",
		.doc = "While the bucket moves: a second place, in which bytes are looked for that are not in the first. "
		       "One of the two may be in S3."),
	SETTING(bucket_endpoint, .group = "Data", .preset = "", BETWEEN(0, TEXT_MAX),
		.shows = "URL", .derived = "Amazon's, of the region", .check = setting_check_url,
		.what = "the address of a site", .wanted = "one like https://s3.example.com",
		.doc = "The address of the S3 that the setting bucket or bucket_also names, without the bucket."),
	SETTING(bucket_region, .group = "Data", .preset = "us-east-1", BETWEEN(1, 64),
		.doc = "The region that requests to S3 are signed for."),
	SETTING(bucket_key_id, .group = "Data", .preset = "", BETWEEN(0, 128), .shows = "ID",
		.derived = "none", .doc = "The id of the key for S3."),
	SETTING(bucket_secret_file, .group = "Data", .preset = "", PATH, .derived = "none",
		.file = FILE_SECRET,
		.doc = "A file with the secret of the key for S3, in one line."),
	SETTING(bucket_path_style, .group = "Data", .preset = "false",
		.doc = "Name the bucket of S3 in the path instead of the host, as many who are not Amazon want it."),
	SETTING(bucket_bytes_max, .group = "Data", .preset = "10g",
		BETWEEN(1 * MIB, INT64_C(1048576) * GIB),
		.doc = "The most bytes that the objects of one tenant's bucket have together; beyond it 507."),
	SETTING(repo_folder, .group = "Data", .preset = "", PATH, .derived = "<data>/repositories",
		.file = FILE_FOLDER,
		.doc = "The folder in which the git repositories of agents lie. Processes that share a PostgreSQL "
		       "share it too."),
	SETTING(repo_max_bytes, .group = "Data", .preset = "512m",
		BETWEEN(1 * MIB, INT64_C(1024) * GIB),
		.doc = "The most bytes that one repository has on the disk; what would bring it beyond is refused."),
	SETTING(repo_keep_hour, .group = "Data", .preset = "3", BETWEEN(0, 24),
		.doc = "The hour of the day, in UTC, at which the files of repositories that changed are put in order (git gc); 24: only "
		       "by lodge repos keep."),
	SETTING(image_base, .group = "Data", .preset = "", BETWEEN(0, IMAGE_BASE_MAX),
		.shows = "IMAGE", .derived = "a Python on Debian", .check = check_image,
		.what = "an image that is pinned",
		.wanted = "a registry, a name, a tag and a digest, like "
			  "registry.example.org/base:1@sha256:...",
		.doc = "The base image that the image repositories of agents begin with."),
	SETTING(image_pipeline, .group = "Data", .preset = "gitlab", .words = image_pipelines,
		.doc = "Whose pipelines are to build the images of agents: which pipeline file image repositories "
		       "begin with. Those on another host (repo_host) begin with its own kind."),
	SETTING(repo_host, .group = "Data", .preset = "embedded", .words = repo_hosts,
		.doc = "Who keeps the git repositories that are made for agents: this service, a GitLab, or a Gitea (or "
		       "Forgejo)."),
	SETTING(repo_host_url, .group = "Data", .preset = "", BETWEEN(0, TEXT_MAX), .shows = "URL",
		.derived = "none", .check = setting_check_url, .what = "the address of a site",
		.wanted = "one like https://git.example.com",
		.doc = "The address of the front page of the host that repo_host names."),
	SETTING(repo_host_token_file, .group = "Data", .preset = "", PATH, .derived = "none",
		.file = FILE_SECRET,
		.doc = "A file with the token for that host, in one line: it makes projects, and as an administrator's "
		       "the users of agents."),
	SETTING(repo_host_namespace, .group = "Data", .preset = "", BETWEEN(0, 255),
		.shows = "GROUP", .derived = "the user of the token", .check = setting_check_space,
		.what = "a group or an organisation", .wanted = "one like agents or company/agents",
		.doc = "The group or organisation of that host in which projects are made."),

	SETTING(loops, .group = "Threads", .preset = "0", BETWEEN(0, 256),
		.doc = "Threads that serve connections; 0 is one a core."),
	SETTING(store_workers, .group = "Threads", .preset = "4", BETWEEN(1, 256),
		.doc = "Connections to PostgreSQL for reads that take longer, each with its thread; one more writes, "
		       "and each loop has one of its own."),
	SETTING(slow_workers, .group = "Threads", .preset = "3", BETWEEN(1, 64),
		.doc = "Threads for work that takes its time, such as hashing passwords; one tenant, "
		       "and those who sign in, have all but one at most."),
	SETTING(tool_threads, .group = "Threads", .preset = "128", BETWEEN(4, 4096),
		.doc = "Threads for calls and tries of tools over the network, at most; a tenant has a "
		       "quarter."),

	SETTING(jobs, .group = "Agents", .preset = "256", BETWEEN(1, 100000),
		.doc = "Jobs of the queue, such as agents at work, that this process runs at a time."),
	SETTING(agent_jobs, .group = "Agents", .preset = "8", BETWEEN(1, 10000),
		.doc = "Sessions in which one agent works at a time, over all processes."),
	SETTING(job_lease, .group = "Agents", .preset = "30s", BETWEEN(1 * SECOND, 10 * MINUTE),
		.doc = "A job whose process gives no sign of life for so long goes to another."),

	SETTING(hold_max, .group = "Agents", .preset = "7d",
		BETWEEN(1 * MINUTE, (int64_t)365 * DAY), .reloads = true,
		.doc = "How long queued work waits for its agent's working hours, rate or budget before "
		       "it fails."),

	SETTING(max_body, .group = "Limits", .preset = "8m", BETWEEN(1 * KIB, 1 * GIB),
		.doc = "The largest body of a request, where its path names no limit of its own."),
	SETTING(max_head, .group = "Limits", .preset = "32k", BETWEEN(1 * KIB, 1 * MIB),
		.doc = "The largest head of a request: its first line and its headers together."),
	SETTING(max_headers, .group = "Limits", .preset = "100", BETWEEN(8, 1000),
		.doc = "The most headers of a request."),
	SETTING(request_memory, .group = "Limits", .preset = "128m", BETWEEN(1 * MIB, 1 * GIB),
		.doc = "What one request may make in memory beside its body; beyond it 503."),
	SETTING(tenant_memory, .group = "Limits", .preset = "256m",
		BETWEEN(1 * MIB, INT64_C(1024) * GIB),
		.doc = "What the requests of one tenant may hold at a time: bodies, what was made of "
		       "them, answers being sent; beyond it 503."),
	SETTING(address_memory, .group = "Limits", .preset = "16m",
		BETWEEN(1 * MIB, INT64_C(1024) * GIB),
		.doc = "The same for requests without a credential, for one address."),
	SETTING(house_memory, .group = "Limits", .preset = "1g",
		BETWEEN(16 * MIB, INT64_C(1024) * GIB),
		.doc = "The same for all requests together.  Where the machine or a limit on the "
		       "process gives it less than twice that, half of what it gives."),
	SETTING(max_connections, .group = "Limits", .preset = "20000", BETWEEN(1, 1000000),
		.doc = "The most open connections. For one more, one that has asked nothing yet or rests "
		       "between requests is closed; where there is none it is answered 503."),
	SETTING(address_connections, .group = "Limits", .preset = "0", BETWEEN(0, 1000000),
		.doc = "Of them, the share of one address: while there is no room, whoever has more "
		       "makes it. Trusted proxies have no share. 0 is a quarter of max_connections."),
	SETTING(person_streams, .group = "Limits", .preset = "100", BETWEEN(0, 1000000),
		.doc = "The most streams of events (/me/events, a session's events) that one person, with "
		       "all their logins and keys, keeps open at this process; beyond it 429. 0 is no "
		       "limit."),
	SETTING(tenant_streams, .group = "Limits", .preset = "2000", BETWEEN(0, 1000000),
		.doc = "The same for the sessions of one tenant, whoever follows them."),
	SETTING(header_timeout, .group = "Limits", .preset = "10s", BETWEEN(100, 10 * MINUTE),
		.doc = "From a request's first byte to the end of its head."),
	SETTING(body_timeout, .group = "Limits", .preset = "60s", BETWEEN(100, 1 * HOUR),
		.doc = "From there to the end of its body."),
	SETTING(idle_timeout, .group = "Limits", .preset = "75s", BETWEEN(100, 1 * HOUR),
		.doc = "How long a connection may rest between requests."),
	SETTING(reply_timeout, .group = "Limits", .preset = "30s", BETWEEN(100, 1 * HOUR),
		.doc = "How long a caller may take nothing of its reply."),
	SETTING(parked_timeout, .group = "Limits", .preset = "60s", BETWEEN(100, 1 * HOUR),
		.doc = "How long an operation may take before 504 is answered in its place."),
	SETTING(patient_timeout, .group = "Limits", .preset = "15m", BETWEEN(100, 24 * HOUR),
		.doc = "The same for an operation that waits for a model."),
	SETTING(stop_grace, .group = "Limits", .preset = "10s", BETWEEN(0, 10 * MINUTE),
		.reloads = true, .doc = "When stopping, how long to wait for requests under way."),

	SETTING(log_level, .group = "Logging", .preset = "info", .words = levels, .reloads = true,
		.doc = "The least weighty lines to log."),
	SETTING(log_format, .group = "Logging", .preset = "text", .words = formats, .reloads = true,
		.doc = "Log as plain lines or as JSON, on standard error."),
	SETTING(access_log, .group = "Logging", .preset = "true", .reloads = true,
		.doc = "Log every request."),

	SETTING(mail_domain, .group = "Mail", .preset = "", BETWEEN(0, MAILBOX_DOMAIN_MAX),
		.shows = "DOMAIN", .derived = "none: agents have no external mailboxes",
		.check = mailbox_domain_valid, .what = "a domain",
		.wanted = "one like mail.example.org, in small letters",
		.doc = "The domain under which agents have external mailboxes, AGENT@TENANT.DOMAIN, where "
		       "tenant and agent enable external mail."),
	SETTING(mail_from, .group = "Mail", .preset = "", BETWEEN(0, MAILBOX_ADDRESS_MAX),
		.shows = "ADDRESS",
		.derived = "lodge@ and mail_domain, if both that and smtp_relay are set",
		.check = setting_check_address, .what = "an address of mail",
		.wanted = "one like lodge@example.org",
		.doc = "The address from which the service itself writes to people: invitations, links to "
		       "confirm an address or to choose a new password, approvals that wait."),
	SETTING(lmtp_listen, .group = "Mail", .preset = "", BETWEEN(0, 200), .shows = "PLACE",
		.derived = "nowhere", .check = setting_check_lmtp,
		.what = "a place to take mail at", .file = FILE_SOCKET,
		.wanted =
			"unix:PATH of at most 107 bytes, or an address of this machine like 127.0.0.1:2424",
		.doc = "Where a mail server of this machine hands over mail by LMTP: unix:PATH or a "
		       "loopback address with a port."),
	SETTING(smtp_listen, .group = "Mail", .preset = "", BETWEEN(0, 1000), .shows = "HOST:PORT",
		.derived = "nowhere", .check = setting_check_listen,
		.what = "an address to listen on",
		.wanted = "HOST:PORT or [IPV6]:PORT, several with commas",
		.doc = "Where to take mail by SMTP, without a mail server in front: no TLS, no lists of "
		       "bad senders. For a network of one's own."),
	SETTING(smtp_relay, .group = "Mail", .preset = "", BETWEEN(0, 1000), .shows = "URL",
		.derived = "none: no mail goes to the outside", .check = setting_check_relay,
		.secret = true, .what = "the address of a relay",
		.wanted =
			"smtps://HOST:PORT, or smtp://HOST:PORT, which is used with STARTTLS unless it "
			"is this machine",
		.doc = "The mail server that takes what goes to the outside."),
	SETTING(smtp_relay_user, .group = "Mail", .preset = "", BETWEEN(0, 300), .shows = "NAME",
		.derived = "none: it asks for no password",
		.doc = "The name by which the relay knows this service; needs smtp_relay_password_file."),
	SETTING(smtp_relay_password_file, .group = "Mail", .preset = "", PATH, .derived = "none",
		.file = FILE_SECRET, .doc = "A file with the password for it."),
	SETTING(smtp_relay_ca, .group = "Mail", .preset = "", PATH,
		.derived = "those of the system", .file = FILE_AUTHORITIES,
		.doc = "A file with certificates (PEM) that may vouch for the relay."),
	SETTING(mail_authserv_id, .group = "Mail", .preset = "", BETWEEN(0, 253), .shows = "NAME",
		.derived = "none: nobody's verdict is believed", .check = setting_check_authserv,
		.what = "the name of a mail server",
		.wanted = "the one word that it writes first, like mx.example.org",
		.doc = "The name under which the mail server in front writes Authentication-Results. The "
		       "topmost header of that name is believed in whatever comes by LMTP, so set it "
		       "only where that server removes those that come in."),
	SETTING(mail_resolver, .group = "Mail", .preset = "", BETWEEN(0, 60), .shows = "ADDRESS",
		.derived = "the system's", .check = setting_check_resolver,
		.what = "a server of names",
		.wanted = "an address like 192.0.2.53 or 192.0.2.53:5353",
		.doc = "The DNS server that is asked for the keys and policies of senders."),
	SETTING(mail_max_bytes, .group = "Mail", .preset = "25m", BETWEEN(64 * KIB, 100 * MIB),
		.doc = "The largest message that is taken from outside."),
	SETTING(mail_new_recipients_per_day, .group = "Mail", .preset = "200", BETWEEN(0, 1000000),
		.doc = "How many addresses a mailbox may write to in a day that it never wrote to before, "
		       "after its first week; what goes beyond is held until a person sends it."),
	SETTING(mail_provisioning, .group = "Mail", .preset = "true",
		.doc = "Make mailboxes: for new agents, and for all that lack one when a super "
		       "administrator asks for it."),

	SETTING(open_tenants, .group = "Policy", .preset = "false", .reloads = true,
		.doc = "Let any signed-in user found a tenant, not only administrators."),
	SETTING(allow_private_addresses, .group = "Policy", .preset = "false", BETWEEN(1, TEXT_MAX),
		.shows = "LIST", .or_flag = true, .check = setting_check_private,
		.what = "a list of places",
		.wanted =
			"false, true, or addresses, networks and HOST:PORT with commas between, like "
			"127.0.0.1:11434, 10.0.0.0/8, ollama:11434",
		.doc = "Private and loopback places that models, tools and the like may call, by plain "
		       "HTTP too: addresses, networks, either with a port, and names with one, with "
		       "commas between. True opens all of them: any tenant could then reach what "
		       "this machine can reach."),
	SETTING(openai_key_file, .group = "Policy", .preset = "", PATH, .derived = "none",
		.file = FILE_SECRET, .reloads = true,
		.doc = "A file with the key for OpenAI's own address, for models that have none of their "
		       "own."),
	SETTING(anthropic_key_file, .group = "Policy", .preset = "", PATH, .derived = "none",
		.file = FILE_SECRET, .reloads = true,
		.doc = "The same for Anthropic's own address."),
	SETTING(accounting, .group = "Policy", .preset = "true",
		.doc = "Book every model call before it is made and enter it in the ledger. Off, nothing "
		       "is counted and no budget holds: for measuring only."),
	SETTING(oidc, .group = "Policy", .preset = "", BETWEEN(0, TEXT_MAX), .shows = "LIST",
		.derived = "none", .check = oidc_config_valid, .what = "a list of providers",
		.wanted = "NAME=ISSUER,CLIENT_ID,SECRET_FILE like "
			  "sso=https://sso.example.com,lodge,/etc/lodge/sso.secret, several with "
			  "blanks between, each with a name of its own in small letters",
		.file = FILE_PROVIDERS, .reloads = true,
		.doc = "OpenID providers at which people may sign in: NAME=ISSUER,CLIENT_ID,SECRET_FILE, "
		       "several with blanks between. The file holds the client's secret; the address to "
		       "register there is <public_url>/auth/oidc/NAME/callback."),
	SETTING(session_lifetime, .group = "Policy", .preset = "30d",
		BETWEEN(1 * MINUTE, (int64_t)3650 * DAY), .reloads = true,
		.doc = "When a sign-in ends at the latest."),
	SETTING(session_idle, .group = "Policy", .preset = "7d",
		BETWEEN(1 * MINUTE, (int64_t)3650 * DAY), .reloads = true,
		.doc = "When a sign-in ends that is not used; at most session_lifetime."),
	SETTING(webhook_log, .group = "Policy", .preset = "90d",
		BETWEEN((int64_t)7 * DAY, (int64_t)3650 * DAY), .reloads = true,
		.doc = "How long calls of webhooks stay in their log. That an event was taken is "
		       "remembered for ever."),
	SETTING(erase_delay, .group = "Policy", .preset = "30d", BETWEEN(0, (int64_t)3650 * DAY),
		.reloads = true,
		.doc = "How long a deleted tenant can be restored before its rows are erased; what is "
		       "deleted already keeps its time."),
};
const size_t settings_count = sizeof settings_table / sizeof *settings_table;

const char *const settings_other_variables[] = { "LODGE_ADMIN_EMAIL", "LODGE_ADMIN_PASSWORD",
#ifdef LODGE_FAULTS
	"LODGE_FAULT",
#endif
	NULL };

void setting_flag(const struct setting *row, char *out)
{
	snprintf(out, SETTING_NAME_MAX, "--%s", row->name);
	for (char *c = out; *c; c++)
		if (*c == '_')
			*c = '-';
}

void setting_variable(const struct setting *row, char *out)
{
	snprintf(out, SETTING_NAME_MAX, "LODGE_%s", row->name);
	for (char *c = out; *c; c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
}

/* Levenshtein's distance; anything longer than a name is far from all of them. */
static size_t name_distance(const char *from, const char *to)
{
	size_t row[SETTING_NAME_MAX], n = strlen(to);

	if (n >= SETTING_NAME_MAX || strlen(from) >= SETTING_NAME_MAX)
		return SETTING_NAME_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; from[i]; i++) {
		size_t corner = row[0];

		row[0] = i + 1;
		for (size_t j = 1; j <= n; j++) {
			size_t best = corner + (from[i] != to[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

void settings_guess(struct settings_guess *best, const char *typed, const char *name)
{
	size_t d = name_distance(typed, name);

	if (d < best->distance) {
		best->distance = d;
		snprintf(best->name, sizeof best->name, "%s", name);
	}
}

const struct setting *setting_named(const char *name)
{
	for (size_t i = 0; i < settings_count; i++)
		if (strcmp(settings_table[i].name, name) == 0)
			return &settings_table[i];
	return NULL;
}

const struct settings_origin *settings_origin(const struct settings *s, const char *name)
{
	return &s->origins[setting_named(name) - settings_table];
}

bool settings_given(const struct settings *s, const char *name)
{
	return setting_named(name) && settings_origin(s, name)->place != NOWHERE;
}

bool settings_differ(const struct setting *row, const struct settings *a, const struct settings *b)
{
	struct arena scratch = { 0 };
	bool differ = strcmp(setting_text(row, &scratch, a), setting_text(row, &scratch, b)) != 0;

	arena_free(&scratch);
	return differ;
}

void settings_open_places(const struct settings *s)
{
	bool flag;

	egress_allow(setting_is_flag(s->allow_private_addresses, &flag)
			     ? ""
			     : s->allow_private_addresses);
}

void settings_print(FILE *out, const struct settings *s)
{
	struct arena a = { 0 };

	for (size_t i = 0; i < settings_count; i++) {
		const struct setting *row = &settings_table[i];
		const char *value = setting_text(row, &a, s);

		if (row->secret && strchr(value, '@'))
			value = "(not shown)";
		if (row->no_key)
			fprintf(out, "# %s: %s\n", row->name, *value ? value : "none");
		else
			fprintf(out, "%s = \"%s\" # %s\n", row->name, value, s->origins[i].words);
	}
	arena_free(&a);
}
